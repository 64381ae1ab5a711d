#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Activation checkpointing of a chain of equal parts, with the fewest evaluations that the room for its states allows:
// the binomial schedule of Griewank and Walther (Algorithm 799: Revolve, ACM Transactions on Mathematical Software 26,
// 2000), spelt as parts inside of parts. A stretch at the chain's beginning is computed without keeping anything, the
// rest with one snapshot fewer; then the stretch is computed again in the same way. Not in twill.hpp. Read next:
// graph/checkpoint.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/checkpoint.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace graph {

/// Length of a chain, and the room for what is kept of it.
struct CheckpointSequentialOptions {
  /// As many snapshots as the chain has parts: each part but the last is evaluated once more.
  static constexpr int one_for_each_part = std::numeric_limits<int>::max();

  int parts = 1;                        ///< f is called so often, with 0, 1, ...
  int snapshots = one_for_each_part;    ///< at most so many inputs of parts are held, that of the chain among them
  Recompute recompute = Recompute::yes; ///< `no`: all is kept, with the same kernels and bits
};

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 { namespace graph { namespace detail {

/// beta(s, r) = C(s + r, s): the longest chain of which no part is evaluated more than r extra times; none for r < 0.
[[nodiscard]] constexpr std::int64_t longest_chain(int snapshots, int repeats) {
  std::int64_t parts = repeats < 0 ? 0 : 1;
  for (int r = 1; r <= repeats; ++r) parts = parts * (snapshots + r) / r;
  return parts;
}

/// The smallest r with parts <= beta(snapshots, r).
[[nodiscard]] constexpr int repeats_of(int parts, int snapshots) {
  int repeats = 0;
  for (std::int64_t longest = 1; longest < parts; longest = longest * (snapshots + repeats) / repeats) ++repeats;
  return repeats;
}

/// The snapshots that a chain has a use for, at least one.
[[nodiscard]] constexpr int useful_snapshots(int parts, int snapshots) {
  const int most = snapshots < parts ? snapshots : parts - 1;
  return most > 1 ? most : 1;
}

/// The length of the stretch at the beginning that is computed again: the shortest in an optimal schedule. Both it and
/// the rest, which has one snapshot fewer, stay within the chain's r: m >= beta(s, r - 2), l - m <= beta(s - 1, r).
[[nodiscard]] constexpr int first_stretch(int length, int snapshots) {
  const int repeats = repeats_of(length, snapshots);
  const std::int64_t inner = longest_chain(snapshots, repeats - 2);
  const std::int64_t outer = length - longest_chain(snapshots - 1, repeats);
  const std::int64_t longer = inner > outer ? inner : outer;
  return longer > 1 ? static_cast<int>(longer) : 1;
}

}}}} // namespace twill::v0::graph::detail

namespace twill { inline namespace v0 { namespace graph {

/// The result of `checkpoint_sequential(f, options)`: f, called for each part of a chain.
template <class F> struct SequentiallyCheckpointed {
  F function;                            ///< of the values and the number of a part
  CheckpointSequentialOptions options{}; ///< how long, and the room
  CallSite site{};                       ///< of the call, for messages

  /// Traces the chain from these values; returns one value, or an array of as many as it is given.
  template <std::derived_from<Value>... Values>
  [[nodiscard]] constexpr auto operator()(const Value& first, const Values&... rest) const {
    using State = std::array<Value, 1 + sizeof...(rest)>;
    State state{first, rest...};
    if (options.parts < 1 || options.snapshots < 1)
      first.graph().refuse(Problem::checkpoint_sequential_needs_at_least_one_part_and_one_snapshot, options.parts,
                           options.snapshots, site);
    else
      state = run(state, 0, options.parts, detail::useful_snapshots(options.parts, options.snapshots));
    if constexpr (sizeof...(rest) == 0)
      return state[0];
    else
      return state;
  }

private:
  /// The parts from `first` on. The last one is kept: its gradient comes next.
  template <std::size_t N>
  constexpr std::array<Value, N> run(std::array<Value, N> state, int first, int length, int snapshots) const {
    for (; length > 1; --snapshots) {
      const int stretch = detail::first_stretch(length, snapshots);
      const auto again = [&](const auto&... values) {
        return run(std::array<Value, N>{values...}, first, stretch, snapshots);
      };
      state = std::apply(checkpoint(again, options.recompute), state);
      first += stretch;
      length -= stretch;
    }
    return std::apply(checkpoint([&](const auto&... values) { return part(first, values...); }, Recompute::no), state);
  }

  template <class... Values>
  constexpr std::array<Value, sizeof...(Values)> part(int number, const Values&... values) const {
    static_assert(std::is_invocable_v<const F&, const Values&..., int>,
                  "twill: checkpoint_sequential: f takes the values of the chain and the number of the part");
    using Result = std::invoke_result_t<const F&, const Values&..., int>;
    if constexpr (sizeof...(Values) == 1) {
      static_assert(std::is_convertible_v<Result, Value>,
                    "twill: checkpoint_sequential: f returns the next value of the chain");
      return {function(values..., number)};
    } else {
      static_assert(std::is_convertible_v<Result, std::array<Value, sizeof...(Values)>>,
                    "twill: checkpoint_sequential: f returns an array of as many values as it takes");
      return function(values..., number);
    }
  }
};

}}} // namespace twill::v0::graph

namespace twill { inline namespace v0 {

/// The evaluations of parts that `checkpoint_sequential` adds to the forward pass of a chain, the fewest possible:
/// r parts - beta(snapshots + 1, r - 1) with beta(s, r) = C(s + r, s) and the smallest r such that
/// parts <= beta(snapshots, r).
/// requires: at least one part and one snapshot
[[nodiscard]] constexpr std::int64_t extra_evaluations(int parts, int snapshots) {
  const int useful = graph::detail::useful_snapshots(parts, snapshots);
  const int repeats = graph::detail::repeats_of(parts, useful);
  return std::int64_t{repeats} * parts - graph::detail::longest_chain(useful + 1, repeats - 1);
}

/// A chain of parts, x = f(x, 0), x = f(x, 1), ..., of which at most `.snapshots` inputs of parts and the inner values
/// of one part are held at a time, with the fewest extra evaluations: 12 parts with 3 snapshots are evaluated 21 extra
/// times, with 11 snapshots 11 times. Gradients have the same bits for any number of snapshots.
/// `x = checkpoint_sequential([](auto x, int layer) { return block(x, layer); }, {.parts = 12, .snapshots = 3})(x);`
/// The chain may have several values: f(a, b, part) then returns an array of two.
/// errors: no part, no snapshot    cost: `extra_evaluations(parts, snapshots)` of f
template <class F>
[[nodiscard]] constexpr graph::SequentiallyCheckpointed<F>
checkpoint_sequential(F f, graph::CheckpointSequentialOptions options, CallSite site = CallSite::here()) {
  return {std::move(f), options, site};
}

}} // namespace twill::v0
