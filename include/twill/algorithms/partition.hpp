#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Partial orders along an axis, with NumPy's names: `partition` and `argpartition`. On hosts by selection (Hoare,
// 1961), which takes linear time; on a GPU by a sort. Not in twill.hpp. Read next: algorithms/select.hpp.

#include <twill/algorithms/policy.hpp>
#include <twill/algorithms/rows.hpp>
#include <twill/algorithms/sort.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// A place of an axis, counted from the front. throws: IndexError for one outside of it
[[nodiscard]] inline std::int64_t place_in(const char* operation, std::int64_t place, std::int64_t extent) {
  const std::int64_t from_front = place < 0 ? place + extent : place;
  if (from_front < 0 || from_front >= extent)
    throw IndexError(join_text({operation, ": place ", place, " is outside of an axis of ", extent, " elements"}));
  return from_front;
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The elements along an axis with the one of place k of the sorted order at its place, no greater one before it and no
/// lesser one after it; NaN counts as the greatest. Options: a policy.
/// throws: IndexError for a place outside of the axis, negative ones counting from its end
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto partition(X&& x, std::int64_t k, O... options) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  const std::int64_t place = algorithms::place_in("partition", k, source.size(Axis));
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    return sort<Axis>(source, options...);
  } else {
    using T = typename decltype(source)::value_type;
    auto rows = algorithms::copied_rows<Axis>(source);
    const std::int64_t length = rows.size(-1);
    if (rows.elements() > 0)
      algorithms::for_each_row(algorithms::policy_t<O...>{}, algorithms::rows_of(rows.shape()),
                               [&](auto, std::int64_t row) {
                                 T* const first = rows.data() + row * length;
                                 std::nth_element(first, first + place, first + length, algorithms::Before<false>{});
                               });
    return algorithms::as_before<Axis>(rows);
  }
}

/// The indices (int64) along an axis that would partition it. Options and errors as for `partition`.
template <int Axis = -1, TensorOperand X, class... O>
requires algorithms::Options<O...>
[[nodiscard]] auto argpartition(X&& x, std::int64_t k, O... options) {
  const auto source = algorithms::tensor_of_operand(std::forward<X>(x));
  const std::int64_t place = algorithms::place_in("argpartition", k, source.size(Axis));
  if constexpr (algorithms::is_on_gpu<decltype(source)>) {
    return argsort<Axis>(source, options...);
  } else {
    using T = typename decltype(source)::value_type;
    const auto rows = algorithms::copied_rows<Axis>(source);
    using Rows = std::remove_cvref_t<decltype(rows)>;
    const std::int64_t length = rows.size(-1);
    Tensor<std::int64_t, Cpu, typename Rows::shape_type> places(rows.device(), rows.shape());
    algorithms::wait_for_elements(places);
    if (rows.elements() > 0)
      algorithms::for_each_row(
          algorithms::policy_t<O...>{}, algorithms::rows_of(rows.shape()), [&](auto, std::int64_t row) {
            const T* const keys = rows.data() + row * length;
            std::int64_t* const first = places.data() + row * length;
            std::iota(first, first + length, std::int64_t{0});
            std::nth_element(first, first + place, first + length, [keys](std::int64_t a, std::int64_t b) {
              return algorithms::Before<false>{}(keys[a], keys[b]);
            });
          });
    return algorithms::as_before<Axis>(places);
  }
}

}}} // namespace twill::v0::TWILL_ISA
