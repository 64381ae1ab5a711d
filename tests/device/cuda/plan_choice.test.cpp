// SPDX-License-Identifier: Apache-2.0
//
// Choosing among a library's plans: what each option leaves out, the clock, what is looked up when nothing can be timed, and
// the reasons. The library is a table here.

#include <twill/device/cuda/plan_choice.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <optional>
#include <vector>

using namespace twill;
using namespace twill::nvidia;

namespace {

struct Engine {
  EngineNotes notes{};
  std::size_t bytes = 0;
  bool can_be_built = true;
  std::optional<double> seconds = 1.0;
};
struct Plan {
  std::size_t engine = 0;
  std::size_t bytes = 0;
  [[nodiscard]] std::size_t workspace_bytes() const { return bytes; }
};
struct Table {
  std::vector<Engine> engines;
  mutable int built = 0;
  template <class Visit> void for_each(Visit visit) const {
    for (std::size_t i = 0; i < engines.size(); ++i)
      if (!visit(engines[i].notes, [&]() -> std::shared_ptr<const Plan> {
            ++built;
            return engines[i].can_be_built ? std::make_shared<const Plan>(Plan{i, engines[i].bytes}) : nullptr;
          }))
        return;
  }
};

constexpr EngineNotes nondeterministic{.is_nondeterministic = true};
constexpr EngineNotes tensor_cores{.uses_tensor_cores = true};

ChosenPlan<Plan> choose(const Table& table, const PlanLimits& limits, std::size_t wanted) {
  struct Trial {
    const std::vector<Engine>& engines;
    [[nodiscard]] std::optional<double> seconds_of(const Plan& plan) const { return engines[plan.engine].seconds; }
    [[nodiscard]] bool runs(const Plan& plan) const { return seconds_of(plan).has_value(); }
  };
  return choose_plan<Plan>(table, limits, wanted, Trial{table.engines});
}

} // namespace

TEST_CASE("what a program does not allow is left out", "[device]") {
  const auto to = [](const EngineNotes& notes, const PlanLimits& limits) { return objection_to(notes, limits); };
  CHECK(to({}, {}) == Objection::none);
  CHECK(to(nondeterministic, {}) == Objection::none);
  CHECK(to(nondeterministic, {.must_be_deterministic = true}) == Objection::nondeterministic);
  CHECK(to(tensor_cores, {.factors = DType::float32}) == Objection::tf32);
  CHECK(to(tensor_cores, {.factors = DType::float32, .allows_tf32 = true}) == Objection::none);
  for (const DType exact : {DType::float16, DType::bfloat16, DType::float64})
    CHECK(to(tensor_cores, {.factors = exact}) == Objection::none);
  CHECK(to({.rounds_factors = true}, {.allows_tf32 = true}) == Objection::precision);
  CHECK(to({.sums_in_less_precision = true}, {.factors = DType::float16}) == Objection::precision);
}

TEST_CASE("the first allowed plan is taken, and no more are built than asked for", "[device]") {
  const Table table{{{.notes = tensor_cores},
                     {.bytes = 200},
                     {.can_be_built = false},
                     {.seconds = std::nullopt},
                     {.bytes = 100},
                     {}}};
  const auto chosen = choose(table, {.workspace_bytes = 100}, 1);
  REQUIRE(chosen.plan != nullptr);
  CHECK(chosen.plan->engine == 4);
  CHECK(table.built == 4);
  CHECK(chosen.summary.workspace_bytes == 100);
  CHECK_FALSE(chosen.summary.was_timed);
  CHECK(to_string(chosen.summary) == "the first of the library's proposals that is allowed");
  PlanSummary summary{};
  CHECK(allowed_plans<Plan>(table, {.workspace_bytes = 100}, 0, summary, [](const Plan&) { return true; }).empty());
}

TEST_CASE("of several plans the fastest that runs is taken", "[device]") {
  Table table{{{.seconds = 3.0}, {.seconds = std::nullopt}, {.seconds = 2.0}, {.seconds = 2.5}}};
  const auto chosen = choose(table, {}, 8);
  REQUIRE(chosen.plan != nullptr);
  CHECK(chosen.plan->engine == 2);
  CHECK(to_string(chosen.summary) == "the fastest of 4 that were timed");
  CHECK(choose(table, {}, 2).plan->engine == 0);
  for (Engine& engine : table.engines) engine.seconds = std::nullopt;
  CHECK(choose(table, {}, 8).plan == nullptr);
  CHECK(to_string(choose(table, {}, 8).summary) == "none of the library's 4 engines: 4 did not run");
}

TEST_CASE("when nothing is taken the reason counts what was left out", "[device]") {
  const Table table{{{.notes = tensor_cores}, {.notes = tensor_cores}, {.notes = nondeterministic}, {.bytes = 9}}};
  const auto chosen = choose(table, {.must_be_deterministic = true, .workspace_bytes = 8}, 1);
  CHECK(chosen.plan == nullptr);
  CHECK(to_string(chosen.summary) == "none of the library's 4 engines: 1 are not deterministic, 2 compute in TF32, 1 "
                                     "need more working memory");
  CHECK(to_string(choose(Table{}, {}, 1).summary) == "the library proposes no engine");
}

TEST_CASE("a recorded run takes the plan that was timed before", "[device]") {
  PlanCache<2, int> cache;
  int made = 0;
  const auto find = [&](const LibraryOptions& options, Timing timing) {
    return find_or_choose(
        cache, options, timing,
        [&](bool is_timed) {
          return std::array{std::uint64_t{7}, key_bits(options, is_timed)};
        },
        [&](bool is_timed) {
          ++made;
          return is_timed ? 100 : 1;
        });
  };
  const LibraryOptions timed{.autotune = true};
  CHECK(find(timed, Timing::impossible) == 1); // nothing was timed yet
  CHECK(find(timed, Timing::possible) == 100);
  CHECK(find(timed, Timing::impossible) == 100);
  CHECK(find({}, Timing::possible) == 1);
  CHECK(made == 2);
  const LibraryOptions both{.autotune = true, .is_deterministic = true};
  CHECK(find(both, Timing::possible) == 1);
  CHECK(made == 3);
}
