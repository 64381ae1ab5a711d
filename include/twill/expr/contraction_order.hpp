#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Order in which the operands of a product are multiplied, two at a time. Up to six operands all orders are compared by
// their multiply-adds (dynamic programming over subsets, as in opt_einsum's `dp`; Smith and Gray 2018); beyond, the
// pair with the smallest product relative to its factors goes first. A constexpr function: with extents that the types
// know, the order costs nothing at run time. Read next: expr/contraction.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/pattern.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Which two factors are multiplied; each product becomes a further factor, numbered after the operands.
struct ContractionStep {
  int left = 0;
  int right = 0;
};

struct ContractionOrder {
  int count = 0;
  std::array<ContractionStep, max_factors> steps{};
  double multiply_adds = 0;
};

class OrderSearch {
public:
  constexpr OrderSearch(const Pattern& pattern, const LabelExtents& extents) : pattern_{pattern}, extents_{extents} {}

  [[nodiscard]] constexpr ContractionOrder best() {
    constexpr int exhaustive = 6;
    ContractionOrder order{};
    if (pattern_.count == 2) {
      order.count = 1;
      order.steps[0] = {0, 1};
      order.multiply_adds = size(pattern_[0].set() | pattern_[1].set());
    } else if (pattern_.count > 2 && pattern_.count <= exhaustive) {
      compare_all();
      const unsigned all = (1U << pattern_.count) - 1U;
      order.multiply_adds = cost_[all];
      write(order, all);
    } else if (pattern_.count > exhaustive) {
      choose_greedily(order);
    }
    return order;
  }

private:
  /// The number of combinations of indices of the labels; an unknown extent counts as 64.
  [[nodiscard]] constexpr double size(LabelSet labels) const {
    double product = 1;
    for (int label = 0; label < pattern_.labels; ++label)
      if ((labels >> label & 1U) != 0) product *= extents_[label] == dyn ? 64.0 : static_cast<double>(extents_[label]);
    return product;
  }
  [[nodiscard]] static constexpr int axes(LabelSet labels) {
    int count = 0;
    for (; labels != 0; labels &= labels - 1) ++count;
    return count;
  }
  /// Labels of a subset's product: those that the result or another operand still needs.
  [[nodiscard]] constexpr LabelSet labels_of(unsigned subset) const {
    LabelSet inside = 0;
    LabelSet outside = pattern_.result.set();
    for (int operand = 0; operand < pattern_.count; ++operand)
      ((subset >> operand & 1U) != 0 ? inside : outside) |= pattern_[operand].set();
    return inside & outside;
  }

  constexpr void compare_all() {
    const unsigned all = (1U << pattern_.count) - 1U;
    for (unsigned subset = 1; subset <= all; ++subset) {
      labels_[subset] = labels_of(subset);
      if ((subset & (subset - 1)) == 0) continue; // a single operand costs nothing
      cost_[subset] = 1e300;
      for (unsigned part = (subset - 1) & subset; part > (subset ^ part); part = (part - 1) & subset) {
        const unsigned rest = subset ^ part;
        const double cost = cost_[part] + cost_[rest] + size(labels_[part] | labels_[rest]) +
                            (axes(labels_[subset]) > max_rank ? 1e200 : 0);
        if (cost < cost_[subset]) {
          cost_[subset] = cost;
          split_[subset] = part;
        }
      }
    }
  }

  /// Appends the steps of a subset; returns the number of its product.
  constexpr int write(ContractionOrder& order, unsigned subset) const {
    if ((subset & (subset - 1)) == 0) {
      int operand = 0;
      while (subset >> operand != 1U) ++operand;
      return operand;
    }
    const int right = write(order, subset ^ split_[subset]);
    const int left = write(order, split_[subset]);
    order.steps[static_cast<std::size_t>(order.count)] =
        left < right ? ContractionStep{left, right} : ContractionStep{right, left};
    return pattern_.count + order.count++;
  }

  constexpr void choose_greedily(ContractionOrder& order) const {
    std::array<unsigned, 2 * max_factors> factors{}; // subsets; 0 for factors that were multiplied
    int count = pattern_.count;
    for (int operand = 0; operand < count; ++operand) factors[static_cast<std::size_t>(operand)] = 1U << operand;
    while (order.count < pattern_.count - 1) {
      ContractionStep best{};
      double least = 1e301;
      double work = 0;
      for (int a = 0; a < count; ++a)
        for (int b = a + 1; b < count; ++b) {
          const unsigned left = factors[static_cast<std::size_t>(a)];
          const unsigned right = factors[static_cast<std::size_t>(b)];
          if (left == 0 || right == 0) continue;
          const LabelSet product = labels_of(left | right);
          const double growth =
              size(product) - size(labels_of(left)) - size(labels_of(right)) + (axes(product) > max_rank ? 1e200 : 0);
          if (growth < least) {
            least = growth;
            best = {a, b};
            work = size(labels_of(left) | labels_of(right));
          }
        }
      order.steps[static_cast<std::size_t>(order.count++)] = best;
      order.multiply_adds += work;
      factors[static_cast<std::size_t>(count++)] =
          factors[static_cast<std::size_t>(best.left)] | factors[static_cast<std::size_t>(best.right)];
      factors[static_cast<std::size_t>(best.left)] = factors[static_cast<std::size_t>(best.right)] = 0;
    }
  }

  const Pattern& pattern_;
  const LabelExtents& extents_;
  std::array<LabelSet, 64> labels_{};
  std::array<double, 64> cost_{};
  std::array<unsigned, 64> split_{};
};

/// The order with the fewest multiply-adds, or a good one beyond six operands.
[[nodiscard]] constexpr ContractionOrder contraction_order(const Pattern& pattern, const LabelExtents& extents) {
  return OrderSearch{pattern, extents}.best();
}

}}}} // namespace twill::v0::expr::TWILL_ISA
