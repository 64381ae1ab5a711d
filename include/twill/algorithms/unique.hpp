#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Distinct elements of a tensor in order, their positions and counts. Names are those of NumPy 2; as in NumPy's
// `unique`, all NaN count as one value, which comes last. Read next: algorithms/search.hpp.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/gpu/unique.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms {

/// Distinct values in order; for each the index of its first occurrence in row-major order and its count; and for each
/// element of the source the number of its value, in the source's shape.
template <Scalar T, AnyShape S, Device D = Cpu> struct Unique {
  Tensor<T, D, Shape<dyn>> values;             ///< ascending, each once
  Tensor<std::int64_t, D, Shape<dyn>> indices; ///< the first position of each value, in row-major order
  Tensor<std::int64_t, D, S> inverse_indices;  ///< the number of the value that each element of the source has
  Tensor<std::int64_t, D, Shape<dyn>> counts;  ///< the count of each value
};

}}} // namespace twill::v0::algorithms

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The distinct elements in order. Options: a policy.
template <TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto unique(X&& x, O...) {
  using Policy = algorithms::policy_t<O...>;
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  using D = typename decltype(source)::device_type;
  Tensor<T, D, Shape<dyn>> copy = source.clone().flatten();
  algorithms::wait_for_elements(copy);
  if (copy.elements() == 0) return copy;
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    algorithms::sort_rows_on_gpu<false>(copy, nullptr);
    const T* const sorted = copy.data();
    const auto counted = kernel::gpu::counted_runs(copy.device(), sorted, copy.elements());
    const Tensor<T, D, Shape<dyn>> values(copy.device(), Dims(counted.found()));
    kernel::gpu::write_values_of_runs(counted, sorted, values.data());
    return values;
  } else {
    T* const first = copy.data();
    T* const last = first + copy.elements();
    Policy::stable_sort(first, last, algorithms::Before<false>{});
    const std::int64_t count = std::unique(first, last, algorithms::Same{}) - first;
    return copy[slice{0, count}].clone(); // does not keep the memory of all
  }
}

/// The distinct elements with indices, inverse and counts. Options: a policy.
template <TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto unique_all(X&& x, O...) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  using T = typename decltype(source)::value_type;
  using S = typename decltype(source)::shape_type;
  using D = typename decltype(source)::device_type;
  using Places = Tensor<std::int64_t, D, Shape<dyn>>;
  Tensor<T, D, Shape<dyn>> sorted = source.clone().flatten();
  algorithms::wait_for_elements(sorted);
  const auto places = algorithms::sort_rows_with_indices<false>(algorithms::policy_t<O...>{}, sorted);
  Tensor<std::int64_t, D, S> inverse(source.device(), source.shape());
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    const T* const from = sorted.data();
    const std::int64_t elements = sorted.elements();
    const auto counted = kernel::gpu::counted_runs(source.device(), from, elements);
    const std::int64_t found = counted.found();
    Tensor<T, D, Shape<dyn>> values(source.device(), Dims(found));
    Places indices(source.device(), Dims(found)), counts(source.device(), Dims(found));
    const Places starts(source.device(), Dims(found));
    kernel::gpu::write_runs(counted, source.device(), from, static_cast<const std::int64_t*>(places.data()), elements,
                            found, values.data(), starts.data(), indices.data(), counts.data(), inverse.data());
    return algorithms::Unique<T, S, D>{std::move(values), std::move(indices), std::move(inverse), std::move(counts)};
  } else {
    Places indices(source.device(), sorted.shape());
    Places counts(source.device(), sorted.shape());
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
    return algorithms::Unique<T, S>{sorted[all_distinct].clone(), indices[all_distinct].clone(), std::move(inverse),
                                    counts[all_distinct].clone()};
  }
}

}}} // namespace twill::v0::TWILL_ISA
