#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random draws from further distributions. `laplace`, `gumbel`, `cauchy` and `log_normal` are formulas of uniform
// numbers, one kernel each; `gamma`, `beta`, `dirichlet`, `poisson` and `truncated_normal` take as many numbers as
// rejection needs, element by element in float64. An element is a function of seed, number of the draw and place.
// Read next: kernel/distributions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/expr/draws.hpp>
#include <twill/expr/normalise.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/kernel/distributions.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/kernel/walk.hpp>
#include <twill/tensor/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

struct DrawLaplace { // the difference of two exponential numbers
  template <class L> static constexpr Symbol emit(const L& lines, Symbol scale, Symbol location) {
    const DType type = scale.type();
    return (log(1.0 - lines.uniform(type, 0)) - log(1.0 - lines.uniform(type, 1))) * scale + location;
  }
};
struct DrawGumbel { // location - scale log(e), e an exponential number; a uniform 0 stands for half a step
  template <class L> static constexpr Symbol emit(const L& lines, Symbol scale, Symbol location) {
    const DType type = scale.type();
    const double half_step = type == DType::float64 ? 0x1p-54 : 0x1p-25;
    return location - log(maximum(-log(1.0 - lines.uniform(type)), half_step)) * scale;
  }
};
struct DrawCauchy { // location + scale tan(pi u)
  template <class L> static constexpr Symbol emit(const L& lines, Symbol scale, Symbol location) {
    return tan(lines.uniform(scale.type()) * std::numbers::pi) * scale + location;
  }
};
struct DrawLogNormal {
  template <class L> static constexpr Symbol emit(const L& lines, Symbol deviation, Symbol mean) {
    return exp(DrawNormal::emit(lines, deviation, mean));
  }
};

/// A parameter of a law: a number for all elements, or one for each.
template <class P> struct LawParameter {
  double number = 0;
  const P* values = nullptr;
  [[nodiscard]] constexpr double at(std::int64_t i) const {
    return values != nullptr ? static_cast<double>(values[i]) : number;
  }
};
template <class P> struct GammaLaw {
  LawParameter<P> shape{};
  double scale = 1;
  constexpr double operator()(kernel::ElementDraws& draws, std::int64_t i) const {
    return std::exp(kernel::draw_log_gamma(draws, shape.at(i))) * scale;
  }
};
template <class P> struct LogGammaLaw {
  LawParameter<P> shape{};
  std::int64_t repeats = 0; ///< elements of `values`, which begin again where they end
  constexpr double operator()(kernel::ElementDraws& draws, std::int64_t i) const {
    return kernel::draw_log_gamma(draws, shape.at(repeats > 0 ? i % repeats : i));
  }
};
struct BetaLaw {
  double a = 1;
  double b = 1;
  constexpr double operator()(kernel::ElementDraws& draws, std::int64_t) const {
    const double first = kernel::draw_log_gamma(draws, a), second = kernel::draw_log_gamma(draws, b);
    return first < second ? std::exp(first - second) / (1 + std::exp(first - second))
                          : 1 / (1 + std::exp(second - first));
  }
};
template <class P> struct PoissonLaw {
  LawParameter<P> rate{};
  constexpr double operator()(kernel::ElementDraws& draws, std::int64_t i) const {
    return kernel::draw_poisson(draws, rate.at(i));
  }
};
struct TruncatedNormalLaw {
  double mean = 0, deviation = 1;
  double low = 0, high = 0; ///< of the standard normal number
  constexpr double operator()(kernel::ElementDraws& draws, std::int64_t) const {
    return mean + deviation * kernel::draw_truncated_normal(draws, low, high);
  }
};

/// New elements by a law, on any kind of device.
template <class T, class S, class D, class Law>
[[nodiscard]] Tensor<T, D, S> drawn_by(const Law& law, const Dims& extents, const D& device) {
  const Tensor<T, D, S> result(device, extents);
  const std::int64_t count = result.elements();
  const RandomDraw draw = generator(device).next();
  if constexpr (kernel::has_queue<D>)
    kernel::gpu::draw_elements(device, result.data(), count, draw, law);
  else
    launch(device, [law, count, draw, to = result.data()](const auto& team) {
      team.parallel([&](int rank, int size) {
        const kernel::Share mine = kernel::share_of(count, 1, rank, size);
        for (std::int64_t i = mine.begin; i < mine.end; ++i) {
          kernel::ElementDraws draws{draw.seed, draw.step, static_cast<std::uint64_t>(i)};
          to[i] = static_cast<T>(law(draws, i));
        }
      });
    });
  return result;
}

/// Refuses parameters of elements that are not above (or, `or_equal`, at) zero or not finite.
template <class X> void require_parameters(const X& values, bool or_equal, const char* text) {
  if constexpr (X::device_type::has_memory) {
    if (values.elements() == 0) return;
    const auto least = static_cast<double>(min(values).item()), greatest = static_cast<double>(max(values).item());
    require_parameter(or_equal ? least >= 0 : least > 0, text, least);
    require_parameter(std::isfinite(greatest), text, greatest);
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Laplace with a location and a scale: density exp(-|x - location| / scale) / (2 scale).
/// throws: ValueError for a negative scale
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> laplace(double location, double scale, const Dims& extents,
                                      const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(scale >= 0, "laplace: the scale is at least 0, and was ", scale);
  return eval(expr::drawn<expr::DrawLaplace, T, S>(extents, device, static_cast<P>(scale), static_cast<P>(location)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> laplace(double location, double scale,
                                                            const D& device = current_device<D>()) {
  return laplace<T, S, D>(location, scale, S::dims(), device);
}

/// Gumbel with a location and a scale, the limit of greatest values. throws: ValueError for a negative scale
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> gumbel(double location, double scale, const Dims& extents,
                                     const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(scale >= 0, "gumbel: the scale is at least 0, and was ", scale);
  return eval(expr::drawn<expr::DrawGumbel, T, S>(extents, device, static_cast<P>(scale), static_cast<P>(location)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> gumbel(double location, double scale,
                                                           const D& device = current_device<D>()) {
  return gumbel<T, S, D>(location, scale, S::dims(), device);
}

/// Cauchy with a median and a scale. throws: ValueError for a negative scale
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> cauchy(double median, double scale, const Dims& extents,
                                     const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(scale >= 0, "cauchy: the scale is at least 0, and was ", scale);
  return eval(expr::drawn<expr::DrawCauchy, T, S>(extents, device, static_cast<P>(scale), static_cast<P>(median)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> cauchy(double median, double scale,
                                                           const D& device = current_device<D>()) {
  return cauchy<T, S, D>(median, scale, S::dims(), device);
}

/// Log-normal: its logarithm is normal with this mean and deviation. throws: ValueError for a negative deviation
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> log_normal(double mean, double deviation, const Dims& extents,
                                         const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(deviation >= 0, "log_normal: the standard deviation is at least 0, and was ", deviation);
  return eval(expr::drawn<expr::DrawLogNormal, T, S>(extents, device, static_cast<P>(deviation), static_cast<P>(mean)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> log_normal(double mean, double deviation,
                                                               const D& device = current_device<D>()) {
  return log_normal<T, S, D>(mean, deviation, S::dims(), device);
}

/// Normal with a mean and a deviation, between two bounds, which may be infinite.
/// throws: ValueError unless low < high and the deviation is positive
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> truncated_normal(double mean, double deviation, double low, double high,
                                               const Dims& extents, const D& device = current_device<D>()) {
  expr::require_parameter(deviation > 0 && std::isfinite(deviation),
                          "truncated_normal: the standard deviation is positive, and was ", deviation);
  expr::require_parameter(low < high, "truncated_normal: the upper bound is above the lower; high - low is ",
                          high - low);
  const expr::TruncatedNormalLaw law{mean, deviation, (low - mean) / deviation, (high - mean) / deviation};
  return expr::drawn_by<T, S>(law, extents, device);
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S>
truncated_normal(double mean, double deviation, double low, double high, const D& device = current_device<D>()) {
  return truncated_normal<T, S, D>(mean, deviation, low, high, S::dims(), device);
}

/// Gamma with a shape and a scale: mean shape * scale. throws: ValueError unless both are positive and finite
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> gamma(double shape, double scale, const Dims& extents,
                                    const D& device = current_device<D>()) {
  expr::require_parameter(shape > 0 && std::isfinite(shape), "gamma: the shape is positive and finite, and was ",
                          shape);
  expr::require_parameter(scale > 0 && std::isfinite(scale), "gamma: the scale is positive and finite, and was ",
                          scale);
  return expr::drawn_by<T, S>(expr::GammaLaw<double>{{shape}, scale}, extents, device);
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> gamma(double shape, double scale,
                                                          const D& device = current_device<D>()) {
  return gamma<T, S, D>(shape, scale, S::dims(), device);
}
/// Gamma with scale 1 and a shape for each element of a tensor or an expression, in its element type.
/// throws: ValueError unless all are positive and finite
template <TensorOperand X>
requires FloatingScalar<typename std::remove_cvref_t<X>::value_type>
[[nodiscard]] auto gamma(X&& shapes) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using S = typename std::remove_cvref_t<X>::shape_type;
  const auto given = expr::evaluated(std::forward<X>(shapes)).contiguous();
  expr::require_parameters(given, false, "gamma: shapes are positive and finite; one was ");
  return expr::drawn_by<T, S>(expr::GammaLaw<T>{{0, given.data()}}, given.shape(), given.device());
}

/// Beta with two shapes, between 0 and 1: mean a / (a + b). throws: ValueError unless both are positive and finite
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> beta(double a, double b, const Dims& extents, const D& device = current_device<D>()) {
  expr::require_parameter(a > 0 && std::isfinite(a), "beta: the first shape is positive and finite, and was ", a);
  expr::require_parameter(b > 0 && std::isfinite(b), "beta: the second shape is positive and finite, and was ", b);
  return expr::drawn_by<T, S>(expr::BetaLaw{a, b}, extents, device);
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> beta(double a, double b, const D& device = current_device<D>()) {
  return beta<T, S, D>(a, b, S::dims(), device);
}

/// Dirichlet: rows [count, n] of positive numbers with the sum 1, for n concentrations. Computed in float64 from the
/// logarithms of gamma numbers, so that small concentrations give no 0 / 0.
/// throws: ValueError unless all are positive and finite
template <TensorOperand X>
requires(FloatingScalar<typename std::remove_cvref_t<X>::value_type>&& std::remove_cvref_t<X>::shape_type::rank == 1)
    [[nodiscard]] auto dirichlet(X&& concentrations, std::int64_t count) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using S = typename std::remove_cvref_t<X>::shape_type;
  const auto given = expr::evaluated(std::forward<X>(concentrations)).contiguous();
  expr::require_parameters(given, false, "dirichlet: concentrations are positive and finite; one was ");
  expr::require_parameter(count >= 0, "dirichlet: the count is at least 0, and was ", static_cast<double>(count));
  const std::int64_t n = given.size(0);
  const auto logarithms = expr::drawn_by<double, Shape<dyn, S::extents[0]>>(expr::LogGammaLaw<T>{{0, given.data()}, n},
                                                                            Dims(count, n), given.device());
  return eval(cast<T>(softmax<1>(logarithms)));
}

/// Poisson with a mean: whole numbers, also in a floating-point type.
/// throws: ValueError for a negative or infinite mean
template <Scalar T = std::int64_t, AnyShape S, Device D = Cpu>
requires(!std::same_as<T, bool>)
    [[nodiscard]] Tensor<T, D, S> poisson(double mean, const Dims& extents, const D& device = current_device<D>()) {
  expr::require_parameter(mean >= 0 && std::isfinite(mean), "poisson: the mean is finite and at least 0, and was ",
                          mean);
  return expr::drawn_by<T, S>(expr::PoissonLaw<double>{{mean}}, extents, device);
}
template <Scalar T = std::int64_t, AnyShape S, Device D = Cpu>
requires(!std::same_as<T, bool> && S::is_static)
    [[nodiscard]] Tensor<T, D, S> poisson(double mean, const D& device = current_device<D>()) {
  return poisson<T, S, D>(mean, S::dims(), device);
}
/// Poisson with a mean for each element of a tensor or an expression, in its element type, as in PyTorch.
/// throws: ValueError for a negative or infinite mean
template <TensorOperand X>
requires FloatingScalar<typename std::remove_cvref_t<X>::value_type>
[[nodiscard]] auto poisson(X&& means) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using S = typename std::remove_cvref_t<X>::shape_type;
  const auto given = expr::evaluated(std::forward<X>(means)).contiguous();
  expr::require_parameters(given, true, "poisson: means are finite and at least 0; one was ");
  return expr::drawn_by<T, S>(expr::PoissonLaw<T>{{0, given.data()}}, given.shape(), given.device());
}

}}} // namespace twill::v0::TWILL_ISA
