#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Output into existing memory, NumPy's out=: `out(x) = exp(x)` writes the values of any expression through a tensor's
// memory, which views and other handles see; `x = exp(x)` gives the handle x a value and may give it other memory. The
// values broadcast to the tensor's shape and convert within their kind, as in place. Read next: expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/promotion.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/leaf.hpp>
#include <twill/expr/operation.hpp>

#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// The memory of a tensor as a place for values. It holds a handle.
template <class T, class D, class S> class Destination {
public:
  explicit Destination(const Tensor<T, D, S>& target) : target_{target} {}

  /// throws: ShapeError when the values do not broadcast to the tensor
  template <TensorOperand E> void operator=(E&& values) && {
    static_assert(category(typed<E>().type) <= category(dtype_of<T>),
                  "twill: out: the values do not fit the tensor's element type; convert them with cast<T>(x)");
    if constexpr (AnyTensor<E>)
      store(target_, make_node<Convert<dtype_of<T>>>(std::forward<E>(values)));
    else
      store(target_, std::forward<E>(values));
  }

private:
  Tensor<T, D, S> target_;
};

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The memory of a tensor as the destination of an expression: `out(x) = a * b`.
template <class T, class D, class S> [[nodiscard]] auto out(const Tensor<T, D, S>& target) {
  return expr::Destination<T, D, S>(target);
}

}}} // namespace twill::v0::TWILL_ISA
