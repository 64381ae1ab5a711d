// SPDX-License-Identifier: Apache-2.0
//
// A function of tensors that captures a number.
// expect: twill: a function that the compiler traces is a lambda without captures

#include <twill/compile/function.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

const auto x = zeros<float, Shape<3, 4>>();

inline auto weighted([[maybe_unused]] float weight) {
#ifdef MISUSE
  return grad([weight](auto a) { return sum(weight * a); })(x);
#else
  return grad<1>([](auto a, auto w) { return sum(w * a); })(x, scalar(weight));
#endif
}
