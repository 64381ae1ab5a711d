#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Schedules of the literature. With p ranks, m micro-batches, and F, I, W the time of a rank's forward pass and of its
// two gradients (B = I + W), the idle time of the busiest rank and the micro-batches it keeps are given for each; tests
// compare both with the results of parallel/pipeline/schedule/simulate.hpp. GPipe: Huang et al., 2019. 1F1B: Narayanan
// et al., "PipeDream", 2019, in its synchronous form. Interleaved: Narayanan et al., "Efficient Large-Scale Language
// Model Training", 2021. ZB-H1, ZB-H2: Qi et al., "Zero Bubble Pipeline Parallelism", 2023. ZBV: Qi et al.,
// "Controllable Memory", 2024.

#include <twill/core/list.hpp>
#include <twill/parallel/pipeline/schedule/action.hpp>

#include <string_view>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

namespace detail {

constexpr int smaller(int left, int right) { return left < right ? left : right; }

/// `warm_up` forward passes, then a backward pass after each forward one, then the remaining backward passes.
template <class Forward, class Backward>
constexpr List<Action> alternate(int warm_up, int passes, Forward forward, Backward backward) {
  List<Action> order;
  order.reserve(static_cast<std::size_t>(2 * passes));
  for (int i = 0; i < warm_up; ++i) order.push_back(forward(i));
  for (int i = warm_up; i < passes; ++i) {
    order.push_back(forward(i));
    order.push_back(backward(i - warm_up));
  }
  for (int i = passes - warm_up; i < passes; ++i) order.push_back(backward(i));
  return order;
}

} // namespace detail

/// All forward passes, then all backward passes.    idle: (p-1)(F+B)    keeps: m
struct GPipe {
  static constexpr std::string_view name = "GPipe";
  static constexpr int stages_per_rank = 1;
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<Action> order(int rank, int, int micro_batches) {
    List<Action> order;
    for (int i = 0; i < micro_batches; ++i) order.push_back(forward(rank, i));
    for (int i = 0; i < micro_batches; ++i) order.push_back(backward(rank, i));
    return order;
  }
};

/// A backward pass as soon as there is one.    idle: (p-1)(F+B)    keeps: min(m, p - stage)
struct OneForwardOneBackward {
  static constexpr std::string_view name = "1F1B";
  static constexpr int stages_per_rank = 1;
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<Action> order(int rank, int ranks, int micro_batches) {
    return detail::alternate(
        detail::smaller(ranks - 1 - rank, micro_batches), micro_batches, [&](int i) { return forward(rank, i); },
        [&](int i) { return backward(rank, i); });
  }
};

/// 1F1B with `Chunks` stages on each rank, p apart; p must divide m.
/// idle: (p-1)(F+B)/Chunks    keeps: min(m Chunks, (Chunks-1)p + 2(p-1-rank) + 1) chunks
template <int Chunks> struct Interleaved {
  static_assert(Chunks >= 1, "twill: Interleaved needs at least one chunk on each rank");
  static constexpr std::string_view name = "interleaved 1F1B";
  static constexpr int stages_per_rank = Chunks;
  static constexpr int multiple_of(int ranks) { return ranks; }
  static constexpr int rank_of(int stage, int ranks) { return stage % ranks; }
  static constexpr List<Action> order(int rank, int ranks, int micro_batches) {
    const int passes = micro_batches * Chunks;
    // p micro-batches go through a chunk, then through the next; backward passes take the chunks the other way round.
    const auto micro_batch = [&](int i) { return i / (ranks * Chunks) * ranks + i % ranks; };
    const auto stage = [&](int chunk) { return chunk * ranks + rank; };
    return detail::alternate(
        detail::smaller((ranks - 1 - rank) * 2 + (Chunks - 1) * ranks, passes), passes,
        [&](int i) { return forward(stage(i / ranks % Chunks), micro_batch(i)); },
        [&](int i) { return backward(stage(Chunks - 1 - i / ranks % Chunks), micro_batch(i)); });
  }
};

/// At tick x a rank does F of x, I of x - Lag (p-1-rank) and W of x - Lag (p-1): weight gradients fill the idle time.
template <int Lag> struct ZeroBubble {
  static_assert(Lag == 1 || Lag == 2, "twill: ZeroBubble has a lag of 1 (ZB-H1) or 2 (ZB-H2)");
  static constexpr std::string_view name = Lag == 1 ? "ZB-H1" : "ZB-H2";
  static constexpr int stages_per_rank = 1;
  static constexpr int least_micro_batches(int ranks) { return Lag * (ranks - 1) + 1; }
  static constexpr int rank_of(int stage, int) { return stage; }
  static constexpr List<Action> order(int rank, int ranks, int micro_batches) {
    List<Action> order;
    const int last = micro_batches + Lag * (ranks - 1);
    for (int x = 0; x < last; ++x) {
      const int i = x - Lag * (ranks - 1 - rank);
      const int w = x - Lag * (ranks - 1);
      if (x < micro_batches) order.push_back(forward(rank, x));
      if (i >= 0 && i < micro_batches) order.push_back(input_gradient(rank, i));
      if (w >= 0) order.push_back(weight_gradient(rank, w));
    }
    return order;
  }
};

/// idle: (p-1)(F+I-W)    keeps: p
using ZeroBubbleH1 = ZeroBubble<1>;
/// idle: (p-1)(F+I-2W)    keeps: 2p-1
using ZeroBubbleH2 = ZeroBubble<2>;

/// Two stages on each rank, in a V: rank r holds r and 2p-1-r, so that the last stage is beside the first and backward
/// passes start early.    idle: none where F = I = W and m >= 2p-1    keeps: 2p chunks
struct ZeroBubbleV {
  static constexpr std::string_view name = "ZBV";
  static constexpr int stages_per_rank = 2;
  static constexpr int rank_of(int stage, int ranks) { return stage < ranks ? stage : 2 * ranks - 1 - stage; }
  static constexpr List<Action> order(int rank, int ranks, int micro_batches) {
    List<Action> order;
    const int down = rank;               // the stage on the way from rank 0
    const int up = 2 * ranks - 1 - rank; // the stage on the way back
    int forwards[2] = {}, inputs[2] = {}, weights[2] = {};
    const auto push = [&](Action action) {
      if (action.micro_batch < micro_batches) order.push_back(action); // the pattern is that of at least 2p-1
    };
    const auto f = [&](bool back) { push(forward(back ? up : down, forwards[back]++)); };
    const auto i = [&](bool back) { push(input_gradient(back ? up : down, inputs[back]++)); };
    const auto w = [&](bool back) { push(weight_gradient(back ? up : down, weights[back]++)); };
    const auto b = [&](bool back) { i(back), w(back); };

    for (int n = 0; n < 2 * (ranks - rank) - 1; ++n) f(false);
    for (int n = 0; n < rank; ++n) f(true), f(false);
    for (int n = 0; n < ranks - rank; ++n) f(true), b(true);
    const int steady = micro_batches > 2 * ranks - 1 ? micro_batches : 2 * ranks - 1;
    while (forwards[1] < forwards[0] || forwards[0] < steady) {
      if (forwards[0] < steady) f(false);
      b(false), f(true), b(true);
    }
    for (int n = 0; n < rank; ++n) i(false), i(true);
    for (int n = 0; n < ranks - rank; ++n) i(false), w(false);
    while (weights[1] < inputs[1]) w(true);
    while (weights[0] < inputs[0]) w(false);
    return order;
  }
};

}}}} // namespace twill::v0::parallel::pipeline
