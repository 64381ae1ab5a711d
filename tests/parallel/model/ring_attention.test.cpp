// SPDX-License-Identifier: Apache-2.0
//
// Attention whose sequence is divided over one to four ranks, contiguous and zigzag, causal and not, against PyTorch's
// values and gradients; what a rank sends, and the bytes that it takes.

#include <twill/memory/statistics.hpp>
#include <twill/parallel/model/ring_attention_bytes.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include "tests/parallel/model/ring_attention.suite.hpp"
#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace twill;
using graph::SequenceDivision;
using graph::Value;
using test::RingModel;
using test::RingSizes;

namespace {

std::vector<double> golden(const std::string& name) { return test::golden("ring_attention/" + name).values; }

/// Throws, as checks of other threads do.
void require_close(const std::vector<double>& found, std::int64_t first, std::int64_t width, const std::string& name,
                   SequenceDivision division, int rank, int ranks) {
  const std::vector<double> wanted = golden(name);
  test::for_each_of_part(division, rank, ranks, width, [&](std::int64_t own, std::int64_t whole) {
    const double a = found[static_cast<std::size_t>(own / width * RingSizes::all + first + own % width)];
    const double b = wanted[static_cast<std::size_t>(whole)];
    if (!(std::fabs(a - b) <= 1e-12 * std::fmax(1.0, std::fabs(b))))
      throw std::logic_error(name + " of rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " at " +
                             std::to_string(own) + ": " + std::to_string(a) + ", not " + std::to_string(b));
  });
}

template <int N, bool IsCausal, SequenceDivision Division> void test_ring() {
  auto communicators = parallel::thread_communicators(std::vector<Cpu>(N, Cpu{0}), {.timeout_ms = 20'000});
  parallel::run_ranks(communicators, [](auto& communicator) {
    constexpr std::int64_t width = RingSizes::width;
    constexpr std::int64_t value_width = RingSizes::value_width;
    const auto found = test::run_ring<RingModel<N, IsCausal, Division>>(communicator, golden);
    const auto check = [&](std::int64_t first, std::int64_t columns, const char* name) {
      require_close(found, first, columns, (IsCausal ? "causal_" : "plain_") + std::string{name}, Division,
                    communicator.rank(), N);
    };
    check(0, value_width, "y");
    check(value_width, width, "dq");
    check(value_width + width, width, "dk");
    check(value_width + 2 * width, value_width, "dv");
  });
  const auto bytes = parallel::ring_attention_bytes({.batch = RingSizes::batch * RingSizes::heads,
                                                     .rows = RingSizes::rows / N,
                                                     .width = RingSizes::width,
                                                     .value_width = RingSizes::value_width,
                                                     .ranks = N,
                                                     .dtype = DType::float64,
                                                     .is_causal = IsCausal,
                                                     .division = Division});
  for (auto& communicator : communicators) {
    const parallel::Transfer all = communicator.traffic().total();
    CHECK(all.sent_bytes == bytes.sent_forward + bytes.sent_backward);
    CHECK(all.received_bytes == all.sent_bytes);
  }
}

} // namespace

TEST_CASE("attention over a divided sequence is PyTorch's over all of it", "[parallel][PAR-7]") {
  test_ring<1, true, SequenceDivision::zigzag>();
  test_ring<2, false, SequenceDivision::contiguous>();
  test_ring<3, false, SequenceDivision::zigzag>();
  test_ring<4, false, SequenceDivision::contiguous>();
}

TEST_CASE("causal attention over a contiguous division is, too", "[parallel][PAR-7]") {
  test_ring<2, true, SequenceDivision::contiguous>();
  test_ring<3, true, SequenceDivision::contiguous>();
  test_ring<4, true, SequenceDivision::contiguous>();
}

TEST_CASE("causal attention over a zigzag division is, too", "[parallel][PAR-7]") {
  test_ring<2, true, SequenceDivision::zigzag>();
  test_ring<3, true, SequenceDivision::zigzag>();
  test_ring<4, true, SequenceDivision::zigzag>();
}

namespace {

constexpr std::int64_t long_rows = 256; // of a rank
constexpr std::int64_t long_width = 8;

/// Attention, and its gradients where wanted.
template <int N, bool IsCausal, bool IsBackward> struct Long {
  using Rows = Input<1, 1, long_rows, long_width>;
  static constexpr auto forward(Rows q, Rows k, Rows v, Rows g) {
    const Value y = graph::ring_attention<RankAxis<"context", N>>(
        q, k, v, {.scale = 0.5, .is_causal = IsCausal, .division = SequenceDivision::zigzag});
    if constexpr (IsBackward) {
      const auto of = graph::gradients(graph::sum(y * g), std::array<Value, 3>{q, k, v});
      return graph::concatenate({of[0], of[1], of[2]}, -1);
    } else {
      return y;
    }
  }
};

/// The bytes that a device without memory gives out, without those of the result.
template <int N, bool IsCausal, bool IsBackward> std::int64_t working_bytes() {
  const Meta device{0};
  const nn::Network<Long<N, IsCausal, IsBackward>, Meta> model{device};
  const Tensor<float, Meta, Shape<1, 1, long_rows, long_width>> x(device);
  reset_peak_memory_stats(device);
  const std::int64_t before = memory_allocated(device);
  const auto y = model.infer(x, x, x, x);
  synchronize(device);
  return max_memory_allocated(device) - before - y.elements() * std::int64_t{4};
}

template <bool IsCausal> void test_bytes() {
  const auto bytes = parallel::ring_attention_bytes({.rows = long_rows,
                                                     .width = long_width,
                                                     .value_width = long_width,
                                                     .ranks = 4,
                                                     .is_causal = IsCausal,
                                                     .division = SequenceDivision::zigzag});
  const auto check = [](std::int64_t found, std::int64_t predicted) {
    CHECK(found <= predicted + 1024); // blocks of memory are multiples of 256 bytes
    CHECK(10 * found >= 9 * predicted);
  };
  check(working_bytes<4, IsCausal, false>(), bytes.working_forward);
  const std::int64_t kept = long_rows * 4; // the logsumexp, which the program keeps
  check(working_bytes<4, IsCausal, true>(), bytes.working_backward + kept);
}

} // namespace

TEST_CASE("the bytes of ring attention are those predicted, whatever the number of ranks", "[parallel][PAR-7][MEM-8]") {
  test_bytes<false>();
  test_bytes<true>();
  CHECK(working_bytes<4, true, true>() == working_bytes<5, true, true>());
}
