// SPDX-License-Identifier: Apache-2.0

#include "tests/support/late_device.hpp"
#include "tests/device/four_devices.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace twill;
using twill::test::is_accessible;
using twill::test::Late;

TEST_CASE("a late device's memory is accessible to its stream only", "[device][late]") {
  Late::Upstream source{Late{0}};
  auto* const value = static_cast<float*>(source.allocate(4096));
  CHECK(!is_accessible(value));
  bool in_stream = false;
  launch(Late{0}, [&](const Team&) { in_stream = is_accessible(value); });
  synchronize(Late{0});
  CHECK(in_stream);
  CHECK(!is_accessible(value));
  bool in_other_stream = true;
  launch(Late{1}, [&](const Team&) { in_other_stream = is_accessible(value); });
  synchronize(Late{1});
  CHECK(!in_other_stream);
  CHECK(!submit(Late{0}, [&] { return is_accessible(value); }).wait());
  source.release(value, 4096);
}

TEST_CASE("touching a late device's memory from outside is a fault", "[device][late]") {
  CHECK(test::run_in_child("child: touches foreign memory") == 42);
}

TEST_CASE("child: touches foreign memory", "[.child]") {
  std::signal(SIGSEGV, [](int) { _exit(42); });
  Late::Upstream source{Late{0}};
  auto* const value = static_cast<volatile int*>(source.allocate(4096));
  const int read = *value;
  (void)read;
}

TEST_CASE("fresh memory of a late device is garbage", "[device][late]") {
  Late::Upstream source{Late{2}};
  auto* const value = static_cast<float*>(source.allocate(64));
  float read = 0;
  copy_bytes(Cpu{0}, &read, Late{2}, value, sizeof(read));
  CHECK(std::isnan(read));
  source.release(value, 64);
}

TEST_CASE("a launch on a late device has not run when it returns, and runs by itself", "[device][late]") {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> runs{0};
  int early = 0;
  int looked_in_time = 0;
  const auto end = Clock::now() + std::chrono::seconds{60};
  for (int round = 0; looked_in_time < 10 && Clock::now() < end; ++round) {
    const auto before = Clock::now();
    launch(Late{0}, [&](const Team&) { ++runs; });
    const bool has_run = runs > round;
    if (Clock::now() - before < std::chrono::milliseconds{1}) { // else this thread has lost its core, and nobody knows
      ++looked_in_time;
      early += has_run ? 1 : 0;
    }
    while (runs == round) std::this_thread::yield();
  }
  CHECK(looked_in_time == 10);
  CHECK(early == 0);
}

TEST_CASE("a late device works in order, with a team", "[device][late]") {
  Late::Upstream source{Late{1}};
  constexpr int count = 1000;
  auto* const values = static_cast<int*>(source.allocate(count * sizeof(int)));
  launch(Late{1}, [=](const Team& team) {
    team.parallel([=](int rank, int size) {
      for (int i = rank; i < count; i += size) values[i] = i;
    });
  });
  for (int round = 0; round < 100; ++round)
    launch(Late{1}, [=](const Team&) {
      for (int i = 0; i < count; ++i) values[i] = values[i] * 3 % 1009;
    });
  std::vector<int> result(count);
  copy_bytes(Cpu{0}, result.data(), Late{1}, values, count * sizeof(int));
  for (int i = 0; i < count; ++i) {
    int expected = i;
    for (int round = 0; round < 100; ++round) expected = expected * 3 % 1009;
    REQUIRE(result[static_cast<std::size_t>(i)] == expected);
  }
  source.release(values, count * sizeof(int));
}

TEST_CASE("a late launch works on a copy of its function", "[device][late]") {
  int seen = 0;
  int value = 1;
  launch(Late{0}, [&seen, value](const Team&) { seen = value; });
  value = 2;
  synchronize(Late{0});
  CHECK(seen == 1);
}

TEST_CASE("what a late kernel threw arrives at the next wait, once", "[device][late]") {
  launch(Late{3}, [](const Team&) { throw std::domain_error("late"); });
  CHECK_THROWS_WITH(synchronize(Late{3}), "late");
  CHECK_NOTHROW(synchronize(Late{3}));
}

TEST_CASE("a late stream waits for events of other devices", "[device][late][DEV-8]") {
  std::atomic<bool> go{false};
  int value = 0;
  (void)submit(Cpu{1}, [&] {
    while (!go) std::this_thread::yield();
    value = 7;
  });
  wait(Late{0}, record(Cpu{1}));
  int seen = 0;
  launch(Late{0}, [&](const Team&) { seen = value; });
  const auto done = record(Late{0});
  std::this_thread::sleep_for(std::chrono::milliseconds{3}); // longer than a late device is late by itself
  CHECK(!done.is_complete());
  wait(Late{1}, done);
  go = true;
  synchronize(Late{1});
  CHECK(done.is_complete());
  CHECK(seen == 7);
}

TEST_CASE("submitted functions of a late device run at once, beside its stream", "[device][late]") {
  std::atomic<bool> kernel_ran{false};
  auto task = submit(Late{2}, [&] {
    launch(current_device<Late>(), [&](const Team&) { kernel_ran = true; });
    synchronize(current_device<Late>());
    return kernel_ran.load();
  });
  CHECK(task.wait());
  CHECK_THROWS_AS(submit(Late{2}, [] { throw std::out_of_range("task"); }).wait(), std::out_of_range);
}
