#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Iterators over `lazy` expressions: a random-access range that computes element i on access, without memory for a
// result. Iterators share the expression's handles, so they stay valid when it is gone. One element is computed by the
// scalar primitives of kernel/apply.hpp, so functions such as exp may differ from the vector kernels in the last place.
// For a range that is read more than once `eval` is cheaper. Read next: algorithms/device_iterator.hpp.

#include <twill/algorithms/element_iterator.hpp>
#include <twill/algorithms/element_program.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/program.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// An expression, bound to its memory.
template <class E> class LazyElements {
public:
  using Source = expr::Elementwise<E, E::dtype>;
  using Bound = expr::Operands<Source>;
  using value_type = typename E::value_type;

  explicit LazyElements(const E& expression)
      : expression_{expression}, leaves_{expression_}, extents_{leaves_.extents_of(expression_)} {
    expr::complete_operands(expr::operand_map<Source>, leaves_.operands(), extents_.rank, nullptr,
                            contiguous_strides(extents_), extents_);
    elements_ = extents_.elements();
    synchronize(expression_.device());
  }

  [[nodiscard]] std::int64_t elements() const { return elements_; }

  [[nodiscard]] value_type at(std::int64_t index) const {
    std::array<std::int64_t, Bound::count> offsets{};
    for (int axis = extents_.rank - 1; axis >= 0; --axis) {
      const std::int64_t place = axis > 0 ? index % extents_[axis] : index;
      index /= extents_[axis];
      for (std::size_t o = 0; o + 1 < Bound::count; ++o)
        offsets[o] += place * leaves_.operands()[o].strides[static_cast<std::size_t>(axis)];
    }
    return ElementProgram<typename expr::ProgramOf<Source>::type>::template run<value_type>(leaves_.operands(),
                                                                                            offsets.data());
  }

private:
  E expression_;
  expr::Leaves<E> leaves_; // of the expression
  Dims extents_;
  std::int64_t elements_ = 0;
};

/// An iterator over the values of an expression.
template <class E>
class LazyIterator : public layout::IndexIterator<LazyIterator<E>, typename E::value_type, typename E::value_type> {
public:
  using pointer = void;

  LazyIterator() = default;
  LazyIterator(std::shared_ptr<const LazyElements<E>> elements, std::int64_t index)
      : layout::IndexIterator<LazyIterator<E>, typename E::value_type, typename E::value_type>{index},
        elements_{std::move(elements)} {}

  [[nodiscard]] typename E::value_type at(std::ptrdiff_t index) const {
    if constexpr (E::has_reductions) // refused
      return {};
    else
      return elements_->at(index);
  }

private:
  std::shared_ptr<const LazyElements<E>> elements_{};
};

template <class E> [[nodiscard]] std::shared_ptr<const LazyElements<E>> lazy_elements(const E& expression) {
  static_assert(E::owns, "twill: begin: an expression refers to tensors that may be gone; keep it with lazy(a * b)");
  static_assert(!E::has_reductions,
                "twill: begin: an element of a reduction costs a whole pass; evaluate it (Tensor c = "
                "sum<1>(x)) and take the tensor's elements");
  static_assert(std::is_same_v<typename E::device_type, Cpu>,
                "twill: begin: the elements of an expression are computed on the host; move its tensors with cpu()");
  if constexpr (E::has_reductions) // refused
    return nullptr;
  else
    return std::make_shared<const LazyElements<E>>(expression);
}

}}}} // namespace twill::v0::algorithms::TWILL_ISA

// In the namespace of the expressions, so that a range-for finds them. Two overloads of each: std::ranges deletes a
// begin(auto&) that would match non-const arguments better.
namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {
/// The first value of an expression in row-major order.
template <LazyValue E>
requires(!kernel::has_queue<typename E::device_type>)
    [[nodiscard]] algorithms::LazyIterator<E> begin(const E& expression) {
  return {algorithms::lazy_elements(expression), 0};
}
template <LazyValue E>
requires(!kernel::has_queue<typename E::device_type>) [[nodiscard]] algorithms::LazyIterator<E> begin(E& expression) {
  return begin(std::as_const(expression));
}
/// The position after the last value.
template <LazyValue E>
requires(!kernel::has_queue<typename E::device_type>)
    [[nodiscard]] algorithms::LazyIterator<E> end(const E& expression) {
  return {nullptr, extents_of(expression).elements()};
}
template <LazyValue E>
requires(!kernel::has_queue<typename E::device_type>) [[nodiscard]] algorithms::LazyIterator<E> end(E& expression) {
  return end(std::as_const(expression));
}
}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {
using expr::begin;
using expr::end;

}}} // namespace twill::v0::TWILL_ISA
