#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Concatenation of tensors and expressions in new memory: concat along an axis that they have, stack along a new one.
// Each part is written to its place by one kernel, expressions straight from their operands. Element types promote as
// in arithmetic. Read next: expr/repeat.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/operation.hpp>
#include <twill/tensor/shapes.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

template <class X> using shape_of = typename std::remove_cvref_t<X>::shape_type;
template <class X> using device_of = typename std::remove_cvref_t<X>::device_type;

/// The axis in which two parts differ although they must not; -1 for none, -2 when the ranks differ.
[[nodiscard]] constexpr int joint_conflict(const Dims& left, const Dims& right, int axis) {
  if (left.rank != right.rank) return -2;
  for (int other = 0; other < left.rank; ++other)
    if (other != axis && left[other] != right[other] && left[other] != dyn && right[other] != dyn) return other;
  return -1;
}
[[nodiscard]] constexpr Dims joined_dims(Dims left, const Dims& right, int axis) {
  for (int other = 0; other < left.rank; ++other)
    if (other != axis && left[other] == dyn) left[other] = right[other];
  left[axis] = left[axis] == dyn || right[axis] == dyn ? dyn : left[axis] + right[axis];
  return left;
}

template <int Axis, AnyShape A, AnyShape B> [[nodiscard]] consteval Dims checked_join() {
  constexpr int conflict = joint_conflict(dims_of<A>, dims_of<B>, Axis);
  if constexpr (conflict == -2) {
    static_cast<void>(
        sizeof(Mistake<refused<Problem::ranks_differ, with::left_rank<A::rank>, with::right_rank<B::rank>>>));
    return dims_of<A>;
  } else {
    if constexpr (conflict >= 0)
      static_cast<void>(sizeof(Mistake<refused<Problem::joined_tensors_differ_in_another_axis, with::axis<conflict>,
                                               with::left<A::extent(conflict)>, with::right<B::extent(conflict)>>>));
    Dims joined = joined_dims(dims_of<A>, dims_of<B>, Axis);
    if (conflict >= 0) joined[conflict] = dyn; // refused once
    return joined;
  }
}
template <int Axis, class A, class... Rest> struct Joined { using type = A; };
template <int Axis, class A, class B, class... Rest>
struct Joined<Axis, A, B, Rest...> : Joined<Axis, shape_t<checked_join<Axis, A, B>()>, Rest...> {};

void join_at_run_time(const char* operation, Dims& result, bool& first, const Dims& part, int axis);

/// Writes a part over `length` elements of an axis.
template <int Axis, class R, class X>
void store_part(const R& result, X&& part, std::int64_t first, std::int64_t length) {
  auto place = narrow<Axis>(result, first, length);
  if constexpr (AnyTensor<X>)
    place.copy_from(part);
  else
    store(place, std::forward<X>(part));
}

template <class X> [[nodiscard]] Dims extents_of_part(const X& part) {
  if constexpr (AnyTensor<X>)
    return part.shape();
  else
    return extents_of(part);
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The parts one after another along an axis, the first unless told otherwise, in new memory; all other extents agree.
/// throws: ShapeError, DeviceError
template <int Axis = 0, TensorOperand First, TensorOperand... Rest>
[[nodiscard]] auto concat(First&& first, Rest&&... rest) {
  constexpr int axis = axis_of<Axis, expr::shape_of<First>::rank>;
  using S = typename expr::Joined<axis, expr::shape_of<First>, expr::shape_of<Rest>...>::type;
  using T = scalar_t<expr::common_type<First, Rest...>()>;
  using D = typename expr::CommonDevice<expr::device_of<First>, expr::device_of<Rest>...>::type;
  Dims extents{};
  bool is_first = true;
  expr::join_at_run_time("concat", extents, is_first, expr::extents_of_part(first), axis);
  (expr::join_at_run_time("concat", extents, is_first, expr::extents_of_part(rest), axis), ...);
  (require_same_device("concat", first.device(), rest.device()), ...);
  const Tensor<T, D, S> result(first.device(), extents);
  std::int64_t place = 0;
  const auto put = [&]<class X>(X&& part) {
    const std::int64_t length = expr::extents_of_part(part)[axis];
    expr::store_part<axis>(result, std::forward<X>(part), place, length);
    place += length;
  };
  put(std::forward<First>(first));
  (put(std::forward<Rest>(rest)), ...);
  return result;
}
/// NumPy's name of `concat`.
template <int Axis = 0, TensorOperand... X> [[nodiscard]] auto concatenate(X&&... parts) {
  return concat<Axis>(std::forward<X>(parts)...);
}

/// PyTorch's name of `concat`.
template <int Axis = 0, TensorOperand... X> [[nodiscard]] auto cat(X&&... parts) {
  return concat<Axis>(std::forward<X>(parts)...);
}

/// Joins any number of parts of one type. throws: ShapeError, DeviceError, ValueError when there are none
template <int Axis = 0, AnyTensor X> [[nodiscard]] auto concat(const std::vector<X>& parts) {
  constexpr int axis = axis_of<Axis, X::rank>;
  if (parts.empty()) throw ValueError("concat: there are no parts; it takes at least one");
  Dims extents{};
  bool is_first = true;
  for (const X& part : parts) {
    expr::join_at_run_time("concat", extents, is_first, part.shape(), axis);
    require_same_device("concat", parts.front().device(), part.device());
  }
  using S = shape_t<detail::with_extent(dims_of<typename X::shape_type>, axis, dyn)>;
  const Tensor<typename X::value_type, typename X::device_type, S> result(parts.front().device(), extents);
  std::int64_t place = 0;
  for (const X& part : parts) {
    expr::store_part<axis>(result, part, place, part.size(axis));
    place += part.size(axis);
  }
  return result;
}

/// `concatenate({x, y})`: tensors of one type.
template <int Axis = 0, AnyTensor X> [[nodiscard]] auto concatenate(std::initializer_list<X> parts) {
  return concat<Axis>(std::vector<X>(parts));
}

/// The parts, all of one shape, along a new axis. throws: ShapeError, DeviceError
template <int Axis = 0, TensorOperand... X>
requires(sizeof...(X) > 0) [[nodiscard]] auto stack(X&&... parts) {
  return concat<Axis>(expr::evaluated(std::forward<X>(parts)).template unsqueeze<Axis>()...);
}

/// `stack({x, y})`: tensors of one type.
template <int Axis = 0, AnyTensor X> [[nodiscard]] auto stack(std::initializer_list<X> parts) {
  constexpr int axis = axis_of<Axis, X::rank + 1>;
  std::vector<decltype(parts.begin()->template unsqueeze<axis>())> wider{};
  for (const X& part : parts) wider.push_back(part.template unsqueeze<axis>());
  return concat<axis>(wider);
}

/// Joins side by side: along the second axis, vectors along their only one. throws: ShapeError, DeviceError
template <TensorOperand First, TensorOperand... Rest> [[nodiscard]] auto hstack(First&& first, Rest&&... rest) {
  if constexpr (expr::shape_of<First>::rank == 0)
    return concat<0>(atleast_1d(expr::evaluated(std::forward<First>(first))),
                     atleast_1d(expr::evaluated(std::forward<Rest>(rest)))...);
  else if constexpr (expr::shape_of<First>::rank == 1)
    return concat<0>(std::forward<First>(first), std::forward<Rest>(rest)...);
  else
    return concat<1>(std::forward<First>(first), std::forward<Rest>(rest)...);
}
/// Joins one above another: along the first axis; vectors become rows. throws: ShapeError, DeviceError
template <TensorOperand First, TensorOperand... Rest> [[nodiscard]] auto vstack(First&& first, Rest&&... rest) {
  if constexpr (expr::shape_of<First>::rank < 2)
    return concat<0>(atleast_2d(expr::evaluated(std::forward<First>(first))),
                     atleast_2d(expr::evaluated(std::forward<Rest>(rest)))...);
  else
    return concat<0>(std::forward<First>(first), std::forward<Rest>(rest)...);
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/join.ipp>
#endif
