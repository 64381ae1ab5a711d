// SPDX-License-Identifier: Apache-2.0
//
// Forward mode through an operation that has no rule of gradients.
// expect: operation_has_no_gradient
// expect: "opaque"

#include <twill/compile/transforms.hpp>
#include <twill/graph/operation.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

inline constexpr graph::Operation opaque{.name = "opaque", .wants_dense = true};

struct Hidden {
  constexpr graph::Value operator()(graph::Value a) const {
    return graph::add_operation(opaque, {a}, a.dtype(), a.shape());
  }
};

const auto x = zeros<float, Shape<3>>();

#ifdef MISUSE
const auto y = jvp(Hidden{}, x, x).second;
#else
const auto y = jvp([](auto a) { return tanh(a); }, x, x).second;
#endif
