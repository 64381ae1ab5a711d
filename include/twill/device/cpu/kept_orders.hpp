#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights kept in a library's order, in memory of another owner, while the weights do not change. Without it a
// convolution reorders its weights in every call, which costs as much as a few images. The order of an entry is a
// number from the library's file; threads may ask at the same time, one of them fills the entry, and no thread waits
// for it. Gradients of weights that several runs make one after the other can stay in the library's order while they
// are added up, element by element. Read next: device/cpu/onednn_convolution.hpp,
// parallel/pipeline/model/kept_weights.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/device/convolution.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace twill { inline namespace v0 { namespace cpu {

/// The weights for one part of convolutions, in one order.
class KeptOrder {
public:
  KeptOrder(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes)
      : weights_{weights}, part_{part}, memory_{memory}, bytes_{bytes} {}

  [[nodiscard]] bool is_of(const void* weights, ConvolutionPart part) const;
  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Whether the weights are stored here in this order.
  [[nodiscard]] bool is_in(int order) const { return order_.load(std::memory_order_acquire) == order; }
  [[nodiscard]] bool is_filled() const { return order_.load(std::memory_order_acquire) >= 0; }
  /// True for the one caller that has to fill the memory and then set its order.
  [[nodiscard]] bool claim();
  void set_order(int order) { order_.store(order, std::memory_order_release); }
  /// For a caller that has claimed the memory and could not fill it.
  void give_back() { set_order(empty); }

private:
  static constexpr int empty = -1;
  static constexpr int being_filled = -2;

  const void* weights_;
  ConvolutionPart part_;
  void* memory_;
  std::size_t bytes_;
  std::atomic<int> order_{empty};
};

/// The order in which runs leave a gradient of weights, so that gradients can be added up: the first run decides.
struct GradientOrder {
  static constexpr int undecided = -1;
  static constexpr int plain = -2; ///< the order of its tensor

  std::size_t output = 0;         ///< the number of the program's output
  const void* gradient = nullptr; ///< the place for the next run's gradient
  int order = undecided;          ///< other than these two: the number of a library's order
  ConvolutionShape shape{};       ///< of the convolution that decided
};

/// The kept weights of several convolutions, and the gradients that one program makes.
class KeptOrders {
public:
  KeptOrders() = default;
  /// Also has the weights of `others`, which lives longer.
  explicit KeptOrders(KeptOrders* others);

  void add(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes);
  /// The number of entries, and of entries that are in an order.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t filled() const;

  /// The entry for these weights, or null.
  [[nodiscard]] KeptOrder* find(const void* weights, ConvolutionPart part);

  void add_gradient(std::size_t output) { gradients_.push_back({.output = output}); }
  [[nodiscard]] std::span<GradientOrder> gradients();
  /// Sets the places of the next run's outputs, gradients among them.    requires: no run looks for them
  void place_gradients(std::span<void* const> outputs);
  /// The order of a gradient, or null where it stays in the order of its tensor.
  [[nodiscard]] GradientOrder* find_gradient(const void* data);

private:
  List<std::unique_ptr<KeptOrder>> entries_{}; // entries do not move
  List<GradientOrder> gradients_{};
  KeptOrders* others_ = nullptr;
};

}}} // namespace twill::v0::cpu

#if TWILL_HEADER_ONLY
#include <twill/device/cpu/kept_orders.ipp>
#endif
