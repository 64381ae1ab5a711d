#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights in the order in which a library reads them, kept in memory that somebody else owns for as long as the weights do
// not change. Without it a convolution brings its weights into that order in every call, which costs as much as a few images
// do. Which order an entry holds is a number that the library's file gives it; threads may ask at once, one of them fills
// the entry, and nobody waits for it. Gradients of weights that several runs make one after the other can stay in the order
// in which the library makes them while they are added up, element by element. Read next: device/cpu/onednn_convolution.hpp,
// parallel/pipeline/model/kept_weights.hpp.

#include <twill/core/config.hpp>
#include <twill/core/list.hpp>
#include <twill/device/convolution.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace twill { inline namespace v0 { namespace cpu {

/// The weights that one part of convolutions reads, in one order.
class KeptOrder {
public:
  KeptOrder(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes)
      : weights_{weights}, part_{part}, memory_{memory}, bytes_{bytes} {}

  [[nodiscard]] bool is_of(const void* weights, ConvolutionPart part) const;
  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Whether the weights lie here in this order.
  [[nodiscard]] bool is_in(int order) const { return order_.load(std::memory_order_acquire) == order; }
  [[nodiscard]] bool is_filled() const { return order_.load(std::memory_order_acquire) >= 0; }
  /// True for the one caller who is to fill the memory and then says in which order.
  [[nodiscard]] bool claim();
  void set_order(int order) { order_.store(order, std::memory_order_release); }
  /// For a caller who has claimed the memory and could not fill it.
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

/// In which order runs leave a gradient of weights, so that these can be added up: the first of them decides.
struct GradientOrder {
  static constexpr int undecided = -1;
  static constexpr int plain = -2; ///< as its tensor says

  std::size_t output = 0;         ///< of the program that makes it
  const void* gradient = nullptr; ///< where the next run puts it
  int order = undecided;          ///< other than these two: a library's, by its number
  ConvolutionShape shape{};       ///< of the convolution that decided
};

/// Those of several weights, and of the gradients that one program makes.
class KeptOrders {
public:
  KeptOrders() = default;
  /// Has the weights of `others`, too, which lives longer.
  explicit KeptOrders(KeptOrders* others) : others_{others} {}

  void add(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes);
  /// How many there is room for, and how many somebody has brought into an order.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t filled() const;

  /// Null where nothing is kept for these weights.
  [[nodiscard]] KeptOrder* find(const void* weights, ConvolutionPart part);

  void add_gradient(std::size_t output) { gradients_.push_back({.output = output}); }
  [[nodiscard]] std::span<GradientOrder> gradients() { return {gradients_.data(), gradients_.size()}; }
  /// Says where the next run puts its outputs, gradients among them.    requires: no run looks for them
  void place_gradients(std::span<void* const> outputs);
  /// Null where a gradient is left as its tensor says.
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
