#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The distinct elements of a tensor in order, and where and how often each occurs. Names are those of NumPy 2; as in its
// `unique`, all NaN count as one value, which comes last.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/tensor/tensor.hpp>

#include <thrust/sort.h>
#include <thrust/unique.h>

#include <cstdint>
#include <utility>

namespace twill::inline v0 {

/// Distinct values in order; for each the index of its first occurrence in row-major order and how often it occurs; and for
/// each element of the source which of them it is, in the source's shape.
template <Scalar T, AnyShape S> struct Unique {
  Tensor<T, Cpu, Shape<dyn>> values;
  Tensor<std::int64_t, Cpu, Shape<dyn>> indices;
  Tensor<std::int64_t, Cpu, S> inverse_indices;
  Tensor<std::int64_t, Cpu, Shape<dyn>> counts;
};

} // namespace twill::inline v0

namespace twill::inline v0::inline TWILL_ISA {

/// The distinct elements in order. Options: a policy.
template <TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto unique(X&& x, O...) {
  using Policy = algorithms::policy_t<O...>;
  const auto source = algorithms::host_tensor(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  const Tensor<T, Cpu, Shape<dyn>> copy = source.clone().flatten();
  synchronize(copy.device());
  if (copy.elements() == 0) return copy;
  T* const first = copy.data();
  T* const last = first + copy.elements();
  thrust::stable_sort(Policy::thrust(), first, last, algorithms::Before<false>{});
  const std::int64_t count = thrust::unique(Policy::thrust(), first, last, algorithms::Same{}) - first;
  return copy[slice{0, count}].clone(); // does not keep the memory of all
}

/// The distinct elements with indices, inverse and counts. Options: a policy.
template <TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto unique_all(X&& x, O...) {
  const auto source = algorithms::host_tensor(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  using S = typename decltype(source)::shape_type;
  Tensor<T, Cpu, Shape<dyn>> sorted = source.clone().flatten();
  synchronize(sorted.device());
  const auto places = algorithms::sort_rows_with_indices<false>(algorithms::policy_t<O...>{}, sorted);
  Tensor<std::int64_t, Cpu, S> inverse(source.device(), source.shape());
  Tensor<std::int64_t, Cpu, Shape<dyn>> indices(source.device(), sorted.shape());
  Tensor<std::int64_t, Cpu, Shape<dyn>> counts(source.device(), sorted.shape());
  T* values = sorted.data();
  std::int64_t distinct = 0;
  for (std::int64_t i = 0; i < sorted.elements(); ++i) {
    if (i == 0 || !algorithms::Same{}(values[i], values[distinct - 1])) {
      values[distinct] = values[i];
      indices.data()[distinct] = places.data()[i];
      counts.data()[distinct] = 0;
      ++distinct;
    }
    ++counts.data()[distinct - 1];
    inverse.data()[places.data()[i]] = distinct - 1;
  }
  const slice all_distinct{0, distinct};
  return Unique<T, S>{sorted[all_distinct].clone(), indices[all_distinct].clone(), std::move(inverse),
                      counts[all_distinct].clone()};
}

} // namespace twill::inline v0::inline TWILL_ISA
