#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random tensors. Element i is a pure function of the device's seed, the number of the draw and i, so equal seeds give
// equal numbers on every device kind and for any division of the work. float32 draws have 24 random bits, float64 draws
// 53, the 16-bit types all bits that they hold. Read next: device/generator.hpp, expr/draws.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <numbers>
#include <type_traits>

namespace twill { inline namespace v0 { namespace detail { inline namespace TWILL_ISA {

using Number = kernel::Immediate<std::int64_t>;

// u * 2^k rounded down, as the 16-bit types hold it: nothing rounds up to 1
template <Scalar T> struct UniformProgram {
  template <kernel::Primitive P, int... Arguments> using Step = kernel::Step<P, Arguments...>;
  using P = kernel::Primitive;
  using type =
      kernel::Program<Number, Number, Number, kernel::Iota, Step<P::random_uniform, 0, 1, 2, 3>,
                      kernel::Immediate<float>, Step<P::multiply, 4, 5>, Step<P::floor, 6>, kernel::Immediate<float>,
                      Step<P::multiply, 7, 8>, kernel::Cast<T, 9>, kernel::Out<T, 10>>;
  static std::array<kernel::Operand, 7> operands(RandomDraw draw, void* to) {
    constexpr float values = std::is_same_v<T, half> ? 0x1p11F : 0x1p8F;
    return {immediate_operand(draw.seed),       immediate_operand(std::int64_t{draw.step}),
            immediate_operand(std::int64_t{0}), counting_operand(),
            immediate_operand(values),          immediate_operand(1 / values),
            memory_operand(to, Dims(1))};
  }
};
template <> struct UniformProgram<float> {
  using type = kernel::Program<Number, Number, Number, kernel::Iota,
                               kernel::Step<kernel::Primitive::random_uniform, 0, 1, 2, 3>, kernel::Out<float, 4>>;
  static std::array<kernel::Operand, 5> operands(RandomDraw draw, void* to) {
    return {immediate_operand(draw.seed), immediate_operand(std::int64_t{draw.step}),
            immediate_operand(std::int64_t{0}), counting_operand(), memory_operand(to, Dims(1))};
  }
};
template <> struct UniformProgram<double> {
  using type =
      kernel::Program<Number, Number, Number, kernel::Iota, kernel::Step<kernel::Primitive::random_integer, 0, 1, 2, 3>,
                      kernel::Cast<double, 4>, kernel::Immediate<double>,
                      kernel::Step<kernel::Primitive::multiply, 5, 6>, kernel::Out<double, 7>>;
  static std::array<kernel::Operand, 6> operands(RandomDraw draw, void* to) {
    return {immediate_operand(draw.seed),
            immediate_operand(std::int64_t{draw.step}),
            immediate_operand(std::int64_t{1} << 53),
            counting_operand(),
            immediate_operand(0x1p-53),
            memory_operand(to, Dims(1))};
  }
};

// sqrt(-2 log(1 - u)) cos(2 pi v)   (Box and Muller 1958); 1 - u is never 0
template <Scalar T> struct NormalProgram {
  template <kernel::Primitive P, int... Arguments> using Step = kernel::Step<P, Arguments...>;
  using P = kernel::Primitive;
  using Constant = kernel::Immediate<float>;
  using type = kernel::Program<Number, Number, Number, Number, kernel::Iota, // seed, step, nodes, index
                               Step<P::random_uniform, 0, 1, 2, 4>, Step<P::random_uniform, 0, 1, 3, 4>, Constant,
                               Step<P::subtract, 7, 5>, Step<P::log, 8>,              // 1
                               Constant, Step<P::multiply, 10, 9>, Step<P::sqrt, 11>, // -2
                               Constant, Step<P::multiply, 13, 6>, Step<P::cos, 14>,  // 2 pi
                               Step<P::multiply, 12, 15>, kernel::Cast<T, 16>, kernel::Out<T, 17>>;
  static std::array<kernel::Operand, 9> operands(RandomDraw draw, void* to) {
    return {immediate_operand(draw.seed),
            immediate_operand(std::int64_t{draw.step}),
            immediate_operand(std::int64_t{0}),
            immediate_operand(std::int64_t{1}),
            counting_operand(),
            immediate_operand(1.0F),
            immediate_operand(-2.0F),
            immediate_operand(2.0F * std::numbers::pi_v<float>),
            memory_operand(to, Dims(1))};
  }
};
template <> struct NormalProgram<double> {
  template <kernel::Primitive P, int... Arguments> using Step = kernel::Step<P, Arguments...>;
  using P = kernel::Primitive;
  using Constant = kernel::Immediate<double>;
  using type =
      kernel::Program<Number, Number, Number, Number, kernel::Iota, // seed, two streams, range, index
                      Step<P::random_integer, 0, 1, 3, 4>, Step<P::random_integer, 0, 2, 3, 4>, kernel::Cast<double, 5>,
                      kernel::Cast<double, 6>, Constant,                          // 2^-53
                      Step<P::multiply, 7, 9>, Step<P::multiply, 8, 9>, Constant, // 1
                      Step<P::subtract, 12, 10>, Step<P::log, 13>, Constant,      // -2
                      Step<P::multiply, 15, 14>, Step<P::sqrt, 16>, Constant,     // 2 pi
                      Step<P::multiply, 18, 11>, Step<P::cos, 19>, Step<P::multiply, 17, 20>, kernel::Out<double, 21>>;
  static std::array<kernel::Operand, 10> operands(RandomDraw draw, void* to) {
    return {immediate_operand(draw.seed),
            immediate_operand(std::int64_t{draw.step}),
            immediate_operand(std::int64_t{draw.step} + (std::int64_t{1} << 32)),
            immediate_operand(std::int64_t{1} << 53),
            counting_operand(),
            immediate_operand(0x1p-53),
            immediate_operand(1.0),
            immediate_operand(-2.0),
            immediate_operand(2.0 * std::numbers::pi),
            memory_operand(to, Dims(1))};
  }
};

/// A new tensor that such a program fills with the next draw of its device.
template <template <Scalar> class Of, Scalar T, AnyShape S, Device D>
[[nodiscard]] Tensor<T, D, S> drawn(const Dims& extents, const D& device) {
  static_assert(!ByteFloat<T>, "twill: floats of 8 bits are stored, not drawn; draw float and convert with to<T>()");
  Tensor<T, D, S> result(device, extents);
  const RandomDraw draw = generator(device).next();
  if (result.elements() == 0) return result;
  const auto operands = Of<T>::operands(draw, result.data());
  kernel::launch(typename Of<T>::type{}, device, kernel::Grid(result.elements()), operands.data());
  return result;
}

}}}} // namespace twill::v0::detail::TWILL_ISA

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
TWILL_INSTANCE template struct TableOf<twill::detail::UniformProgram<float>::type>;
TWILL_INSTANCE template struct TableOf<twill::detail::NormalProgram<float>::type>;
}}}} // namespace twill::v0::kernel::TWILL_ISA
#endif

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Uniform in [0, 1).
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> rand(const Dims& extents, const D& device = current_device<D>()) {
  return detail::drawn<detail::UniformProgram, T, S>(extents, device);
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> rand(const D& device = current_device<D>()) {
  return rand<T, S, D>(S::dims(), device);
}

/// Normal with mean 0 and variance 1.
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> randn(const Dims& extents, const D& device = current_device<D>()) {
  return detail::drawn<detail::NormalProgram, T, S>(extents, device);
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> randn(const D& device = current_device<D>()) {
  return randn<T, S, D>(S::dims(), device);
}

}}} // namespace twill::v0::TWILL_ISA
