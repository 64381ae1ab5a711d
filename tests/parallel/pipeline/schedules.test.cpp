// SPDX-License-Identifier: Apache-2.0
//
// Kinds of schedules against the formulas of their papers, over many numbers of ranks and micro-batches, and by the
// compiler.
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

using namespace twill;
using namespace twill::pipeline;

struct Times {
  double f, i, w;
};
constexpr Times times[] = {{1, 1, 1}, {3, 4, 2}, {10, 10, 10}, {5, 6, 5}};

/// Bubble, and what each rank keeps, of a kind of schedule and of its formula.
template <class S, class Bubble, class Kept>
void check_formulas(int ranks, int micro_batches, Bubble bubble, Kept kept) {
  INFO(S::name << ", " << ranks << " ranks, " << micro_batches << " micro-batches");
  const Verdict verdict = verify<S>(ranks, micro_batches);
  INFO(to_string(verdict));
  REQUIRE(verdict);
  const Schedule schedule = table<S>(ranks, micro_batches);
  for (const Times& t : times) {
    // Costs are those of a rank; its stages share them.
    const double v = S::stages_per_rank;
    const Timeline timeline = simulate(schedule, UniformCost{t.f, t.i, t.w});
    REQUIRE(timeline.is_complete);
    if (const double expected = bubble(t.f * v, t.i * v, t.w * v); expected >= 0) CHECK(timeline.bubble() == expected);
  }
  const List<int> peaks = peak_activations(schedule);
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank);
    CHECK(peaks[static_cast<std::size_t>(rank)] == kept(rank));
  }
}

template <int V> void check_interleaved(int p, int m) {
  if (m % p != 0) return;
  check_formulas<Interleaved<V>>(
      p, m, [&](double f, double i, double w) { return (p - 1) * (f + i + w) / V; },
      [&](int r) { return std::min(m * V, (V - 1) * p + 2 * (p - 1 - r) + 1); });
}

TEST_CASE("schedules of the literature have the bubbles and the activations of their formulas", "[parallel][PAR-6]") {
  for (const int p : {1, 2, 3, 4, 7, 16, 64})
    for (const int m : {1, 2, 3, 4, 8, 21, 64, 128, 256}) {
      const auto usual = [&](double f, double i, double w) { return (p - 1) * (f + i + w); };
      check_formulas<GPipe>(p, m, usual, [&](int) { return m; });
      check_formulas<OneForwardOneBackward>(p, m, usual, [&](int r) { return std::min(m, p - r); });
      check_interleaved<1>(p, m);
      check_interleaved<2>(p, m);
      check_interleaved<3>(p, m);
      check_interleaved<4>(p, m);
      if (m >= p)
        check_formulas<ZeroBubbleH1>(
            p, m, [&](double f, double i, double w) { return (p - 1) * (f + i - w); }, [&](int) { return p; });
      if (m >= 2 * p - 1) {
        check_formulas<ZeroBubbleH2>(
            p, m, [&](double f, double i, double w) { return (p - 1) * (f + i - 2 * w); },
            [&](int) { return 2 * p - 1; });
        check_formulas<ZeroBubbleV>(
            p, m, [&](double f, double i, double w) { return f == i && i == w ? 0 : -1; }, [&](int) { return 2 * p; });
      }
    }
}

TEST_CASE("the fill of a pipeline stays in its makespan", "[parallel][PAR-6]") {
  for (const int p : {1, 2, 5, 8})
    for (const int m : {15, 16, 40}) {
      const auto makespan = [&](const Schedule& schedule) { return simulate(schedule, UniformCost{}).makespan(); };
      CHECK(makespan(table<GPipe>(p, m)) == 3 * (m + p - 1));
      CHECK(makespan(table<OneForwardOneBackward>(p, m)) == 3 * (m + p - 1));
      CHECK(makespan(table<ZeroBubbleH2>(p, m)) == 3 * m + p - 1);
      CHECK(makespan(table<ZeroBubbleV>(p, m)) == 6 * m + p - 1);
    }
  // One device takes m (F + B): p m / (m + p - 1) times as long.
  CHECK(6 * 3 * 2 / simulate(table<GPipe>(2, 6), UniformCost{}).makespan() == Approx(1.714).margin(5e-4));
  CHECK(10 * 3 * 2 / simulate(table<GPipe>(2, 10), UniformCost{}).makespan() == Approx(1.818).margin(5e-4));
}

TEST_CASE("transfers that take time lengthen a pipeline and no rank's work", "[parallel][PAR-6]") {
  const Schedule schedule = table<OneForwardOneBackward>(3, 6);
  const Timeline timeline = simulate(schedule, UniformCost{}, UniformTransfer{0.25});
  CHECK(timeline.ranks[2].front().start == 2.5); // two transfers on the way
  CHECK(timeline.makespan() > simulate(schedule, UniformCost{}).makespan());
  for (const List<TimedAction>& events : timeline.ranks)
    for (const TimedAction& event : events) CHECK(event.end - event.start == UniformCost{}(event.action));
}

// By the compiler.
static_assert(ScheduleKind<GPipe> && ScheduleKind<Interleaved<2>> && !ScheduleKind<int>);
static_assert(verified<GPipe, 4, 8>);
static_assert(verified<OneForwardOneBackward, 4, 8>);
static_assert(verified<Interleaved<2>, 4, 8>);
static_assert(verified<ZeroBubbleH1, 4, 8>);
static_assert(verified<ZeroBubbleH2, 4, 8>);
static_assert(verified<ZeroBubbleV, 4, 8>);
static_assert(simulate(table<OneForwardOneBackward>(4, 8), UniformCost{}).bubble() == 3 * 3);
static_assert(simulate(table<ZeroBubbleH2>(4, 8), UniformCost{}).bubble() == 0);
static_assert(peak_activations(table<OneForwardOneBackward>(4, 8)) == List<int>{4, 3, 2, 1});
static_assert(peak_activations(table<ZeroBubbleH2>(4, 8)) == List<int>{7, 7, 7, 7});

} // namespace
