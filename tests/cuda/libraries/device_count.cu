// SPDX-License-Identifier: Apache-2.0
#include <twill/device/cuda/cuda.cuh>

int tested_device_count() { return twill::Cuda::count(); }
