#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random tensors. Element i is a pure function of the device's seed, the number of the draw and i, so equal seeds give
// equal numbers on every device kind and for any division of the work. The draws are float32: a double holds the same
// numbers. Read next: device/generator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/sequence.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <numbers>

namespace twill::inline v0::detail::inline TWILL_ISA {

template <Scalar T> struct UniformProgram {
  using type =
      kernel::Program<kernel::Immediate<std::int64_t>, kernel::Immediate<std::int64_t>, kernel::Immediate<std::int64_t>,
                      kernel::Iota, kernel::Step<kernel::Primitive::random_uniform, 0, 1, 2, 3>, kernel::Cast<T, 4>,
                      kernel::Out<T, 5>>;
};

// sqrt(-2 log(1 - u)) cos(2 pi v)   (Box and Muller 1958); 1 - u is never 0
template <Scalar T> struct NormalProgram {
  template <kernel::Primitive P, int... Arguments> using Step = kernel::Step<P, Arguments...>;
  using P = kernel::Primitive;
  using Number = kernel::Immediate<std::int64_t>;
  using Constant = kernel::Immediate<float>;
  using type = kernel::Program<Number, Number, Number, Number, kernel::Iota, // seed, step, nodes, index
                               Step<P::random_uniform, 0, 1, 2, 4>, Step<P::random_uniform, 0, 1, 3, 4>, Constant,
                               Step<P::subtract, 7, 5>, Step<P::log, 8>,              // 1
                               Constant, Step<P::multiply, 10, 9>, Step<P::sqrt, 11>, // -2
                               Constant, Step<P::multiply, 13, 6>, Step<P::cos, 14>,  // 2 pi
                               Step<P::multiply, 12, 15>, kernel::Cast<T, 16>, kernel::Out<T, 17>>;
};

} // namespace twill::inline v0::detail::inline TWILL_ISA

namespace twill::inline v0::inline TWILL_ISA {

/// Uniform in [0, 1).
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> rand(const Dims& extents, const D& device = current_device<D>()) {
  Tensor<T, D, S> result(device, extents);
  const Draw draw = generator(device).next();
  const std::int64_t elements = result.elements();
  if (elements == 0) return result;
  const std::array operands{detail::immediate_operand(draw.seed), detail::immediate_operand(std::int64_t{draw.step}),
                            detail::immediate_operand(std::int64_t{0}), detail::counting_operand(),
                            detail::memory_operand(result.data(), Dims(1))};
  kernel::launch(typename detail::UniformProgram<T>::type{}, device, kernel::Grid(elements), operands.data());
  return result;
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> rand(const D& device = current_device<D>()) {
  return rand<T, S, D>(S::dims(), device);
}

/// Normal with mean 0 and variance 1.
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
[[nodiscard]] Tensor<T, D, S> randn(const Dims& extents, const D& device = current_device<D>()) {
  Tensor<T, D, S> result(device, extents);
  const Draw draw = generator(device).next();
  const std::int64_t elements = result.elements();
  if (elements == 0) return result;
  const std::array operands{detail::immediate_operand(draw.seed),
                            detail::immediate_operand(std::int64_t{draw.step}),
                            detail::immediate_operand(std::int64_t{0}),
                            detail::immediate_operand(std::int64_t{1}),
                            detail::counting_operand(),
                            detail::immediate_operand(1.0F),
                            detail::immediate_operand(-2.0F),
                            detail::immediate_operand(2.0F * std::numbers::pi_v<float>),
                            detail::memory_operand(result.data(), Dims(1))};
  kernel::launch(typename detail::NormalProgram<T>::type{}, device, kernel::Grid(elements), operands.data());
  return result;
}
template <FloatingScalar T = float, AnyShape S, Device D = Cpu>
requires S::is_static [[nodiscard]] Tensor<T, D, S> randn(const D& device = current_device<D>()) {
  return randn<T, S, D>(S::dims(), device);
}

} // namespace twill::inline v0::inline TWILL_ISA
