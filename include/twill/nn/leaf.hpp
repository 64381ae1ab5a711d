#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Leaves of differentiation: tensors whose gradient is wanted. `nn::Leaf x{tensor}` can be passed wherever a result of
// `forward` can; after `backward` it has a `gradient()`, the sum over all uses. Copies share the gradient. It
// corresponds to PyTorch's `requires_grad_()` on an input. Read next: nn/tracked.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/network.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// A tensor and the gradient that backward passes add to it.
template <AnyTensor X> class Leaf {
public:
  using Value = X; ///< the type of the tensor
  using device_type = typename X::device_type;
  static constexpr auto argument_kind = elementwise::ArgumentKind::tracked; ///< of functions of single elements

  /// Shares the tensor.
  explicit Leaf(X value) : state_{std::make_shared<State>(State{std::move(value), {}, false})} {}

  /// The tensor.
  [[nodiscard]] const X& value() const { return state_->value; }
  /// The shape of the tensor.
  [[nodiscard]] Dims shape() const { return value().shape(); }
  /// The device of the tensor.
  [[nodiscard]] device_type device() const { return value().device(); }

  /// Whether a backward pass has set the gradient since it was released.
  [[nodiscard]] bool has_gradient() const { return state_->has_gradient; }
  /// The sum over all uses. throws: ValueError before any backward pass
  [[nodiscard]] const X& gradient() const {
    if (!has_gradient()) throw ValueError("gradient: the leaf has none; call backward first");
    return state_->gradient;
  }
  /// Releases the gradient.
  void zero_grad() {
    state_->gradient = X{};
    state_->has_gradient = false;
  }

  /// Takes the gradient of a backward pass; further gradients are added, in memory of their own.
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
