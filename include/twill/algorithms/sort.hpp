#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sorting along an axis, on host devices by the standard library: `sort<0>(x)`, `argsort(x, descending)`.
// The sort is stable, so equal elements keep their order; NaN comes last, as in NumPy, and first in descending order,
// as in PyTorch. Operands may be expressions and views of any strides, `sort<-1>(a * b, in_parallel)`; the result is a
// new row-major tensor. Read next: algorithms/select.hpp, algorithms/unique.hpp.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/sort.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// Sorts each row of a GPU's tensor and gives it the sorted elements as its memory.
template <bool IsDescending, class Rows> void sort_rows_on_gpu(Rows& rows, std::int64_t* indices) {
  const Rows source = rows;
  rows = Rows(source.device(), source.shape());
  kernel::gpu::sort_rows<IsDescending>(source.device(), static_cast<const typename Rows::value_type*>(source.data()),
                                       rows_of(source.shape()), source.size(-1), rows.data(), indices);
}

/// An element and its place before the sort.
template <class T> struct Placed {
  T key{};                ///< the element
  std::int64_t place = 0; ///< its index in the row
};

/// Sorts each row of x and moves its indices with it.
template <bool IsDescending, class Policy, class Rows>
[[nodiscard]] auto sort_rows_with_indices([[maybe_unused]] Policy p, Rows& rows) {
  using T = typename Rows::value_type;
  Tensor<std::int64_t, typename Rows::device_type, typename Rows::shape_type> indices(rows.device(), rows.shape());
  if (rows.elements() == 0) return indices;
  if constexpr (is_on_gpu<Rows>) {
    sort_rows_on_gpu<IsDescending>(rows, indices.data());
    return indices;
  }
  const std::int64_t length = rows.size(-1);
  for_each_row(p, rows_of(rows.shape()), [&, length](auto policy, std::int64_t row) {
    T* keys = rows.data() + row * length;
    std::int64_t* places = indices.data() + row * length;
    std::vector<Placed<T>> pairs(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i) pairs[static_cast<std::size_t>(i)] = {keys[i], i};
    policy.stable_sort(pairs.begin(), pairs.end(), [](const Placed<T>& left, const Placed<T>& right) {
      return Before<IsDescending>{}(left.key, right.key);
    });
    for (const Placed<T>& pair : pairs) {
      *keys++ = pair.key;
      *places++ = pair.place;
    }
  });
  return indices;
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The elements in order along an axis. Options: `in_sequence` or `in_parallel`, `ascending` or `descending`.
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto sort(X&& x, O...) {
  using Policy = algorithms::policy_t<O...>;
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  auto rows = algorithms::copied_rows<Axis>(source);
  if (rows.elements() == 0) return algorithms::as_before<Axis>(rows);
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    algorithms::sort_rows_on_gpu<algorithms::is_descending<O...>>(rows, nullptr);
  } else {
    const std::int64_t length = rows.size(-1);
    algorithms::for_each_row(Policy{}, algorithms::rows_of(rows.shape()), [&](auto policy, std::int64_t row) {
      T* first = rows.data() + row * length;
      policy.stable_sort(first, first + length, algorithms::Before<algorithms::is_descending<O...>>{});
    });
  }
  return algorithms::as_before<Axis>(rows);
}

/// The indices (int64) along an axis that would sort it. Options as for `sort`.
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto argsort(X&& x, O...) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  auto rows = algorithms::copied_rows<Axis>(source);
  const auto indices =
      algorithms::sort_rows_with_indices<algorithms::is_descending<O...>>(algorithms::policy_t<O...>{}, rows);
  return algorithms::as_before<Axis>(indices);
}

}}} // namespace twill::v0::TWILL_ISA
