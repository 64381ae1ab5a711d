#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products with sparse matrices on CUDA devices, by cuSPARSE where it is installed (TWILL_WITH_CUSPARSE): a program
// includes this file, and the functions of sparse/ take matrices and tensors of such devices, those of models run on
// them. Read next: sparse/gpu/library_products.hpp, device/cuda/cusparse.cuh.

#include <twill/core/config.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/kernel/cuda/block.cuh>
#include <twill/sparse/gpu/computed_structure.hpp>
#include <twill/sparse/gpu/library_products.hpp>
#include <twill/sparse/products.hpp>

#if defined(TWILL_WITH_CUSPARSE)
#include <twill/device/cuda/cusparse.cuh>
#endif

#include <string_view>

#if defined(TWILL_WITH_CUSPARSE)

namespace twill { inline namespace v0 { namespace sparse {

/// cuSPARSE, in the form that `run_product` expects.
struct Cusparse {
  static constexpr std::string_view name = "cuSPARSE";
  using Product = nvidia::CusparseProduct;
};

template <> struct ProductLibrary<CudaRuntime> {
  using type = Cusparse;
  using Device = Cuda;
};
template <> inline constexpr bool has_products<twill::gpu::Queue<CudaRuntime>> = true;

}}} // namespace twill::v0::sparse

#endif
