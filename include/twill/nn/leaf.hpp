#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A tensor whose gradient is wanted: where a history begins. `nn::Leaf x{tensor}` can be given to anything that takes what
// `forward` returned; after `backward` its `gradient()` is there, the sum over all uses. Copies share the gradient. It is what
// PyTorch's `requires_grad_()` makes of an input. Read next: nn/tracked.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A tensor and the gradient that backward passes bring to it.
template <AnyTensor X> class Leaf {
public:
  using Value = X; ///< the type of the tensor
  using device_type = typename X::device_type;

  /// Shares the tensor.
  explicit Leaf(X value) : state_{std::make_shared<State>(State{std::move(value), {}, false})} {}

  /// The tensor.
  [[nodiscard]] const X& value() const { return state_->value; }
  /// Of the tensor.
  [[nodiscard]] Dims shape() const { return value().shape(); }
  /// Where the tensor is.
  [[nodiscard]] device_type device() const { return value().device(); }

  /// Whether a backward pass came here since the gradient was given up.
  [[nodiscard]] bool has_gradient() const { return state_->has_gradient; }
  /// The sum over all uses. throws: ValueError before any backward pass
  [[nodiscard]] const X& gradient() const {
    if (!has_gradient()) throw ValueError("gradient: the leaf has none; call backward first");
    return state_->gradient;
  }
  /// Gives up the gradient.
  void zero_grad() {
    state_->gradient = X{};
    state_->has_gradient = false;
  }

  /// Takes what a backward pass has found; further gradients are added, in memory of their own.
  void backward_from(const X& gradient) const {
    if (!state_->has_gradient) {
      state_->gradient = gradient.contiguous();
      state_->has_gradient = true;
      return;
    }
    X total = gradient.clone();
    detail::add_elements<typename X::value_type>(device(), static_cast<std::int64_t>(total.elements()), total.data(),
                                                 state_->gradient.data());
    state_->gradient = std::move(total);
  }

private:
  struct State {
    X value;
    X gradient;
    bool has_gradient;
  };
  std::shared_ptr<State> state_;
};

}}}} // namespace twill::v0::nn::TWILL_ISA
