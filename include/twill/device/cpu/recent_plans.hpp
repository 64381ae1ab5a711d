#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Cache of a thread's plans for library calls, found by key, with a limited size; a new plan replaces the least
// recently used one. A hit costs the search and one counter: no entry moves, so that calls in the order of a training
// step find their plans in that order. Read next: device/cpu/onednn_convolution.hpp.

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

/// A plan is made from its key, and knows whether a key is its own.
template <class Plan, class... Key>
concept PlanFor = std::constructible_from<Plan, const Key&...> && requires(const Plan& plan, const Key&... key) {
  { plan.is_for(key...) } -> std::same_as<bool>;
};

/// The number of replaced plans, of all threads.
TWILL_EXPORT inline constinit std::atomic<std::uint32_t> replaced_plans{0};

/// The plans of one thread, `most` of them. A plan keeps its place until another replaces it.
template <class Plan, std::size_t most> class RecentPlans {
public:
  static_assert(most > 0);

  /// The plan for a key, made if it is missing. throws: what making it throws, with nothing changed
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
  std::uint64_t asked_ = 0; ///< the number of queries
};

}}} // namespace twill::v0::cpu
