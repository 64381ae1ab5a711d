// SPDX-License-Identifier: Apache-2.0
//
// Schedules that cannot be carried out are refused, and what is wrong is named; random changes to sound schedules are judged
// as a plain search over all that ranks can do judges them.
#include "tests/support/test_seed.hpp"

#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <string>

namespace {

using namespace twill;
using namespace twill::pipeline;

std::string told(std::initializer_list<std::string_view> orders, int stages, int micro_batches) {
  return to_string(verify(read_schedule(orders, stages, micro_batches)));
}

TEST_CASE("actions are read and written in the notation of the field", "[parallel][PAR-6]") {
  const auto all = actions("0F1, 10B2 3I0 4W1 0SEND_F1 1RECV_F1 2SEND_B0,1RECV_B0");
  REQUIRE(all.size() == 8);
  CHECK(all[0] == forward(0, 1));
  CHECK(all[1] == backward(10, 2));
  CHECK(all[4] == Action{Work::send_forward, 0, 1});
  CHECK(counterpart(all[4]) == all[5]);
  CHECK(counterpart(all[6]) == all[7]);
  std::string text;
  for (const Action& action : all) text += to_string(action) + " ";
  CHECK(text == "0F1 10B2 3I0 4W1 0SEND_F1 1RECV_F1 2SEND_B0 1RECV_B0 ");
  CHECK_THROWS_WITH(actions("0F1 F2"), "pipeline::actions: expected a number at character 4 of \"0F1 F2\"");
  CHECK(actions("0F2147483647")[0].micro_batch == 2147483647);
  CHECK_THROWS_WITH(actions("0F2147483648"),
                    "pipeline::actions: a number above 2147483647 at character 2 of \"0F2147483648\"");
  CHECK_THROWS_WITH(actions("99999999999999999999F0"), Catch::StartsWith("pipeline::actions: a number above"));
  CHECK_THROWS_WITH(table<GPipe>(2, 0),
                    "pipeline::table: a schedule of GPipe has at least one rank and one micro-batch, "
                    "got 2 and 0");
  CHECK_THROWS_WITH(table<OneForwardOneBackward>(-3, 4), Catch::EndsWith("got -3 and 4"));
  CHECK_THROWS_WITH(actions("0G1"), "pipeline::actions: expected F, B, I, W, SEND_ or RECV_ at character 1 of \"0G1\"");
}

TEST_CASE("a schedule that cannot be carried out is refused by rank and action", "[parallel][PAR-6]") {
  const auto sound = {"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"};
  CHECK(told({*sound.begin(), *(sound.begin() + 1)}, 2, 1) == "the schedule is sound");
  // 1F1B whose last rank counts from one: it never runs the first, and runs one that does not exist.
  CHECK(told({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1", "1RECV_F1 1F1 1B1 1F2 1B2"}, 2, 2) ==
        "1F2 on rank 1 is outside the schedule");
  CHECK(told({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1", "1RECV_F1 1F1 1B1 1SEND_B1"}, 2, 2) ==
        "1F0 on rank 1 never runs");
  CHECK(told({"0F0 0W0 0I0"}, 1, 1) == "0W0 on rank 0 stands before its input gradient");
  CHECK(told({"0B0 0F0"}, 1, 1) == "0B0 on rank 0 stands before its forward pass");
  CHECK(told({"0F0 0I0"}, 1, 1) == "0W0 on rank 0 never runs");
  CHECK(told({"0F0 0I0 0B0 0W0"}, 1, 1) == "0B0 on rank 0 is a gradient that is computed whole and in parts");
  CHECK(told({"0F0 0F0 0B0"}, 1, 1) == "0F0 on rank 0 runs twice");
  CHECK(told({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0 0F0"}, 2, 1) ==
        "0F0 on rank 1 belongs to a stage that another rank holds");
  CHECK(told({"0F0 0SEND_F0 0RECV_B0 0B0", "1F0 1RECV_F0 1B0 1SEND_B0"}, 2, 1) ==
        "1F0 on rank 1 stands before its input is there");
  CHECK(told({"0SEND_F0 0F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0 1SEND_B0"}, 2, 1) ==
        "0SEND_F0 on rank 0 stands before what it sends is computed");
  CHECK(told({"0F0 0SEND_F0 0RECV_B0 0B0", "1RECV_F0 1F0 1B0"}, 2, 1) ==
        "0RECV_B0 on rank 0 is received and never sent");
  CHECK(told({"0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1",
              "1RECV_F1 1RECV_F0 1F0 1B0 1SEND_B0 1F1 1B1 1SEND_B1"},
             2, 2) == "0SEND_F0 on rank 0 is not the next message between the two ranks");
}

TEST_CASE("sends that wait for their receives show a deadlock that buffered sends hide", "[parallel][PAR-6]") {
  // Both ranks hold two stages and are in a send to each other: the interleaved lists as they are often written.
  const auto schedule = read_schedule({"0F0 0SEND_F0 2RECV_F0 2F0 2SEND_F0 2RECV_B0 2B0 2SEND_B0 0RECV_B0 0B0",
                                       "1RECV_F0 1F0 1SEND_F0 3RECV_F0 3F0 3B0 3SEND_B0 1RECV_B0 1B0 1SEND_B0"},
                                      4, 1);
  CHECK(to_string(verify(schedule)) == "the schedule is sound");
  const auto crossed = read_schedule(
      {"0F0 0SEND_F0 0F1 2RECV_F0 2F0 0SEND_F1 2SEND_F0 2RECV_F1 2F1 2SEND_F1 2RECV_B0 2B0 2SEND_B0 2RECV_B1 2B1 2SEND_B1 "
       "0RECV_B0 0B0 0RECV_B1 0B1",
       "1RECV_F0 1F0 1SEND_F0 1RECV_F1 1F1 1SEND_F1 3RECV_F0 3F0 3B0 3SEND_B0 3RECV_F1 3F1 3B1 3SEND_B1 1RECV_B0 1B0 "
       "1SEND_B0 1RECV_B1 1B1 1SEND_B1"},
      4, 2);
  CHECK(twill::pipeline::detail::verify_progress(crossed, false));
  CHECK(to_string(verify(crossed)) == "2SEND_F0 on rank 0 waits for ever when sends wait for their receives");
}

TEST_CASE("a schedule below its needs is refused with the numbers", "[parallel][PAR-6]") {
  CHECK_THROWS_WITH(schedule<ZeroBubbleH2>(4, 6),
                    "pipeline::schedule: ZB-H2 with 4 ranks and 6 micro-batches: the schedule "
                    "needs more micro-batches, at least 7");
  CHECK_THROWS_WITH(schedule<ZeroBubbleH1>(4, 3), Catch::Contains("at least 4"));
  CHECK_THROWS_WITH(schedule<OneForwardOneBackward>(4, 0), Catch::Contains("at least 1"));
  CHECK_THROWS_WITH(schedule<Interleaved<2>>(4, 6), Catch::Contains("that its number of ranks divides"));
  CHECK(schedule<Interleaved<2>>(4, 8).orders.size() == 4);
}

/// Whether any order of events in which both ends of a message are one event gets all ranks to their ends.
bool can_finish(const Schedule& schedule) {
  List<std::size_t> at(static_cast<std::size_t>(schedule.ranks), 0);
  while (true) { // an event never takes away what another needs: any order that gets on is as good as another
    bool moved = false;
    bool is_over = true;
    for (std::size_t r = 0; r < at.size(); ++r) {
      if (at[r] == schedule.orders[r].size()) continue;
      is_over = false;
      const Action& action = schedule.orders[r][at[r]];
      if (is_computed(action.work)) {
        ++at[r], moved = true;
        continue;
      }
      for (std::size_t q = 0; q < at.size(); ++q)
        if (q != r && at[q] < schedule.orders[q].size() && schedule.orders[q][at[q]] == counterpart(action)) {
          ++at[r], ++at[q], moved = true;
          break;
        }
    }
    if (is_over) return true;
    if (!moved) return false;
  }
}

TEST_CASE("actions that change places are refused where the order matters and only there", "[parallel][PAR-6]") {
  const auto seed = twill::test::test_seed();
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    Schedule schedule = i % 4 == 0   ? with_transfers(table<OneForwardOneBackward>(3, 4))
                        : i % 4 == 1 ? with_transfers(table<Interleaved<2>>(2, 4))
                        : i % 4 == 2 ? with_transfers(table<ZeroBubbleV>(2, 3))
                                     : with_transfers(table<ZeroBubbleH1>(3, 3));
    REQUIRE(verify(schedule));
    List<Action>& order = schedule.orders[random() % schedule.orders.size()];
    const std::size_t first = random() % (order.size() - 1);
    std::swap(order[first], order[first + 1]);
    const Verdict verdict = verify(schedule);
    if (!can_finish(schedule)) CHECK_FALSE(verdict);
    if (!verdict) {
      ++refused;
      INFO(to_string(verdict));
      // Either it cannot finish, or a rank would use what is not there, or two messages have changed places.
      CHECK((!can_finish(schedule) || verdict.fault < ScheduleFault::deadlock));
    }
  }
  CHECK(refused > 50);
  CHECK(refused < 350);
}

} // namespace
