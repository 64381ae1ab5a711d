#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// cuDNN operations of twill, in raw pointers and descriptors. Needs cuDNN 9.8 (TWILL_WITH_CUDNN). Not in the umbrella.

#include <twill/device/cuda/cudnn_attention.cuh>
#include <twill/device/cuda/cudnn_convolution.cuh>
#include <twill/device/cuda/cudnn_graph.cuh>
#include <twill/device/cuda/cudnn_plan.cuh>
