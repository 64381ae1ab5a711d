#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fully connected layers. The weight is (outputs, inputs) as in PyTorch, so state dictionaries agree.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/ops/biased_product.hpp>
#include <twill/ops/matmul.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Whether a layer adds a bias.
enum class Bias : bool { no, yes };

/// Options of a linear layer: bias and initial weights.
struct LinearOptions {
  Initialiser weight = initialise::layers_own(); ///< how the weight starts
  BiasOption bias = true;                        ///< one number for each output: whether, or how they start
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Whether arguments after x are those of a linear layer: outputs and a name, or a weight.
template <class... Arguments> inline constexpr bool are_of_linear = false;
template <class First, class... Rest>
inline constexpr bool are_of_linear<First, Rest...> = std::is_convertible_v<First, Value>;
template <class First, class Second, class... Rest>
inline constexpr bool are_of_linear<First, Second, Rest...> = std::is_convertible_v<First, Value> ||
                                                              (std::is_convertible_v<First, std::int64_t> &&
                                                               std::is_convertible_v<Second, std::string_view>);

/// Applies `product` to the rows of x: (..., inputs) is seen as (rows, inputs), the result as (..., outputs).
template <class F> [[nodiscard]] constexpr Value by_rows(Value x, CallSite site, const F& product) {
  const graph::Extents shape = x.shape();
  if (shape.rank == 2) return product(x);
  graph::Extents rows{};
  graph::Extent leading{};
  for (int axis = 0; axis + 1 < shape.rank; ++axis) leading = leading * shape[axis];
  rows.append(leading);
  rows.append(shape[shape.rank - 1]);
  const Value of_rows = product(graph::reshape(x, rows, site));
  graph::Extents result = shape;
  result[shape.rank - 1] = of_rows.shape()[1];
  return graph::reshape(of_rows, result, site);
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// y = x W^T for a weight (outputs, inputs) owned by the caller, for tied weights. x: (..., inputs), y: (..., outputs).
[[nodiscard]] TWILL_CONSTEXPR Value linear(Value x, Value weight, CallSite site = CallSite::here()) {
  return detail::by_rows(x, site,
                         [&](Value rows) { return graph::matmul(rows, graph::transpose(weight, site), site); });
}

/// y = x W^T + b for a weight (outputs, inputs) and a bias (outputs) owned by the caller.
[[nodiscard]] TWILL_CONSTEXPR Value linear(Value x, Value weight, Value bias, CallSite site = CallSite::here()) {
  if (!x.graph().suits_gpus) return linear(x, weight, site) + bias;
  return detail::by_rows(x, site, [&](Value rows) {
    return graph::biased_product(rows, graph::transpose(weight, site), bias, graph::Activation::none, site);
  });
}

/// y = x W^T + b. x: (..., inputs), y: (..., outputs). Weights start between ±1/sqrt(inputs), as in PyTorch, unless the
/// options say otherwise.
[[nodiscard]] TWILL_CONSTEXPR Value linear(Value x, std::int64_t outputs, std::string_view name, LinearOptions options,
                                           CallSite site = CallSite::here()) {
  const std::int64_t inputs = x.size(-1, site);
  const Scope scope{x.graph(), name, site};
  const Initialiser own = initialise::fan_in_uniform(static_cast<double>(inputs));
  const Value weight =
      parameter(x.graph(), "weight", {outputs, inputs}, initialise::chosen(options.weight, own), Trainable::yes, site);
  if (!options.bias.is_there) return linear(x, weight, site);
  return linear(
      x, weight,
      parameter(x.graph(), "bias", {outputs}, initialise::chosen(options.bias.start, own), Trainable::yes, site), site);
}
[[nodiscard]] TWILL_CONSTEXPR Value linear(Value x, std::int64_t outputs, std::string_view name, Bias bias = Bias::yes,
                                           CallSite site = CallSite::here()) {
  return linear(x, outputs, name, LinearOptions{.bias = bias == Bias::yes}, site);
}
/// Does not compile: arguments of another form, such as PyTorch's numbers of inputs and outputs.
template <class... Arguments>
requires(!detail::are_of_linear<Arguments...>) [[nodiscard]] constexpr Value linear(Value x, const Arguments&...) {
  static_assert(sizeof...(Arguments) > 99, "twill: nn::linear: x, the number of outputs, a name, then options: "
                                           "nn::linear(x, 10, \"output\"); the number of inputs is that of x");
  return x;
}

}}}} // namespace twill::v0::nn::TWILL_ISA
