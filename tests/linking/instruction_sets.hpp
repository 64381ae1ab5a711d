#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// One computation, compiled in two files for two instruction sets. `ISA_NAME` of the including file tells which.

#include <twill/kernel/launch.hpp>
#include <twill/tensor/create.hpp>

#include <string_view>

#define ISA_TEXT_OF(name) #name
#define ISA_TEXT(name) ISA_TEXT_OF(name)

using Vector = twill::Tensor<float, twill::Cpu, twill::Shape<1003>>;

struct Answer {
  Vector values{};
  std::string_view instruction_set{};
};

/// tanh(x * x) of every element, by this file's kernels.
inline namespace TWILL_ISA {
inline Answer square_and_tanh(const Vector& x) {
  using namespace twill::kernel;
  using P =
      Program<In<float, Access::contiguous>, Step<Primitive::multiply, 0, 0>, Step<Primitive::tanh, 1>, Out<float, 2>>;
  Answer answer{twill::empty<float, twill::Shape<1003>>(), ISA_TEXT(TWILL_ISA)};
  Operand operands[2];
  operands[0].data = x.data();
  operands[1].data = answer.values.data();
  operands[0].strides[0] = operands[1].strides[0] = 1;
  launch(P{}, x.device(), Grid(1003), operands);
  return answer;
}
} // namespace TWILL_ISA

Answer with_baseline(const Vector& x);
Answer with_wide(const Vector& x);
