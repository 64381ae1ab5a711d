#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tracked values on another device, of another kind if needed: `nn::to(first.forward(x), Cpu{1})`, between networks on
// different devices. The backward pass returns the gradient to the value's device, so a model on several devices is
// written, differentiated and optimised like one on a single device. It is PyTorch's `to` inside `forward`.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A copy of a tracked value on a device, with its history.
template <AnyTracked X, ComputeDevice D> class Moved {
public:
  /// The type of the copy.
  using Value = std::remove_cvref_t<decltype(std::declval<const typename X::Value&>().to(std::declval<const D&>()))>;
  using device_type = D;
  static constexpr auto argument_kind = elementwise::ArgumentKind::tracked; ///< of functions of single elements

  /// Copies the value and keeps its history.
  Moved(X source, const D& device) : source_{std::move(source)}, value_{source_.value().to(device)} {}

  /// The copy.
  [[nodiscard]] const Value& value() const { return value_; }
  /// The copy, for implicit use as a tensor.
  [[nodiscard]] operator const Value&() const { return value_; }
  /// The number of a scalar.
  [[nodiscard]] auto item() const { return value_.item(); }
  /// The shape of the value.
  [[nodiscard]] Dims shape() const { return value_.shape(); }
  /// The device of the copy.
  [[nodiscard]] D device() const { return value_.device(); }
  /// The inputs of the earlier run besides its arguments.
  [[nodiscard]] const RunContext& context() const requires requires(const X& x) { x.context(); }
  { return source_.context(); }

  /// Continues the backward pass on the device of the original value.
  void backward_from(const Value& gradient) const { source_.backward_from(gradient.to(source_.device())); }

  /// Releases the value and its history.
  void reset() noexcept {
    value_.reset();
    if constexpr (requires { source_.reset(); }) source_.reset();
  }

private:
  X source_;
  Value value_;
};

/// The value on another device; gradients flow back to the original device.
template <AnyTracked X, ComputeDevice D> [[nodiscard]] Moved<X, D> to(const X& x, const D& device) {
  return {x, device};
}

}}}} // namespace twill::v0::nn::TWILL_ISA
