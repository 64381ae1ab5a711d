// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <time.h>

using namespace twill;

namespace {

std::mutex warnings_mutex;
std::vector<std::string> warnings;

void keep_warning(std::string_view message) {
  const std::lock_guard lock{warnings_mutex};
  warnings.emplace_back(message);
}

double seconds_of_cpu() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

TEST_CASE("a launch on an idle device runs at once, in the calling thread", "[device][cpu][DEV-1]") {
  std::thread::id ran_on;
  int threads = 0;
  launch(Cpu{0}, [&](const Team& team) {
    ran_on = std::this_thread::get_id();
    threads = team.size();
  });
  CHECK(ran_on == std::this_thread::get_id());
  CHECK(threads == 2);
}

TEST_CASE("a launch throws what its function threw", "[device][cpu]") {
  CHECK_THROWS_AS(launch(Cpu{0}, [](const Team&) { throw std::domain_error("kernel"); }), std::domain_error);
  int runs = 0;
  launch(Cpu{0}, [&](const Team&) { ++runs; });
  CHECK(runs == 1);
}

TEST_CASE("a launch comes after everything submitted before it", "[device][cpu][DEV-8]") {
  std::vector<int> order; // no lock: the stream's order is all that protects it
  for (int round = 0; round < 20; ++round) {
    order.clear();
    for (int task = 0; task < 3; ++task)
      (void)submit(Cpu{1}, [&order, task] {
        if (task == 0) std::this_thread::sleep_for(std::chrono::microseconds{200});
        order.push_back(task);
      });
    launch(Cpu{1}, [&](const Team&) { order.push_back(3); });
    REQUIRE(order == std::vector<int>{0, 1, 2, 3});
  }
}

TEST_CASE("a submitted task comes after what was launched before it", "[device][cpu][DEV-8]") {
  int value = 0;
  for (int round = 1; round <= 100; ++round) {
    launch(Cpu{1}, [&](const Team&) { value = round; });
    REQUIRE(submit(Cpu{1}, [&] { return value; }).wait() == round);
  }
}

TEST_CASE("a submitted function runs on the device's own pinned thread", "[device][cpu][DEV-1]") {
  const auto first = submit(Cpu{2}, [] { return std::this_thread::get_id(); }).wait();
  CHECK(first != std::this_thread::get_id());
  CHECK(first == submit(Cpu{2}, [] { return std::this_thread::get_id(); }).wait());
  CHECK(first != submit(Cpu{3}, [] { return std::this_thread::get_id(); }).wait());
  const auto allowed = submit(Cpu{2}, [] { return cpu::affinity_of_thread(); }).wait();
  for (const int core : allowed) {
    const auto& own = cores_of(Cpu{2});
    CHECK(std::find(own.begin(), own.end(), core) != own.end());
  }
}

TEST_CASE("a handle yields results of every sort", "[device][cpu]") {
  auto none = submit(Cpu{0}, [] {});
  none.wait();
  none.wait();
  CHECK(none.is_complete());
  auto text = submit(Cpu{0}, [] { return std::string(100, 'x'); });
  CHECK(text.wait() == std::string(100, 'x'));
  CHECK(text.wait().size() == 100);
  auto pointer = submit(Cpu{0}, [owned = std::make_unique<int>(6)]() mutable { return std::move(owned); });
  CHECK(*pointer.wait() == 6);
}

TEST_CASE("waiting rethrows the task's exception, as often as one waits", "[device][cpu]") {
  auto failing = submit(Cpu{0}, []() -> int { throw std::out_of_range("replica"); });
  CHECK_THROWS_AS(failing.wait(), std::out_of_range);
  CHECK_THROWS_WITH(failing.wait(), "replica");
  CHECK(submit(Cpu{0}, [] { return 1; }).wait() == 1);
}

TEST_CASE("an exception that nobody waited for is told to the warning sink", "[device][cpu]") {
  auto* const previous = set_warning_sink(&keep_warning);
  (void)submit(Cpu{1}, [] { throw std::runtime_error("lost"); });
  synchronize(Cpu{1});
  {
    auto seen = submit(Cpu{1}, [] { throw std::runtime_error("seen"); });
    CHECK_THROWS(seen.wait());
  }
  set_warning_sink(previous);
  const std::lock_guard lock{warnings_mutex};
  CHECK(warnings == std::vector<std::string>{"submit: a task on cpu:1 failed and nothing waited for it: lost"});
}

TEST_CASE("what a task captured is gone when somebody has waited for it", "[device][cpu]") {
  const auto shared = std::make_shared<int>(1);
  for (int round = 0; round < 50; ++round) {
    auto pending = submit(Cpu{0}, [shared] {});
    pending.wait();
    REQUIRE(shared.use_count() == 1);
  }
}

TEST_CASE("events mark points in the order of a device's work", "[device][cpu][DEV-8]") {
  CHECK(event_t<Cpu>{}.is_complete());
  CHECK_NOTHROW(event_t<Cpu>{}.wait());
  std::atomic<bool> go{false};
  int value = 0;
  (void)submit(Cpu{1}, [&] {
    while (!go) std::this_thread::yield();
    value = 1;
  });
  const auto first = record(Cpu{1});
  int later = 0;
  (void)submit(Cpu{1}, [&] { later = 2; });
  CHECK(!first.is_complete());
  int seen = 0;
  (void)submit(Cpu{2}, [first, &value, &seen] {
    wait(first);
    seen = value; // ordered after the write on cpu:1, though the queues are different
  });
  go = true;
  wait(Cpu{2}, first);
  CHECK(first.is_complete());
  synchronize(Cpu{1});
  synchronize(Cpu{2});
  CHECK(seen == 1);
  CHECK(later == 2);
  CHECK(record(Cpu{1}).is_complete());
}

TEST_CASE("many threads submit and launch at once", "[device][cpu]") {
  constexpr int threads = 6;
  constexpr int rounds = 100;
  int total = 0; // no lock: only tasks of one device touch it
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([&total, thread] {
      std::vector<Pending<void>> pending;
      for (int round = 0; round < rounds; ++round) {
        pending.push_back(submit(Cpu{3}, [&total] { ++total; }));
        launch(Cpu{thread % 3}, [](const Team& team) { team.parallel([](int, int) {}); });
      }
      for (auto& each : pending) each.wait();
    });
  for (auto& thread : running) thread.join();
  CHECK(total == threads * rounds);
}

TEST_CASE("devices run their tasks at the same time, oversubscribed or not", "[device][cpu]") {
  std::atomic<int> arrived{0};
  std::vector<Pending<int>> pending;
  for (int device = 0; device < 4; ++device)
    pending.push_back(submit(Cpu{device}, [&arrived] {
      ++arrived;
      while (arrived < 4) std::this_thread::yield(); // each waits for all others
      return current_device<Cpu>().index;
    }));
  for (int device = 0; device < 4; ++device) CHECK(pending[static_cast<std::size_t>(device)].wait() == device);
}

TEST_CASE("inside a task launches are inline, on any device", "[device][cpu]") {
  std::atomic<int> inside{0};
  const auto task = [&inside](Cpu other) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    int ranks = 0; // both tasks use each other's device while both are running: neither waits for the other
    launch(other, [&](const Team&) { ++ranks; });
    launch(current_device<Cpu>(), [&](const Team&) { ++ranks; });
    synchronize(current_device<Cpu>());
    return ranks;
  };
  auto first = submit(Cpu{0}, [&] { return task(Cpu{1}); });
  auto second = submit(Cpu{1}, [&] { return task(Cpu{0}); });
  CHECK(first.wait() == 2);
  CHECK(second.wait() == 2);
}

TEST_CASE("a team's threads serve a device's tasks", "[device][cpu]") {
  const auto runs = submit(Cpu{1}, [] {
                      std::vector<int> ranks(2);
                      launch(current_device<Cpu>(), [&](const Team& team) {
                        team.parallel([&](int rank, int) { ++ranks[static_cast<std::size_t>(rank)]; });
                      });
                      return ranks;
                    }).wait();
  CHECK(runs == std::vector<int>{1, 1});
}

TEST_CASE("a task that would wait for itself is told so", "[device][cpu]") {
  auto pending = submit(Cpu{0}, [] { submit(Cpu{0}, [] {}).wait(); });
  CHECK_THROWS_WITH(pending.wait(), "wait: a task on cpu:0 waits for itself or for a later task of cpu:0, which would "
                                    "never end; wait outside of the device's own tasks");
  synchronize(Cpu{0});
}

TEST_CASE("an idle device costs nothing", "[device][cpu]") {
  for (int device = 0; device < 4; ++device) {
    submit(Cpu{device}, [] {}).wait();
    launch(Cpu{device}, [](const Team& team) { team.parallel([](int, int) {}); });
  }
  // Threads spin before they sleep, on a busy machine some time later: what counts is that they come to an end.
  double spent = 1;
  for (int attempt = 0; attempt < 300 && spent >= 0.02; ++attempt) {
    const double before = seconds_of_cpu();
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    spent = seconds_of_cpu() - before;
  }
  CHECK(spent < 0.02);
}

TEST_CASE("a program ends cleanly while its devices idle or work", "[device][cpu]") {
  CHECK(test::run_in_child("child: ends while devices idle") == 0);
  CHECK(test::run_in_child("child: ends while a device works") == 0);
}

TEST_CASE("child: ends while devices idle", "[.child]") {
  configure_host({.devices = 2, .threads_per_device = 2, .oversubscribe = true});
  for (int device = 0; device < 2; ++device) {
    submit(Cpu{device}, [] {}).wait();
    launch(Cpu{device}, [](const Team& team) { team.parallel([](int, int) {}); });
  }
}

TEST_CASE("child: ends while a device works", "[.child]") {
  (void)submit(Cpu{0}, [] { std::this_thread::sleep_for(std::chrono::seconds{30}); });
}
