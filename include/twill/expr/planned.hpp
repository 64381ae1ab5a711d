#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of expressions over tensors that exist: the expression is evaluated on a device without memory, with the
// addresses and strides of its own tensors, and every launch is written down instead of run. So the plan is what would
// happen, not a description of it. Read next: expr/plan.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/evaluate_products.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/plan.hpp>
#include <twill/expr/product.hpp>
#include <twill/expr/reduced.hpp>
#include <twill/kernel/record.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// A tensor with the addresses and strides of this one, on a device that runs nothing.
template <class T, class D, class S> [[nodiscard]] Tensor<T, Meta, S> on_meta(const Tensor<T, D, S>& x) {
  return {memory::Buffer<Meta>{}, x.data(), x.shape(), x.strides()};
}
template <class T, class D, class S> [[nodiscard]] auto on_meta(const Borrowed<T, D, S>& leaf) {
  return Held<T, Meta, S>{on_meta(*leaf.tensor)};
}
template <class T, class D, class S> [[nodiscard]] auto on_meta(const Held<T, D, S>& leaf) {
  return Held<T, Meta, S>{on_meta(leaf.tensor)};
}
template <class T> [[nodiscard]] auto on_meta(const Constant<T>& leaf) { return leaf; }
template <class Op, class... A> [[nodiscard]] auto on_meta(const Node<Op, A...>& node);
template <class Rule, class... A> [[nodiscard]] auto on_meta(const Product<Rule, A...>& product);
template <class Op, unsigned Mask, Rest Remains, class... A>
[[nodiscard]] auto on_meta(const Reduced<Op, Mask, Remains, A...>& reduced);
template <class Source, class S, bool AlongRow, bool Owned, class... Index>
[[nodiscard]] auto on_meta(const GatherNode<Source, S, AlongRow, Owned, Index...>& node);

template <class Op, class... A> [[nodiscard]] auto on_meta(const Node<Op, A...>& node) {
  return node.operands.apply(
      [](const auto&... operand) { return Node<Op, decltype(on_meta(operand))...>(on_meta(operand)...); });
}
template <class Op, unsigned Mask, Rest Remains, class... A>
[[nodiscard]] auto on_meta(const Reduced<Op, Mask, Remains, A...>& reduced) {
  return reduced.operands.apply([](const auto&... operand) {
    return Reduced<Op, Mask, Remains, decltype(on_meta(operand))...>(on_meta(operand)...);
  });
}
template <class Source, class S, bool AlongRow, bool Owned, class... Index>
[[nodiscard]] auto on_meta(const GatherNode<Source, S, AlongRow, Owned, Index...>& node) {
  return node.indices.apply([&](const auto&... index) {
    return GatherNode<decltype(on_meta(node.source)), S, AlongRow, true, decltype(on_meta(index.tensor))...>{
        {}, on_meta(node.source), on_meta(node.moves), {{on_meta(index.tensor)}...}, node.steps};
  });
}

template <class Rule, class... A> [[nodiscard]] auto on_meta(const Product<Rule, A...>& product) {
  return product.operands.apply(
      [](const auto&... operand) { return Product<Rule, decltype(on_meta(operand))...>(on_meta(operand)...); });
}

/// The number of different elements that an operand touches.
[[nodiscard]] std::int64_t elements_of(const kernel::LaunchRecord& launch, const kernel::OperandRecord& operand);

[[nodiscard]] PlannedOperand described(const kernel::LaunchRecord& launch, const kernel::OperandRecord& operand);

/// Whether an earlier operand of the launch reads the same elements: then they come from the cache.
[[nodiscard]] bool is_repeated(const kernel::LaunchRecord& launch, std::size_t position);

[[nodiscard]] ExpressionPlan plan_of_launches(const List<kernel::LaunchRecord>& launches);

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The plan of evaluating the expression now. A tensor that is named twice is read from memory once.
/// throws: what evaluating it would
template <LazyValue E> [[nodiscard]] ExpressionPlan plan(E&& expression) {
  expr::require_usable<E>();
  using S = typename std::remove_cvref_t<E>::shape_type;
  List<kernel::LaunchRecord> launches{};
  const auto elsewhere = expr::on_meta(expression);
  {
    const kernel::LaunchListener listener{launches};
    static_cast<void>(expr::evaluate_as<S>(elsewhere));
  }
  ExpressionPlan result = expr::plan_of_launches(launches);
  if constexpr (expr::on_gpu<E>) result.vector_width = result.thread_width;
  return result;
}

/// A plan as a table: one line for the whole, one for each operand.
[[nodiscard]] std::string to_string(const ExpressionPlan& plan);

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/planned.ipp>
#endif
