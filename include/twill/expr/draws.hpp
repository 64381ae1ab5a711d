#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random draws from distributions: `uniform`, `normal`, `exponential`, `bernoulli`, `integers`, each one kernel in
// which a draw is a line like any other. An element is a pure function of seed, number of the draw and place, so it is
// equal on all device kinds and for any division of the work. float32 draws have 24 random bits, float64 draws 53, and
// 16-bit types as many as they hold: a uniform draw never rounds up to its upper end. Read next: expr/sampling.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/gather.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/node.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/symbol.hpp>
#include <twill/tensor/tensor.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The generator's lines for the draws of one element.
struct DrawLines {
  Code& code;
  Symbol seed;
  Symbol step;
  Symbol position;

  /// An int64 in [0, range); `node` tells several draws of one element apart.
  [[nodiscard]] constexpr Symbol integer(Symbol range, int node = 0) const {
    const Symbol number{code, code.number(DType::int64, static_cast<double>(std::int64_t{node} << 32))};
    const Symbol stream = step + number;
    return {code, code.step(Primitive::random_integer, DType::int64,
                            {seed.line(), stream.line(), range.line(), position.line()})};
  }
  /// A number in [0, 1) of which T holds every value.
  [[nodiscard]] constexpr Symbol uniform(DType type, int node = 0) const {
    if (type == DType::float64) {
      const Symbol range{code, code.number(DType::int64, 0x1p53)};
      return integer(range, node).to(DType::float64) * 0x1p-53;
    }
    const int number = code.number(DType::int64, node);
    const Symbol draw{code, code.step(Primitive::random_uniform, DType::float32,
                                      {seed.line(), step.line(), number, position.line()})};
    if (type == DType::float32) return draw;
    const double values = type == DType::float16 ? 0x1p11 : 0x1p8;
    return apply(Primitive::floor, draw * values) * (1 / values);
  }
};

/// Random elements: `F::emit(lines, parameters...)` computes each, the parameters are numbers of type P.
template <class F, class T, class D, class S, class P, int Parameters>
struct DrawNode : Evaluates<DrawNode<F, T, D, S, P, Parameters>> {
  using value_type = T;
  using device_type = D;
  using shape_type = S;
  static constexpr DType dtype = dtype_of<T>;
  static constexpr bool owns = true;
  static constexpr bool has_reductions = false;
  static constexpr bool shape_is_proven = S::is_static;
  static constexpr bool is_gather = true; // its places are not memory that could be copied

  RandomDraw draw;
  D where;
  Tensor<std::int64_t, D, S> places; ///< no memory: the strides count
  P parameters[Parameters > 0 ? Parameters : 1];

  static constexpr int lower(Code& code, const Frame&) {
    const Symbol seed{code, code.constant(DType::int64)};
    const Symbol step{code, code.constant(DType::int64)};
    const DrawLines lines{code, seed, step, Symbol{code, code.position()}};
    if constexpr (Parameters == 0) {
      return F::emit(lines).to(dtype).line();
    } else {
      const Symbol first{code, code.constant(dtype_of<P>)};
      const Symbol second{code, code.constant(dtype_of<P>)};
      return F::emit(lines, first, second).to(dtype).line();
    }
  }
  template <class V> void each_leaf(V& f) const {
    f(static_cast<std::int64_t>(draw.seed));
    f(std::int64_t{draw.step});
    f(places);
    for (int k = 0; k < Parameters; ++k) f(parameters[k]);
  }
  [[nodiscard]] Dims shape() const { return places.shape(); }
  [[nodiscard]] device_type device() const { return where; }
};

/// The next draw of a device with two parameters.
template <class F, class T, AnyShape S, class P, class D>
[[nodiscard]] auto drawn(const Dims& extents, const D& device, P first, P second) {
  static_assert(!ByteFloat<T>, "twill: floats of 8 bits are stored, not drawn; draw float and convert with to<T>()");
  using Node = DrawNode<F, T, D, S, P, 2>;
  using Places = Tensor<std::int64_t, D, S>;
  return Node{
      {}, generator(device).next(), device, Places({}, nullptr, extents, contiguous_strides(extents)), {first, second}};
}

/// The type in which the parameters of a distribution over T are computed.
template <class T> using parameter_t = std::conditional_t<std::is_same_v<T, double>, double, float>;

struct DrawUniform { // low + u (high - low), below high
  template <class L> static constexpr Symbol emit(const L& lines, Symbol width, Symbol low) {
    return lines.uniform(width.type()) * width + low;
  }
};
struct DrawUnit {
  template <class L> static constexpr Symbol emit(const L& lines, Symbol, Symbol) {
    return lines.uniform(DType::float32);
  }
};
struct DrawNormal { // mean + deviation sqrt(-2 log(1 - u)) cos(2 pi v)   (Box and Muller 1958); 1 - u is never 0
  template <class L> static constexpr Symbol emit(const L& lines, Symbol deviation, Symbol mean) {
    const DType type = deviation.type();
    const Symbol radius = sqrt(log(1.0 - lines.uniform(type, 0)) * -2.0);
    const Symbol angle = lines.uniform(type, 1) * (2 * std::numbers::pi);
    return radius * apply(Primitive::cos, angle) * deviation + mean;
  }
};
struct DrawExponential { // -scale log(1 - u)
  template <class L> static constexpr Symbol emit(const L& lines, Symbol scale, Symbol) {
    return -(log(1.0 - lines.uniform(scale.type())) * scale);
  }
};
struct DrawIntegers {
  template <class L> static constexpr Symbol emit(const L& lines, Symbol range, Symbol low) {
    return lines.integer(range) + low;
  }
};

/// The greatest value of T below an end, but at least the other one.
template <FloatingScalar T> [[nodiscard]] T value_below(double end, double low) {
  if (!(low < end)) return static_cast<T>(low);
  T value = static_cast<T>(end);
  if constexpr (NarrowFloat<T>) {
    if (static_cast<double>(static_cast<float>(value)) < end) return value;
    const auto bits = std::bit_cast<std::uint16_t>(value);
    constexpr std::uint16_t sign = 0x8000;
    if (bits == 0) return std::bit_cast<T>(static_cast<std::uint16_t>(sign + 1));
    return std::bit_cast<T>(static_cast<std::uint16_t>((bits & sign) == 0 ? bits - 1 : bits + 1));
  } else {
    return static_cast<double>(value) < end ? value : std::nextafter(value, static_cast<T>(low));
  }
}

void require_parameter(bool holds, const char* text, double found);

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Uniform in [low, high). throws: ValueError unless low <= high and both are finite
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> uniform(double low, double high, const Dims& extents,
                                      const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(std::isfinite(high - low) && low <= high,
                          "uniform: the upper end is finite and not below the lower; high - low is ", high - low);
  const P below = static_cast<P>(expr::value_below<T>(high, low));
  const auto draw =
      expr::drawn<expr::DrawUniform, P, S>(extents, device, static_cast<P>(high - low), static_cast<P>(low));
  return eval(cast<T>(minimum(draw, below)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> uniform(double low, double high,
                                                            const D& device = current_device<D>()) {
  return uniform<T, S, D>(low, high, S::dims(), device);
}

/// Normal with a mean and a standard deviation. throws: ValueError for a negative deviation
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> normal(double mean, double deviation, const Dims& extents,
                                     const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(deviation >= 0, "normal: the standard deviation is at least 0, and was ", deviation);
  return eval(expr::drawn<expr::DrawNormal, T, S>(extents, device, static_cast<P>(deviation), static_cast<P>(mean)));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> normal(double mean, double deviation,
                                                           const D& device = current_device<D>()) {
  return normal<T, S, D>(mean, deviation, S::dims(), device);
}

/// Exponential with a mean, NumPy's scale. throws: ValueError for a negative scale
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> exponential(double scale, const Dims& extents, const D& device = current_device<D>()) {
  using P = expr::parameter_t<T>;
  expr::require_parameter(scale >= 0, "exponential: the scale is at least 0, and was ", scale);
  return eval(expr::drawn<expr::DrawExponential, T, S>(extents, device, static_cast<P>(scale), P{}));
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> exponential(double scale, const D& device = current_device<D>()) {
  return exponential<T, S, D>(scale, S::dims(), device);
}

/// Integers in [low, high), equally likely up to 2^-64. throws: ValueError unless low < high and T holds both
template <Scalar T = std::int64_t, AnyShape S, Device D = Cpu>
requires(IntegerScalar<T>)
    [[nodiscard]] Tensor<T, D, S> integers(std::int64_t low, std::int64_t high, const Dims& extents,
                                           const D& device = current_device<D>()) {
  if (low >= high)
    throw ValueError("integers: there are none from " + std::to_string(low) + " to below " + std::to_string(high));
  if (!std::in_range<T>(low) || !std::in_range<T>(high - 1))
    throw ValueError("integers: " + std::to_string(low) + " to " + std::to_string(high) + " do not fit " +
                     std::string(name(dtype_of<T>)));
  const auto range = static_cast<std::int64_t>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
  return eval(expr::drawn<expr::DrawIntegers, T, S>(extents, device, range, low));
}
template <Scalar T = std::int64_t, AnyShape S, Device D = Cpu>
requires(IntegerScalar<T>&& S::is_static)
    [[nodiscard]] Tensor<T, D, S> integers(std::int64_t low, std::int64_t high, const D& device = current_device<D>()) {
  return integers<T, S, D>(low, high, S::dims(), device);
}
/// PyTorch's name of `integers`.
template <Scalar T = std::int64_t, AnyShape S, class... Rest>
[[nodiscard]] auto randint(std::int64_t low, std::int64_t high, const Rest&... rest) {
  return integers<T, S>(low, high, rest...);
}

/// True with a probability. throws: ValueError for a number that is not a probability
template <Scalar T = bool, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> bernoulli(double probability, const Dims& extents,
                                        const D& device = current_device<D>()) {
  expr::require_parameter(probability >= 0 && probability <= 1,
                          "bernoulli: a probability lies between 0 and 1, and was ", probability);
  return eval(cast<T>(expr::drawn<expr::DrawUnit, float, S>(extents, device, 0.F, 0.F) < probability));
}
template <Scalar T = bool, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> bernoulli(double probability,
                                                              const D& device = current_device<D>()) {
  return bernoulli<T, S, D>(probability, S::dims(), device);
}
/// One or zero for each probability of a tensor or an expression, in its element type, as in PyTorch.
template <TensorOperand X>
requires FloatingScalar<typename std::remove_cvref_t<X>::value_type>
[[nodiscard]] auto bernoulli(X&& probabilities) {
  using T = typename std::remove_cvref_t<X>::value_type;
  using S = typename std::remove_cvref_t<X>::shape_type;
  const auto source = expr::evaluated(std::forward<X>(probabilities));
  return eval(cast<T>(expr::drawn<expr::DrawUnit, float, S>(source.shape(), source.device(), 0.F, 0.F) < source));
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/draws.ipp>
#endif
