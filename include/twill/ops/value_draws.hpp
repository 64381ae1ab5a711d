#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random draws from distributions in models, under the names of those of tensors. Each is a formula of standard noise
// made of graph/random.hpp's draws, y = location + scale * noise, so that gradients flow to the parameters
// (reparametrisation; Kingma and Welling, "Auto-encoding variational Bayes", 2014), `vmap` draws other numbers for each
// example, and many devices draw the numbers of one: the first axis is the one along which a batch may be split. Noise
// has 24 random bits. Not in twill.hpp. Read next: graph/random.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/functions.hpp>
#include <twill/graph/random.hpp>
#include <twill/graph/shape_functions.hpp>

#include <numbers>

namespace twill { inline namespace v0 { namespace graph { namespace detail { inline namespace TWILL_ISA {

/// Both parameters of a distribution in their common floating type and shape.
struct LawParameters {
  Value location{};
  Value scale{};
};

[[nodiscard]] TWILL_CONSTEXPR LawParameters ends_of_range(const Term& low, const Term& high) {
  const Pair both = aligned(low, high, floating_type(common_dtype(low, high)));
  return {both.left, both.right};
}
/// Refuses a number below 0 as scale; a value is not known before it is computed.
[[nodiscard]] TWILL_CONSTEXPR LawParameters law_parameters(const Term& location, const Term& scale) {
  const LawParameters law = ends_of_range(location, scale);
  if (scale.is_number && !(scale.number >= 0))
    law.location.graph().refuse(Problem::scale_of_a_distribution_is_negative, shown_as_integer(scale.number), 0,
                                location.site);
  return law;
}

/// Uniform draws in the shape of a value: float64 for values of float64, else float32, where 1 - u is never 0.
[[nodiscard]] TWILL_CONSTEXPR Value uniform_noise(Value like) {
  return cast(random_uniform(like.graph(), like.shape()),
              like.dtype() == DType::float64 ? like.dtype() : DType::float32);
}
[[nodiscard]] TWILL_CONSTEXPR Value exponential_noise(Value like) { return -log(1.0 - uniform_noise(like)); }

/// sqrt(-2 log(1 - u)) cos(2 pi v)   (Box and Muller, 1958)
[[nodiscard]] TWILL_CONSTEXPR Value normal_of_uniform(Value u, Value v) {
  return sqrt(log(1.0 - u) * -2.0) * cos(v * (2 * std::numbers::pi));
}
[[nodiscard]] TWILL_CONSTEXPR Value normal_noise(Value like) {
  const Value u = uniform_noise(like);
  return normal_of_uniform(u, uniform_noise(like));
}

/// location + scale * noise
[[nodiscard]] TWILL_CONSTEXPR Value scaled_noise(const LawParameters& law, Value noise) {
  return law.location + law.scale * cast(noise, law.scale.dtype());
}

[[nodiscard]] TWILL_CONSTEXPR Value normal_of(const LawParameters& law) {
  return law.scale.graph().fault.any() ? law.scale : scaled_noise(law, normal_noise(law.scale));
}
[[nodiscard]] TWILL_CONSTEXPR Value laplace_of(const LawParameters& law) {
  if (law.scale.graph().fault.any()) return law.scale;
  const Value up = exponential_noise(law.scale);
  return scaled_noise(law, up - exponential_noise(law.scale));
}
[[nodiscard]] TWILL_CONSTEXPR Value gumbel_of(const LawParameters& law) {
  if (law.scale.graph().fault.any()) return law.scale;
  return scaled_noise(law, -log(maximum(exponential_noise(law.scale), 0x1p-25))); // a uniform 0 stands for half a step
}
[[nodiscard]] TWILL_CONSTEXPR Value cauchy_of(const LawParameters& law) {
  if (law.scale.graph().fault.any()) return law.scale;
  return scaled_noise(law, tan(uniform_noise(law.scale) * std::numbers::pi));
}
[[nodiscard]] TWILL_CONSTEXPR Value uniform_of(const LawParameters& ends) {
  if (ends.scale.graph().fault.any()) return ends.scale;
  return scaled_noise({ends.location, ends.scale - ends.location}, uniform_noise(ends.scale));
}

}}}}} // namespace twill::v0::graph::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Standard normal float32 numbers. The first axis is the one along which a batch may be split.
[[nodiscard]] TWILL_CONSTEXPR Value random_normal(Graph& graph, const Extents& shape) {
  const Value u = random_uniform(graph, shape);
  return detail::normal_of_uniform(u, random_uniform(graph, shape));
}
/// Uniform numbers in [0, 1) in the floating type and shape of x, with PyTorch's name; types of 16 bits have as many
/// random bits as they hold. No gradient flows to x.
[[nodiscard]] TWILL_CONSTEXPR Value rand_like(Value x) {
  const DType dtype = floating_type(x.dtype());
  const Value noise = detail::uniform_noise(x);
  if (dtype == DType::float32 || dtype == DType::float64) return noise;
  const double values = dtype == DType::float16 ? 0x1p11 : 0x1p8;
  return cast(floor(noise * values) * (1 / values), dtype);
}
/// Standard normal numbers in the floating type and shape of x: `mean + exp(0.5 * log_variance) * randn_like(mean)`.
[[nodiscard]] TWILL_CONSTEXPR Value randn_like(Value x) {
  return cast(detail::normal_noise(x), floating_type(x.dtype()));
}

/// Uniform between two ends, which broadcast; in their floating type, whose rounding may reach the upper end.
[[nodiscard]] TWILL_CONSTEXPR Value uniform(Value low, const Term& high, CallSite site = CallSite::here()) {
  return detail::uniform_of(detail::ends_of_range({low, site}, high));
}
[[nodiscard]] TWILL_CONSTEXPR Value uniform(double low, Value high, CallSite site = CallSite::here()) {
  return detail::uniform_of(detail::ends_of_range({low, site}, {high, site}));
}
/// Normal with means and standard deviations, which broadcast, as PyTorch's `Normal(mean, deviation).rsample()`.
/// errors: a number below 0 as deviation, as of the laws below
[[nodiscard]] TWILL_CONSTEXPR Value normal(Value mean, const Term& deviation, CallSite site = CallSite::here()) {
  return detail::normal_of(detail::law_parameters({mean, site}, deviation));
}
[[nodiscard]] TWILL_CONSTEXPR Value normal(double mean, Value deviation, CallSite site = CallSite::here()) {
  return detail::normal_of(detail::law_parameters({mean, site}, {deviation, site}));
}
/// Log-normal: the logarithm is normal with this mean and deviation.
[[nodiscard]] TWILL_CONSTEXPR Value log_normal(Value mean, const Term& deviation, CallSite site = CallSite::here()) {
  return exp(normal(mean, deviation, site));
}
[[nodiscard]] TWILL_CONSTEXPR Value log_normal(double mean, Value deviation, CallSite site = CallSite::here()) {
  return exp(normal(mean, deviation, site));
}
/// Laplace with a location and a scale: density exp(-|x - location| / scale) / (2 scale).
[[nodiscard]] TWILL_CONSTEXPR Value laplace(Value location, const Term& scale, CallSite site = CallSite::here()) {
  return detail::laplace_of(detail::law_parameters({location, site}, scale));
}
[[nodiscard]] TWILL_CONSTEXPR Value laplace(double location, Value scale, CallSite site = CallSite::here()) {
  return detail::laplace_of(detail::law_parameters({location, site}, {scale, site}));
}
/// Gumbel with a location and a scale: argmax of `gumbel(logits, 1)` is a draw of a class, and its softmax a relaxed
/// one (Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017).
[[nodiscard]] TWILL_CONSTEXPR Value gumbel(Value location, const Term& scale, CallSite site = CallSite::here()) {
  return detail::gumbel_of(detail::law_parameters({location, site}, scale));
}
[[nodiscard]] TWILL_CONSTEXPR Value gumbel(double location, Value scale, CallSite site = CallSite::here()) {
  return detail::gumbel_of(detail::law_parameters({location, site}, {scale, site}));
}
/// Cauchy with a median and a scale.
[[nodiscard]] TWILL_CONSTEXPR Value cauchy(Value median, const Term& scale, CallSite site = CallSite::here()) {
  return detail::cauchy_of(detail::law_parameters({median, site}, scale));
}
[[nodiscard]] TWILL_CONSTEXPR Value cauchy(double median, Value scale, CallSite site = CallSite::here()) {
  return detail::cauchy_of(detail::law_parameters({median, site}, {scale, site}));
}
/// Exponential with a mean for each element, NumPy's scale.
[[nodiscard]] TWILL_CONSTEXPR Value exponential(Value scale) {
  const Value wide = cast(scale, floating_type(scale.dtype()));
  return wide * cast(detail::exponential_noise(wide), wide.dtype());
}
/// One or zero with a probability for each element, in its floating type. It is a step: no gradient flows through it.
[[nodiscard]] TWILL_CONSTEXPR Value bernoulli(Value probability) {
  const Value noise = detail::uniform_noise(probability);
  return cast(noise < cast(probability, noise.dtype()), floating_type(probability.dtype()));
}

}}}} // namespace twill::v0::graph::TWILL_ISA
