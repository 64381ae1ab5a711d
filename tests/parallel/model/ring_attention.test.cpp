// SPDX-License-Identifier: Apache-2.0
//
// Attention whose sequence is divided over one to four ranks, contiguous and zigzag, causal and not, against PyTorch's
// values and gradients; what a rank sends, and the bytes that it takes.

#include <twill/nn/network.hpp>
#include <twill/ops/ring_attention.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using graph::SequenceDivision;
using graph::Value;

namespace {

constexpr std::int64_t batch = 2;
constexpr std::int64_t heads = 3;
constexpr std::int64_t rows = 24;
constexpr std::int64_t width = 4;
constexpr std::int64_t value_width = 6;

template <int N, bool IsCausal, SequenceDivision Division> struct Attend {
  using Ranks = RankAxis<"context", N>;
  template <std::int64_t Width> using Rows = Input<batch, heads, rows / N, Width>;
  /// The result with the gradients of what it is summed to, side by side.
  static constexpr auto forward(Rows<width> q, Rows<width> k, Rows<value_width> v, Rows<value_width> g) {
    const Value y = graph::ring_attention<Ranks>(q, k, v, {.scale = 0.5, .is_causal = IsCausal, .division = Division});
    const auto of = graph::gradients(graph::sum(y * g), std::array<Value, 3>{q, k, v});
    return graph::concatenate({y, of[0], of[1], of[2]}, -1);
  }
};

/// The row of the whole sequence that is a rank's row.
std::int64_t row_of(SequenceDivision division, int rank, int ranks, std::int64_t row) {
  const std::int64_t part = rows / ranks;
  if (division == SequenceDivision::contiguous) return rank * part + row;
  const std::int64_t half = part / 2;
  return row < half ? rank * half + row : (2 * ranks - 1 - rank) * half + row - half;
}

template <int N, std::int64_t Width>
auto part_of(const std::vector<double>& whole, SequenceDivision division, int rank) {
  Tensor<double, Cpu, Shape<batch, heads, rows / N, Width>> part(Cpu{0});
  for (std::int64_t b = 0; b < batch * heads; ++b)
    for (std::int64_t r = 0; r < rows / N; ++r)
      for (std::int64_t i = 0; i < Width; ++i)
        part.data()[(b * rows / N + r) * Width + i] =
            whole[static_cast<std::size_t>((b * rows + row_of(division, rank, N, r)) * Width + i)];
  return part;
}

/// Throws, as checks of other threads do.
template <int N> void require_close(const std::string& name, const double* got, std::int64_t from, std::int64_t count,
                                    SequenceDivision division, int rank) {
  const std::vector<double> wanted = test::golden("ring_attention/" + name).values;
  constexpr std::int64_t all = 2 * width + 2 * value_width;
  for (std::int64_t b = 0; b < batch * heads; ++b)
    for (std::int64_t r = 0; r < rows / N; ++r)
      for (std::int64_t i = 0; i < count; ++i) {
        const double a = got[(b * rows / N + r) * all + from + i];
        const double w = wanted[static_cast<std::size_t>((b * rows + row_of(division, rank, N, r)) * count + i)];
        if (!(std::fabs(a - w) <= 1e-12 * std::fmax(1.0, std::fabs(w))))
          throw std::logic_error(name + " of rank " + std::to_string(rank) + ", row " + std::to_string(r) + ": " +
                                 std::to_string(a) + ", not " + std::to_string(w));
      }
}

template <int N, bool IsCausal, SequenceDivision Division> void test_ring() {
  using M = Attend<N, IsCausal, Division>;
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(N, Cpu{0}), {.timeout_ms = 20'000});
  const auto golden = [](const char* name) { return test::golden("ring_attention/" + std::string{name}).values; };
  parallel::run_ranks(communicators, [&](auto& communicator) {
    const int rank = communicator.rank();
    kernel::RankGroups groups{};
    groups.add(parallel::rank_group<typename M::Ranks>(communicator));
    const nn::Network<M, Cpu, double> model{Cpu{0}, groups, RandomDraw{7, 0}};
    const auto q = part_of<N, width>(golden("q"), Division, rank);
    const auto k = part_of<N, width>(golden("k"), Division, rank);
    const auto v = part_of<N, value_width>(golden("v"), Division, rank);
    const auto g = part_of<N, value_width>(golden("g"), Division, rank);
    const auto all = model.infer(q, k, v, g);
    const std::string form = IsCausal ? "causal_" : "plain_";
    require_close<N>(form + "y", all.data(), 0, value_width, Division, rank);
    require_close<N>(form + "dq", all.data(), value_width, width, Division, rank);
    require_close<N>(form + "dk", all.data(), value_width + width, width, Division, rank);
    require_close<N>(form + "dv", all.data(), value_width + 2 * width, value_width, Division, rank);
  });
}

} // namespace

TEST_CASE("attention over a divided sequence is that of PyTorch over all of it", "[parallel][PAR-7]") {
  test_ring<2, false, SequenceDivision::contiguous>();
  test_ring<2, true, SequenceDivision::contiguous>();
  test_ring<2, true, SequenceDivision::zigzag>();
  test_ring<3, false, SequenceDivision::contiguous>();
}
