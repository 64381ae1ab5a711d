#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All that twill asks of cuDNN, in raw pointers and descriptors. Needs cuDNN 9.8 (TWILL_WITH_CUDNN). Not in the umbrella.

#include <twill/device/cuda/cudnn_attention.cuh>
#include <twill/device/cuda/cudnn_convolution.cuh>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>
