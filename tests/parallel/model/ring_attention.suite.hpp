#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention over a sequence that the ranks of any communicator divide, with its gradients, as one model.

#include <twill/nn/network.hpp>
#include <twill/ops/ring_attention.hpp>
#include <twill/parallel/group/rank_group.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace twill::test {

/// A tensor of 2 by 3 heads of 24 rows, of which each rank has a part.
struct RingSizes {
  static constexpr std::int64_t batch = 2;
  static constexpr std::int64_t heads = 3;
  static constexpr std::int64_t rows = 24;
  static constexpr std::int64_t width = 4;
  static constexpr std::int64_t value_width = 6;
  static constexpr std::int64_t all = 2 * width + 2 * value_width; ///< of what RingModel gives
};

/// The result y, then the gradients of sum(y * g) by queries, keys and values, side by side.
template <int N, bool IsCausal, graph::SequenceDivision Division> struct RingModel : RingSizes {
  using Ranks = RankAxis<"context", N>;
  static constexpr int size = N;
  static constexpr graph::SequenceDivision division = Division;
  template <std::int64_t Width> using Rows = Input<batch, heads, rows / N, Width>;
  static constexpr auto forward(Rows<width> q, Rows<width> k, Rows<value_width> v, Rows<value_width> g) {
    const graph::Value y =
        graph::ring_attention<Ranks>(q, k, v, {.scale = 0.5, .is_causal = IsCausal, .division = Division});
    const auto of = graph::gradients(graph::sum(y * g), std::array<graph::Value, 3>{q, k, v});
    return graph::concatenate({y, of[0], of[1], of[2]}, -1);
  }
};

/// The row of the whole sequence that is a rank's row.
inline std::int64_t whole_row(graph::SequenceDivision division, int rank, int ranks, std::int64_t row) {
  const std::int64_t part = RingSizes::rows / ranks;
  if (division == graph::SequenceDivision::contiguous) return rank * part + row;
  const std::int64_t half = part / 2;
  return row < half ? rank * half + row : (2 * ranks - 1 - rank) * half + row - half;
}

/// Calls `f(place in this rank's part, place in the whole)` for each element of an array of the given width.
template <class F>
void for_each_of_part(graph::SequenceDivision division, int rank, int ranks, std::int64_t width, F f) {
  const std::int64_t part = RingSizes::rows / ranks;
  for (std::int64_t b = 0; b < RingSizes::batch * RingSizes::heads; ++b)
    for (std::int64_t r = 0; r < part; ++r)
      for (std::int64_t i = 0; i < width; ++i)
        f((b * part + r) * width + i, (b * RingSizes::rows + whole_row(division, rank, ranks, r)) * width + i);
}

/// What this rank finds: elements of (batch, heads, its rows, all). `whole(name)` gives the values of q, k, v and g.
template <class M, class C, class Whole> std::vector<double> run_ring(C& communicator, const Whole& whole) {
  const int rank = communicator.rank();
  const auto part = [&]<std::int64_t Width>(const char* name) {
    const std::vector<double> values = whole(name);
    Tensor<double, Cpu, Shape<M::batch, M::heads, M::rows / M::size, Width>> own(communicator.device());
    for_each_of_part(M::division, rank, M::size, Width, [&](std::int64_t to, std::int64_t from) {
      own.data()[to] = values[static_cast<std::size_t>(from)];
    });
    return own;
  };
  kernel::RankGroups groups{};
  groups.add(parallel::rank_group<typename M::Ranks>(communicator));
  const nn::Network<M, Cpu, double> model{communicator.device(), groups, RandomDraw{7, 0}};
  const auto y =
      model.infer(part.template operator()<M::width>("q"), part.template operator()<M::width>("k"),
                  part.template operator()<M::value_width>("v"), part.template operator()<M::value_width>("g"));
  synchronize(communicator.device());
  return {y.data(), y.data() + y.elements()};
}

} // namespace twill::test
