#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Everything for hosts and CUDA, for files that nvcc compiles.

#include <twill/compile/gpu/numbers_block.hpp>
#include <twill/compile/gpu/step_graphs.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/lines.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/twill.hpp>
