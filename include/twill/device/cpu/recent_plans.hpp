#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A thread's plans for calls of a library, found by what they are for. There are at most so many; one more takes the place of the
// plan that nobody has asked for the longest. Who asks for a plan that is there pays for the search and for one counter: nothing
// moves, so that calls in the order of a training step find their plans in that order. Read next:
// device/cpu/onednn_convolution.hpp.

#include <twill/core/config.hpp>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace cpu {

/// A plan is made from what it is for, and knows whether it is for that.
template <class Plan, class... Key>
concept PlanFor = std::constructible_from<Plan, const Key&...> && requires(const Plan& plan, const Key&... key) {
  { plan.is_for(key...) } -> std::same_as<bool>;
};

/// How often a plan, of any thread, has given way to another.
TWILL_EXPORT inline constinit std::atomic<std::uint32_t> replaced_plans{0};

/// The plans of one thread, `most` of them. A plan stays where it is until another takes its place.
template <class Plan, std::size_t most> class RecentPlans {
public:
  static_assert(most > 0);

  /// The plan for a key, made where it is missing. throws: what making it throws; nothing changed then
  template <class... Key>
  requires PlanFor<Plan, Key...>
  [[nodiscard]] Plan& find(const Key&... key) {
    for (Entry& entry : entries_)
      if (entry.plan->is_for(key...)) {
        entry.last_asked = ++asked_;
        return *entry.plan;
      }
    return make(key...);
  }

private:
  struct Entry {
    std::unique_ptr<Plan> plan{};
    std::uint64_t last_asked = 0;
  };

  template <class... Key> TWILL_COLD Plan& make(const Key&... key) {
    auto plan = std::make_unique<Plan>(key...);
    if (entries_.size() < most) {
      entries_.push_back({std::move(plan), ++asked_});
      return *entries_.back().plan;
    }
    const auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const Entry& left, const Entry& right) {
      return left.last_asked < right.last_asked;
    });
    replaced_plans.fetch_add(1, std::memory_order_relaxed);
    *oldest = {std::move(plan), ++asked_};
    return *oldest->plan;
  }

  std::vector<Entry> entries_{};
  std::uint64_t asked_ = 0; ///< how often
};

}}} // namespace twill::v0::cpu
