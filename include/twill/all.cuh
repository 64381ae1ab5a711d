#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Everything for hosts and CUDA, for files that nvcc compiles.

#include <twill/all.hpp>
#include <twill/cuda.cuh>
#include <twill/data/gpu/staging.hpp>
#include <twill/fft/cuda/lines.cuh>
#include <twill/fft/gpu/lines_plan.hpp>
#include <twill/fft/gpu/move_lines.hpp>
#include <twill/fft/gpu/transform_lines.hpp>
#include <twill/linalg/cuda/matrices.cuh>
#include <twill/linalg/gpu/decompose.hpp>
#include <twill/linalg/gpu/eigenpairs.hpp>
#include <twill/linalg/gpu/exponential.hpp>
#include <twill/linalg/gpu/matrices.hpp>
#include <twill/linalg/gpu/move_matrices.hpp>
#include <twill/profile/cuda/show_utilization.cuh>
#include <twill/profile/cuda/utilization.hpp>
#include <twill/sparse/cuda/products.cuh>
#include <twill/sparse/gpu/computed_structure.hpp>
#include <twill/sparse/gpu/library_products.hpp>
