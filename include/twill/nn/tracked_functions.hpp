#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic and functions of single elements on tracked values, beside tensors and numbers: each is one more stage, a
// program of its own with its gradient, as PyTorch's operations are. A longer formula is one stage by `nn::apply` of a
// lambda, or `nn::loss`. Read next: nn/network.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/graph/functions.hpp>
#include <twill/nn/tracked.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// What stands beside a tracked value: another one, a tensor or a number. Expressions are refused with a sentence.
template <class X>
concept BesideTracked = StageOperand<X> || std::is_arithmetic_v<X> || LazyValue<X>;
/// Operands of arithmetic, at least one of which is tracked.
template <class Y, class X>
concept StageWith = (AnyTracked<X> && BesideTracked<Y>) || (AnyTracked<Y> && BesideTracked<X>);

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The first tracked one among operands.
template <class First, class... Rest> const auto& first_tracked(const First& first, const Rest&... rest) {
  if constexpr (AnyTracked<First>)
    return first;
  else
    return first_tracked(rest...);
}

/// An operand of a stage among all of them: a number becomes a tensor of the element type of the tracked ones.
template <class X, class... All> decltype(auto) stage_operand(const X& x, const All&... all) {
  if constexpr (StageOperand<X>) {
    return (x);
  } else {
    const auto& beside = first_tracked(all...);
    using T = typename std::remove_cvref_t<decltype(beside)>::Value::value_type;
    static_assert(std::is_arithmetic_v<X>, "twill: beside a result of forward stand tensors and numbers; evaluate an "
                                           "expression first: const Tensor t = 2 * target;");
    if constexpr (std::is_arithmetic_v<X>)
      return scalar(static_cast<T>(x), beside.device());
    else
      return scalar(T{}, beside.device());
  }
}

/// A function of operands and numbers, at least one of which is tracked, as one more stage.
template <class F, class... X> [[nodiscard]] auto stage_of(F f, const X&... x) {
  return apply(f, stage_operand(x, x...)...);
}

/// The algebra of tracked results: each function is a stage of its own.
struct StageAlgebra {
  using Values = elementwise::Algebra<elementwise::ArgumentKind::value>; ///< what the stages are made of

  template <kernel::Primitive P, class X> static auto apply(const X& x) {
    return stage_of([](graph::Value v) { return Values::apply<P>(v); }, x);
  }
  template <kernel::Primitive P, class A, class B> static auto apply(const A& a, const B& b, CallSite) {
    return stage_of([](graph::Value x, graph::Value y) { return Values::apply<P>(x, y, CallSite{}); }, a, b);
  }
  template <kernel::Primitive P, class A, class B, class C>
  static auto apply(const A& a, const B& b, const C& c, CallSite) {
    return stage_of(
        [](graph::Value x, graph::Value y, graph::Value z) { return Values::apply<P>(x, y, z, CallSite{}); }, a, b, c);
  }
  template <class C, class A, class B> static auto choose(const C& condition, const A& a, const B& b, CallSite) {
    return stage_of([](graph::Value c, graph::Value x, graph::Value y) { return Values::choose(c, x, y, CallSite{}); },
                    condition, a, b);
  }
  template <DType To, class X> static auto convert(const X& x) {
    return stage_of([](graph::Value v) { return Values::convert<To>(v); }, x);
  }
  template <class X> static auto floating(const X& x) {
    return stage_of([](graph::Value v) { return Values::floating(v); }, x);
  }
  template <class F, class... X> static auto compose(const X&... x) {
    return stage_of([](auto... v) { return Values::compose<F>(v...); }, x...);
  }
  template <class F, class X, class... P> static auto compose_with(const X& x, P... parameters) {
    return stage_of([](auto... v) { return Values::compose_with<F>(v...); }, x, parameters...);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

// Stages with names, on tracked values.
/// The mean of all elements, tracked.
template <AnyTracked X> [[nodiscard]] auto mean(const X& x) {
  return apply([](graph::Value v) { return graph::mean(v); }, x);
}
/// The sum of all elements, tracked.
template <AnyTracked X> [[nodiscard]] auto sum(const X& x) {
  return apply([](graph::Value v) { return graph::sum(v); }, x);
}
/// The sum, element by element, tracked; shapes broadcast.
template <class X, StageWith<X> Y> [[nodiscard]] auto operator+(const X& x, const Y& y) {
  return detail::stage_of([](graph::Value a, graph::Value b) { return a + b; }, x, y);
}
/// The difference, element by element, tracked; shapes broadcast.
template <class X, StageWith<X> Y> [[nodiscard]] auto operator-(const X& x, const Y& y) {
  return detail::stage_of([](graph::Value a, graph::Value b) { return a - b; }, x, y);
}
/// The product, element by element, tracked; shapes broadcast. A number weighs one of several losses: `loss + 0.5 *
/// penalty`.
template <class X, StageWith<X> Y> [[nodiscard]] auto operator*(const X& x, const Y& y) {
  return detail::stage_of([](graph::Value a, graph::Value b) { return a * b; }, x, y);
}
/// The quotient, element by element, tracked; shapes broadcast.
template <class X, StageWith<X> Y> [[nodiscard]] auto operator/(const X& x, const Y& y) {
  return detail::stage_of([](graph::Value a, graph::Value b) { return a / b; }, x, y);
}
/// Prints the tensor, as `value()` is printed; <twill/tensor/print.hpp> says how.
template <class Stream, AnyTracked X>
requires requires(Stream& stream) { stream.rdbuf(); }
Stream& operator<<(Stream& stream, const X& x) {
  stream << x.value();
  return stream;
}
/// Tracked with the other sign.
template <AnyTracked X> [[nodiscard]] auto operator-(const X& x) {
  return apply([](graph::Value a) { return -a; }, x);
}

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace elementwise { inline namespace TWILL_ISA {
template <> struct Algebra<ArgumentKind::tracked> : nn::detail::StageAlgebra {};
template <> struct Algebra<ArgumentKind::tracked_and_tensor> : nn::detail::StageAlgebra {};
}}}} // namespace twill::v0::elementwise::TWILL_ISA
