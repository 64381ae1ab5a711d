#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products of operands as lazy expressions, and the checks when they are made: element types, ranks and extents, the
// known ones at compile time. The rule's pattern says what is multiplied and summed. A statement computes its products
// first, the largest into the destination, and the elementwise rest in place: `y = relu(matmul(x, w) + bias)` needs no
// memory but y's. Read next: expr/evaluate_products.hpp, expr/matmul.hpp, expr/einsum.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/contraction_order.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/tensor/shapes.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// "matmul: left has 3 columns, right has 2 rows" and similar errors.
[[noreturn]] void throw_extents(std::string_view name, const Pattern& pattern, const LabelExtents& extents,
                                const Dims* shapes);

/// The extents of a rule's labels as far as the operands' types know them.
template <class Rule, class... A>
inline constexpr LabelExtents known_extents = [] {
  const Dims shapes[] = {dims_of<typename A::shape_type>...};
  return extents_of_labels(Rule::pattern, shapes);
}();

template <class First, class... More> [[nodiscard]] constexpr DType first_type() { return First::dtype; }

/// The first operand whose element type differs from the first one's; 0 when all agree.
template <class... A> [[nodiscard]] constexpr int odd_operand() {
  const DType types[] = {A::dtype...};
  for (int operand = 1; operand < static_cast<int>(sizeof...(A)); ++operand)
    if (types[operand] != types[0]) return operand;
  return 0;
}

/// Refuses operands whose types already show a fault.
template <class Rule, class... A> consteval bool check_product() {
  constexpr DType types[] = {A::dtype...};
  constexpr int odd = odd_operand<A...>();
  if constexpr (odd != 0)
    static_cast<void>(sizeof(
        Mistake<refused<Problem::element_types_differ, with::left_type<types[0]>, with::right_type<types[odd]>>>));
  static_assert(types[0] != DType::boolean, "twill: a product takes numbers; convert the operand with to<T>()");
  static_assert(!is_float8(types[0]),
                "twill: floats of 8 bits are stored, not computed with; convert the operand with to<T>()");
  constexpr LabelExtents extents = known_extents<Rule, A...>;
  if constexpr (extents.conflict >= 0) {
    constexpr char letter = Rule::pattern.letters[static_cast<std::size_t>(extents.conflict)];
    if constexpr ((Rule::pattern.stretched >> extents.conflict & 1U) != 0)
      static_cast<void>(sizeof(
          Mistake<refused<Problem::broadcast_extents_differ, with::left<extents.left>, with::right<extents.right>>>));
    else if constexpr (letter != 0)
      static_cast<void>(sizeof(Mistake<refused<Problem::einsum_letter_has_two_extents, with::letter<letter>,
                                               with::left<extents.left>, with::right<extents.right>>>));
    else
      static_cast<void>(sizeof(Mistake<refused<Rule::problem, with::left<extents.left>, with::right<extents.right>>>));
  }
  return true;
}

/// More operands than any other node has.
template <class A, class B, class C, class D, class... Rest> struct Fields<A, B, C, D, Rest...> {
  Fields<A, B, C> first;
  Fields<D, Rest...> more;
  constexpr Fields(A a, B b, C c, D d, Rest... rest)
      : first{std::move(a), std::move(b), std::move(c)}, more{std::move(d), std::move(rest)...} {}
  template <class F> constexpr decltype(auto) apply(F&& f) const {
    return first.apply([&](const auto&... front) -> decltype(auto) {
      return more.apply([&](const auto&... back) -> decltype(auto) { return f(front..., back...); });
    });
  }
};

/// Operands multiplied and summed as `Rule::pattern` says.
template <class Rule, class... A> struct Product : Evaluates<Product<Rule, A...>> {
  static constexpr bool owns = (A::owns && ...);
  static constexpr bool has_reductions = true; // an operand may be read after the result has begun
  static constexpr bool shape_is_proven = (A::shape_type::is_static && ...);
  static constexpr DType dtype = first_type<A...>();
  static_assert(check_product<Rule, A...>());
  static constexpr LabelExtents known = known_extents<Rule, A...>;
  using rule = Rule;
  using value_type = scalar_t<dtype>;
  using device_type = typename CommonDevice<typename A::device_type...>::type;
  using shape_type = shape_t<result_extents(Rule::pattern, known)>;

  Fields<A...> operands;

  constexpr explicit Product(A... a) : operands{std::move(a)...} {}

  template <class F> void each_leaf(F& f) const { operands.each_leaf(f); }
  /// throws: ShapeError that names both extents
  [[nodiscard]] Dims shape() const { return result_extents(Rule::pattern, extents()); }
  [[nodiscard]] LabelExtents extents() const {
    return operands.apply([](const auto&... operand) {
      const Dims shapes[] = {operand.shape()...};
      const LabelExtents found = extents_of_labels(Rule::pattern, shapes);
      if (found.conflict >= 0) throw_extents(Rule::name(), Rule::pattern, found, shapes);
      return found;
    });
  }
  /// throws: DeviceError that names both devices
  [[nodiscard]] device_type device() const { return common_device<device_type>(Rule::name(), operands); }
};

template <class Rule, class... A> inline constexpr bool has_products<Product<Rule, A...>> = true;

template <class Rule, class... A> [[nodiscard]] auto owned(const Product<Rule, A...>& product) {
  return product.operands.apply(
      [](const auto&... operand) { return Product<Rule, decltype(owned(operand))...>(owned(operand)...); });
}

/// The first operand, which stands for a product that is refused, so that the refusal is the one error.
template <class First, class... Rest> [[nodiscard]] std::remove_cvref_t<First> first_of(First&& first, const Rest&...) {
  return std::forward<First>(first);
}

/// The product of operands of any kind by a rule.
template <class Rule, class... X> [[nodiscard]] auto product_node(X&&... x) {
  return Product<Rule, operand_t<DType::float32, X>...>(operand<DType::float32>(std::forward<X>(x))...);
}

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/product.ipp>
#endif
