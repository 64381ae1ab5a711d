#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Weights in the order in which a library reads them, kept in memory that somebody else owns for as long as the weights do
// not change. Without it a convolution brings its weights into that order in every call, which costs as much as a few images
// do. Which order an entry holds is a number that the library's file gives it; threads may ask at once, one of them fills
// the entry, and nobody waits for it. Read next: device/cpu/onednn_convolution.hpp, parallel/pipeline/kept_weights.hpp.

#include <twill/core/config.hpp>
#include <twill/device/convolution.hpp>

#include <atomic>
#include <cstddef>
#include <deque>

namespace twill::inline v0::cpu {

/// The weights that one part of convolutions reads, in one order.
class KeptOrder {
public:
  KeptOrder(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes)
      : weights_{weights}, part_{part}, memory_{memory}, bytes_{bytes} {}

  [[nodiscard]] bool is_of(const void* weights, ConvolutionPart part) const {
    return weights == weights_ && part == part_;
  }
  [[nodiscard]] void* memory() const { return memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Whether the weights lie here in this order.
  [[nodiscard]] bool is_in(int order) const { return order_.load(std::memory_order_acquire) == order; }
  [[nodiscard]] bool is_filled() const { return order_.load(std::memory_order_acquire) >= 0; }
  /// True for the one caller who is to fill the memory and then says in which order.
  [[nodiscard]] bool claim() {
    int before = empty;
    return order_.compare_exchange_strong(before, being_filled, std::memory_order_relaxed);
  }
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

/// Those of several weights.
class KeptOrders {
public:
  void add(const void* weights, ConvolutionPart part, void* memory, std::size_t bytes) {
    entries_.emplace_back(weights, part, memory, bytes);
  }
  /// How many there is room for, and how many somebody has brought into an order.
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t filled() const {
    std::size_t count = 0;
    for (const KeptOrder& entry : entries_) count += entry.is_filled() ? 1 : 0;
    return count;
  }

  /// Null where nothing is kept for these weights.
  [[nodiscard]] KeptOrder* find(const void* weights, ConvolutionPart part) {
    for (KeptOrder& entry : entries_)
      if (entry.is_of(weights, part)) return &entry;
    return nullptr;
  }

private:
  std::deque<KeptOrder> entries_{}; // entries do not move
};

} // namespace twill::inline v0::cpu
