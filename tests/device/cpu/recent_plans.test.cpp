// SPDX-License-Identifier: Apache-2.0
#include <twill/device/cpu/recent_plans.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <vector>

using namespace twill;

namespace {

std::vector<int> made{};

/// A plan for two numbers, none of them negative.
class Plan {
public:
  Plan(int first, int second) : first_{first}, second_{second} {
    if (first < 0) throw std::invalid_argument("negative");
    made.push_back(first);
  }
  [[nodiscard]] bool is_for(int first, int second) const { return first == first_ && second == second_; }

private:
  int first_;
  int second_;
};
static_assert(cpu::PlanFor<Plan, int, int> && !cpu::PlanFor<Plan, int> && !cpu::PlanFor<int, int>);

} // namespace

TEST_CASE("the plan that nobody asked for the longest makes room for another", "[device][cpu]") {
  cpu::RecentPlans<Plan, 4> plans{};
  made.clear();
  const Plan& first = plans.find(0, 0);
  for (int i = 1; i < 4; ++i) static_cast<void>(plans.find(i, 0));
  CHECK(&plans.find(0, 0) == &first); // the one made first is asked for again
  CHECK_THROWS_AS(plans.find(-1, 0), std::invalid_argument);
  static_cast<void>(plans.find(4, 0)); // in the place of 1
  CHECK(&plans.find(0, 0) == &first);
  CHECK(made == std::vector<int>{0, 1, 2, 3, 4});
  for (const int i : {2, 3, 4}) static_cast<void>(plans.find(i, 0));
  CHECK(made.size() == 5);
  static_cast<void>(plans.find(1, 0)); // in the place of 0, since then the oldest
  static_cast<void>(plans.find(2, 0));
  static_cast<void>(plans.find(0, 0)); // in that of 3
  CHECK(made == std::vector<int>{0, 1, 2, 3, 4, 1, 0});
  static_cast<void>(plans.find(0, 7)); // another plan with the same first number
  CHECK(made.size() == 8);
}

TEST_CASE("calls in a steady order make each plan once, and a new one among them takes one away", "[device][cpu]") {
  cpu::RecentPlans<Plan, 16> plans{};
  made.clear();
  for (int step = 0; step < 3; ++step)
    for (int i = 0; i < 15; ++i) static_cast<void>(plans.find(i, 0));
  CHECK(made.size() == 15);
  for (int other = 100; other < 150; ++other) { // sizes of batches that come once
    for (int i = 0; i < 15; ++i) static_cast<void>(plans.find(i, 0));
    static_cast<void>(plans.find(other, 0));
  }
  CHECK(made.size() == 65); // first in, first out would have made nearly all of them again
}
