#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Choice among the plans that a library proposes for a problem: plans that the program does not allow are left out (not
// deterministic, TF32, sums of less precision, too much working memory), then the first that can be built is taken, or
// the fastest of several by timing. Plans left out are counted, for the reason. The library is a template argument, so
// that all of it is tested without CUDA. Not in the umbrella. Read next: device/cuda/cudnn_plan.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/plan_cache.hpp>
#include <twill/device/gpu/library_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace nvidia {

/// A library's notes about an engine's arithmetic.
struct EngineNotes {
  bool is_nondeterministic = false;
  bool uses_tensor_cores = false; ///< for factors of float32 this means TF32
  bool rounds_factors = false;    ///< to a narrower type than TF32
  bool sums_in_less_precision = false;
};

/// The limits that a program sets.
struct PlanLimits {
  DType factors = DType::float32; ///< the type of the factors
  bool must_be_deterministic = false;
  bool allows_tf32 = false;
  std::size_t workspace_bytes = 0;
};

/// The reason why a plan is not taken.
enum class Objection : std::uint8_t { none, nondeterministic, tf32, precision, unbuilt, workspace };
inline constexpr std::size_t objection_count = 6;

[[nodiscard]] constexpr Objection objection_to(const EngineNotes& notes, const PlanLimits& limits) {
  if (notes.is_nondeterministic && limits.must_be_deterministic) return Objection::nondeterministic;
  if (notes.sums_in_less_precision || notes.rounds_factors) return Objection::precision;
  const bool is_tf32 = notes.uses_tensor_cores && limits.factors == DType::float32;
  return is_tf32 && !limits.allows_tf32 ? Objection::tf32 : Objection::none;
}

/// The course of a choice, in numbers.
struct PlanSummary {
  bool exists = false;
  bool was_timed = false;
  int candidates = 0; ///< that were allowed and could be built
  std::array<int, objection_count> objections{};
  std::size_t workspace_bytes = 0; ///< of the chosen plan

  friend constexpr bool operator==(const PlanSummary&, const PlanSummary&) = default;
};

/// "the fastest of 8 that were timed", "none of the library's 5 engines: 3 compute in TF32, 2 need more working memory"
[[nodiscard]] TWILL_COLD inline std::string to_string(const PlanSummary& summary) {
  if (summary.was_timed) return join_text({"the fastest of ", summary.candidates, " that were timed"});
  if (summary.exists) return "the first of the library's proposals that is allowed";
  int proposals = summary.candidates;
  for (const int count : summary.objections) proposals += count;
  if (proposals == 0) return "the library proposes no engine";
  constexpr std::array<std::string_view, objection_count> words = {"",
                                                                   "are not deterministic",
                                                                   "compute in TF32",
                                                                   "compute in less precision",
                                                                   "cannot be built or run",
                                                                   "need more working memory"};
  std::string text = join_text({"none of the library's ", proposals, " engines"});
  std::string_view separator = ": ";
  for (std::size_t i = 1; i < objection_count; ++i) {
    if (summary.objections[i] == 0) continue;
    text += join_text({separator, summary.objections[i], " ", words[i]});
    separator = ", ";
  }
  if (summary.candidates > 0) text += join_text({separator, summary.candidates, " did not run"});
  return text;
}

template <class Plan> struct ChosenPlan {
  std::shared_ptr<const Plan> plan{}; ///< null when there is none
  PlanSummary summary{};
};

/// The first `wanted` allowed plans for which `runs(plan)` is true. `Proposals::for_each(visit)` calls visit(notes,
/// build) for each proposal, best first, until it returns false; build() makes a shared pointer to a plan, or null.
template <class Plan, class Proposals, class Runs>
[[nodiscard]] std::vector<std::shared_ptr<const Plan>> allowed_plans(const Proposals& proposals,
                                                                     const PlanLimits& limits, std::size_t wanted,
                                                                     PlanSummary& summary, Runs runs) {
  std::vector<std::shared_ptr<const Plan>> plans;
  if (wanted == 0) return plans;
  proposals.for_each([&](const EngineNotes& notes, auto&& build) {
    Objection objection = objection_to(notes, limits);
    std::shared_ptr<const Plan> plan;
    if (objection == Objection::none) {
      plan = build();
      if (plan == nullptr)
        objection = Objection::unbuilt;
      else if (plan->workspace_bytes() > limits.workspace_bytes)
        objection = Objection::workspace;
      else if (!runs(*plan))
        objection = Objection::unbuilt;
    }
    if (objection != Objection::none) {
      ++summary.objections[static_cast<std::size_t>(objection)];
      return true;
    }
    plans.push_back(std::move(plan));
    return plans.size() < wanted;
  });
  summary.candidates = static_cast<int>(plans.size());
  return plans;
}

/// One plan of at most `wanted`. If one is wanted, `trial.runs(plan)` tries it, and the next one follows if it fails;
/// if several are, `trial.seconds_of(plan)` times them, with no value for one that does not run.
template <class Plan, class Proposals, class Trial>
[[nodiscard]] ChosenPlan<Plan> choose_plan(const Proposals& proposals, const PlanLimits& limits, std::size_t wanted,
                                           Trial&& trial) {
  ChosenPlan<Plan> chosen{};
  const auto plans = allowed_plans<Plan>(proposals, limits, wanted, chosen.summary,
                                         [&](const Plan& plan) { return wanted > 1 || trial.runs(plan); });
  if (plans.size() == 1 && (wanted == 1 || trial.runs(*plans.front()))) chosen.plan = plans.front();
  double best_s = 0;
  for (std::size_t i = 0; i < plans.size() && plans.size() > 1; ++i) {
    const std::optional<double> seconds = trial.seconds_of(*plans[i]);
    if (!seconds || (chosen.plan != nullptr && *seconds >= best_s)) continue;
    best_s = *seconds;
    chosen.plan = plans[i];
    chosen.summary.was_timed = true;
  }
  chosen.summary.exists = chosen.plan != nullptr;
  if (chosen.plan != nullptr) chosen.summary.workspace_bytes = chosen.plan->workspace_bytes();
  return chosen;
}

/// Whether plans can be timed now: not while work is only recorded, nor where it cannot be done twice.
enum class Timing : std::uint8_t { possible, impossible };

/// Looks a plan up, or makes it by `make(is_timed)`. Timed plans have separate keys, `key_of(true)`; if timing is
/// impossible now, an earlier timed plan is still used, so that a captured step runs the plan that its first run found.
/// Deterministic programs never time: the clock would decide their bits.
template <std::size_t Words, class Plan, class KeyOf, class Make>
[[nodiscard]] Plan find_or_choose(PlanCache<Words, Plan>& cache, const LibraryOptions& options, Timing timing,
                                  KeyOf key_of, Make make) {
  if (options.autotune && !options.is_deterministic) {
    if (timing == Timing::possible) return cache.find_or_make(key_of(true), [&] { return make(true); });
    if (const std::optional<Plan> known = cache.find_known(key_of(true))) return *known;
  }
  return cache.find_or_make(key_of(false), [&] { return make(false); });
}

/// The options that a plan depends on, as bits of a key.
[[nodiscard]] constexpr std::uint64_t key_bits(const LibraryOptions& options, bool is_timed) {
  return (is_timed ? 1U : 0U) | (options.is_deterministic ? 2U : 0U) | (options.allows_tf32_in_products ? 4U : 0U) |
         (options.allows_tf32_in_convolutions ? 16U : 0U);
}

}}} // namespace twill::v0::nvidia
