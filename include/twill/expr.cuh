#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors and expressions for hosts and CUDA, without models, for files that nvcc compiles.

#include <twill/device/cuda/cublas.cuh>
#include <twill/device/cuda/cuda.cuh>
#include <twill/device/cuda/gemm.hpp>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/memory.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/device/gpu/scope.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/cuda/product.cuh>
#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/axes.hpp>
#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/columns.hpp>
#include <twill/kernel/gpu/columns_plan.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/lines.hpp>
#include <twill/kernel/gpu/order_key.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/gpu/plan.hpp>
#include <twill/kernel/gpu/product_gemm.hpp>
#include <twill/kernel/gpu/radix.hpp>
#include <twill/kernel/gpu/scan.hpp>
#include <twill/kernel/gpu/select.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/kernel/gpu/tile.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
