// SPDX-License-Identifier: Apache-2.0
//
// A batch of calls of an operation that does not say how it computes them.
// expect: operation_has_no_batching_rule
// expect: "opaque"

#include <twill/compile/vmap.hpp>
#include <twill/graph/operation.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

inline constexpr graph::Operation opaque{.name = "opaque", .wants_dense = true};

struct Hidden {
  constexpr graph::Value operator()(graph::Value a) const {
    return graph::add_operation(opaque, {a}, a.dtype(), a.shape());
  }
};

const auto x = zeros<float, Shape<4, 3>>();

#ifdef MISUSE
const auto y = vmap(Hidden{})(x);
#else
const auto y = vmap([](auto a) { return tanh(a); })(x);
#endif
