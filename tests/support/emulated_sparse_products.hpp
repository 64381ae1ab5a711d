#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A library of products with sparse matrices for emulated GPUs, as cuSPARSE is for CUDA: it computes as the host does when the
// stream gets there, after spoiling the working memory that it asked for, and adds to what a sampled product's result holds.

#include <tests/support/emulated_device.hpp>

#include <twill/device/cuda/sparse_product.hpp>
#include <twill/sparse/gpu/computed_structure.hpp>
#include <twill/sparse/gpu/library_products.hpp>
#include <twill/sparse/products.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace emulation {

struct SparseWork {
  nvidia::SparseProduct product{};
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
};

struct SparseKernel {
  static constexpr int most_threads = 32;

  template <class Block> void operator()(const Block&, const SparseWork& work) const {
    std::memset(work.workspace, 0xff, work.workspace_bytes);
    work.product.dtype == DType::float64 ? compute<double>(work.product) : compute<float>(work.product);
  }

private:
  template <class T> static void compute(const nvidia::SparseProduct& p) {
    const sparse::Structure a{.rows = p.rows,
                              .columns = p.columns,
                              .entries = p.entries,
                              .row_offsets = p.row_offsets,
                              .column_indices = p.column_indices};
    const auto* const values = static_cast<const T*>(p.values);
    const auto* const x = static_cast<const T*>(p.x);
    auto* const result = static_cast<T*>(p.result);
    if (p.kind == nvidia::SparseKind::plain) return sparse::multiply(Team::serial(), a, values, x, p.width, result);
    if (p.kind == nvidia::SparseKind::transposed)
      return sparse::multiply_transposed(Team::serial(), a, values, x, p.width, result);
    std::vector<T> sums(static_cast<std::size_t>(p.entries));
    sparse::multiply_sampled(Team::serial(), a, x, static_cast<const T*>(p.y), p.width, sums.data());
    for (std::int64_t entry = 0; entry < p.entries; ++entry)
      result[entry] = sums[static_cast<std::size_t>(entry)] + 0 * result[entry];
  }
};

struct EmulatedSparseProduct {
  static constexpr std::size_t bytes = 1000;

  EmulatedSparseProduct(const gpu::Queue<EmulatedRuntime>& queue, const nvidia::SparseProduct& described)
      : queue_{&queue}, described_{described} {
    const auto is_aligned = [](const void* array) { return reinterpret_cast<std::uintptr_t>(array) % 16 == 0; };
    const void* const values = described.kind == nvidia::SparseKind::sampled ? described.result : described.values;
    if (!is_aligned(described.row_offsets) || !is_aligned(described.column_indices) || !is_aligned(values))
      throw std::logic_error("the emulated library takes aligned arrays");
  }
  [[nodiscard]] std::size_t workspace_bytes() const { return bytes; }
  void run(void* workspace) const {
    enqueue(*queue_, SparseKernel{}, {1, 1, 0}, SparseWork{described_, workspace, bytes});
  }

private:
  const gpu::Queue<EmulatedRuntime>* queue_;
  nvidia::SparseProduct described_;
};

struct SparseLibrary {
  static constexpr std::string_view name = "the emulated library of sparse products";
  using Product = EmulatedSparseProduct;
};

}}} // namespace twill::v0::emulation

namespace twill { inline namespace v0 { namespace sparse {

template <> struct ProductLibrary<EmulatedRuntime> {
  using type = emulation::SparseLibrary;
  using Device = Emulated;
};
template <> inline constexpr bool has_products<twill::gpu::Queue<EmulatedRuntime>> = true;

}}} // namespace twill::v0::sparse
