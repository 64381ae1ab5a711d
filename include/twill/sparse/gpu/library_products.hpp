#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products with CSR matrices on a GPU by a vendor's library, as overloads of those of sparse/products.hpp for a queue.
// Arrays that are not aligned as the library wants them are copied, working memory comes from the pool, and products
// of nothing are zeros. The library is named by a specialisation of `ProductLibrary`, so all but its calls is tested
// without CUDA. Read next: sparse/gpu/computed_structure.hpp, sparse/cuda/products.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/device/cuda/sparse_product.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/device/gpu/queue.hpp>
#include <twill/device/gpu/runtime.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/sparse/products.hpp>
#include <twill/sparse/structure.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace sparse {

/// A library of products: its name, and a product on a queue with `workspace_bytes()` and `run(workspace)`.
template <class L, class Queue>
concept LibraryOfProducts = requires(const typename L::Product& product, void* memory) {
  {std::string_view{L::name}};
  requires std::constructible_from<typename L::Product, const Queue&, const nvidia::SparseProduct&>;
  { product.workspace_bytes() } -> std::convertible_to<std::size_t>;
  product.run(memory);
};

/// The library of the GPUs of a driver, which the header of their kind specialises: `using type = ...`, and `Device`.
template <twill::gpu::Runtime R> struct ProductLibrary;

}}} // namespace twill::v0::sparse

namespace twill { inline namespace v0 { namespace sparse { namespace detail {

inline constexpr std::size_t library_alignment = 16; ///< bytes, of the arrays of a sparse matrix

/// Bytes of an array that has to be copied, in whole units of alignment; 0 where it is aligned.
[[nodiscard]] inline std::size_t bytes_to_align(const void* data, std::int64_t elements, std::size_t element_bytes) {
  if (reinterpret_cast<std::uintptr_t>(data) % library_alignment == 0) return 0;
  const std::size_t bytes = static_cast<std::size_t>(elements) * element_bytes;
  return (bytes + library_alignment - 1) / library_alignment * library_alignment;
}

/// Memory of the pool with aligned copies of some arrays, which it replaces.
template <class D> class AlignedCopies {
public:
  AlignedCopies(const D& device, const twill::gpu::Queue<typename D::Runtime>& queue, nvidia::SparseProduct& p) {
    const std::size_t number_bytes = size_of(p.dtype);
    const std::size_t bytes = bytes_to_align(p.row_offsets, p.rows + 1, sizeof(std::int64_t)) +
                              bytes_to_align(p.column_indices, p.entries, sizeof(std::int64_t)) +
                              bytes_to_align(p.values, p.entries, number_bytes) +
                              bytes_to_align(p.x, p.x_rows() * p.width, number_bytes) +
                              bytes_to_align(p.y, p.columns * p.width, number_bytes);
    if (bytes == 0) return;
    memory_ = memory::Buffer<D>(device, bytes);
    next_ = static_cast<std::byte*>(memory_.data());
    p.row_offsets = static_cast<const std::int64_t*>(aligned(queue, p.row_offsets, p.rows + 1, sizeof(std::int64_t)));
    p.column_indices =
        static_cast<const std::int64_t*>(aligned(queue, p.column_indices, p.entries, sizeof(std::int64_t)));
    p.values = aligned(queue, p.values, p.entries, number_bytes);
    p.x = aligned(queue, p.x, p.x_rows() * p.width, number_bytes);
    p.y = aligned(queue, p.y, p.columns * p.width, number_bytes);
  }

private:
  template <class Queue>
  [[nodiscard]] const void* aligned(const Queue& queue, const void* from, std::int64_t elements,
                                    std::size_t element_bytes) {
    const std::size_t bytes = bytes_to_align(from, elements, element_bytes);
    if (bytes == 0) return from;
    using R = typename D::Runtime;
    twill::gpu::check<R>(R::copy(next_, from, static_cast<std::size_t>(elements) * element_bytes, queue.stream()),
                         "copy", queue.device());
    const void* const copied = next_;
    next_ += bytes;
    return copied;
  }

  memory::Buffer<D> memory_{};
  std::byte* next_ = nullptr;
};

inline namespace TWILL_ISA {

/// Notes for library_choices() that the library computes such products.
template <class Library, twill::gpu::Runtime R>
void note_product(const twill::gpu::Queue<R>& queue, const nvidia::SparseProduct& product,
                  std::size_t workspace_bytes) {
  constexpr std::uint64_t of_sparse_products = std::uint64_t{1} << 62; // no other problem's key begins so
  const auto words = nvidia::key_of(product);
  static_assert(words.size() < twill::gpu::choice_key_words);
  twill::gpu::ChoiceKey key{of_sparse_products};
  for (std::size_t i = 0; i < words.size(); ++i) key[i + 1] = words[i];
  twill::gpu::choice_log<R>(queue.device()).note(key, [&] {
    return LibraryChoice{.problem = to_string(product),
                         .by = std::string{Library::name},
                         .reason = "all products with sparse matrices on GPUs are the library's",
                         .workspace_bytes = workspace_bytes,
                         .options = library_options()};
  });
}

/// Runs a product after the earlier work of the queue; returns at once. throws: GpuError, OutOfMemoryError
template <twill::gpu::Runtime R> void run_product(const twill::gpu::Queue<R>& queue, nvidia::SparseProduct p) {
  using Library = typename ProductLibrary<R>::type;
  using D = typename ProductLibrary<R>::Device;
  static_assert(LibraryOfProducts<Library, twill::gpu::Queue<R>>);
  const auto bytes = static_cast<std::size_t>(p.result_elements()) * size_of(p.dtype);
  if (bytes == 0) return;
  const D device{queue.device()};
  const bool is_empty = p.entries == 0 || p.width == 0;
  const bool is_sampled = p.kind == nvidia::SparseKind::sampled; // its result is an array of a sparse matrix
  void* const result = p.result;
  memory::Buffer<D> aligned_result{};
  if (is_sampled && !is_empty && bytes_to_align(result, p.entries, size_of(p.dtype)) > 0) {
    aligned_result = memory::Buffer<D>(device, bytes);
    p.result = aligned_result.data();
  }
  if (is_empty || is_sampled) // 0 times what is in a sampled result is added, which may be NaN
    twill::gpu::check<R>(R::fill(p.result, 0, bytes, queue.stream()), "fill", queue.device());
  if (is_empty) return;
  const AlignedCopies<D> copies(device, queue, p);
  const typename Library::Product product(queue, p);
  const std::size_t workspace_bytes = product.workspace_bytes();
  const memory::Buffer<D> workspace(device, workspace_bytes);
  product.run(workspace.data());
  if (p.result != result)
    twill::gpu::check<R>(R::copy(result, p.result, bytes, queue.stream()), "copy", queue.device());
  note_product<Library>(queue, p, workspace_bytes);
}

/// Calls f(product) for every matrix of a stack, with A's part of the description.
template <class T, class F>
void for_each_matrix(nvidia::SparseKind kind, const Structure& a, std::int64_t width, const F& f) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "twill: sparse: on GPUs products are those of float32 and float64; convert matrix and operand, "
                "a.with_values(a.values().to<float>()) and x.to<float>()");
  for (std::int64_t matrix = 0; matrix < a.count; ++matrix) {
    nvidia::SparseProduct p{}; // member by member: nvcc 13 moves up what follows a member that a list leaves out
    p.kind = kind;
    p.dtype = dtype_of<T>;
    p.rows = a.rows;
    p.columns = a.columns;
    p.entries = a.entries;
    p.width = width;
    p.row_offsets = a.row_offsets + matrix * (a.rows + 1);
    p.column_indices = a.column_indices + matrix * a.entries;
    f(p, matrix);
  }
}

} // namespace TWILL_ISA
}}}} // namespace twill::v0::sparse::detail

namespace twill { inline namespace v0 { namespace sparse { inline namespace TWILL_ISA {

/// y = A x for matrices x (columns, width) and y (rows, width). requires: a valid structure in the device's memory
template <twill::gpu::Runtime R, class T>
void multiply(const twill::gpu::Queue<R>& queue, const Structure& a, const T* values, const T* x, std::int64_t width,
              T* y) {
  detail::for_each_matrix<T>(nvidia::SparseKind::plain, a, width, [&](nvidia::SparseProduct& p, std::int64_t matrix) {
    p.values = values + matrix * a.entries;
    p.x = x + matrix * a.columns * width;
    p.result = y + matrix * a.rows * width;
    detail::run_product(queue, p);
  });
}

/// y = A^T x for matrices x (rows, width) and y (columns, width). requires: a valid structure in the device's memory
/// throws: ValueError under `LibraryOptions::is_deterministic`, since the library adds up in any order
template <twill::gpu::Runtime R, class T>
void multiply_transposed(const twill::gpu::Queue<R>& queue, const Structure& a, const T* values, const T* x,
                         std::int64_t width, T* y) {
  detail::for_each_matrix<T>(nvidia::SparseKind::transposed, a, width,
                             [&](nvidia::SparseProduct& p, std::int64_t matrix) {
                               p.values = values + matrix * a.entries;
                               p.x = x + matrix * a.rows * width;
                               p.result = y + matrix * a.columns * width;
                               detail::run_product(queue, p);
                             });
}

/// s[entry] = sum over i of x[row, i] y[column, i] for the row and the column of each entry, for x (rows, width) and
/// y (columns, width). requires: a valid structure in the device's memory
template <twill::gpu::Runtime R, class T>
void multiply_sampled(const twill::gpu::Queue<R>& queue, const Structure& a, const T* x, const T* y, std::int64_t width,
                      T* s) {
  detail::for_each_matrix<T>(nvidia::SparseKind::sampled, a, width, [&](nvidia::SparseProduct& p, std::int64_t matrix) {
    p.x = x + matrix * a.rows * width;
    p.y = y + matrix * a.columns * width;
    p.result = s + matrix * a.entries;
    detail::run_product(queue, p);
  });
}

}}}} // namespace twill::v0::sparse::TWILL_ISA
