// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <algorithm>
#include <thread>
#include <vector>

using namespace twill;
using twill::test::Late;

TEMPLATE_TEST_CASE("one seed gives the same draws on every kind of device", "[device][DEV-7]", Cpu, Meta, Late) {
  for (int index = 0; index < 3; ++index) {
    manual_seed(TestType{index}, 42);
    CHECK(generator(TestType{index}).next() == RandomDraw{42, 0});
    CHECK(generator(TestType{index}).next() == RandomDraw{42, 1});
    manual_seed(TestType{index}, 42);
    CHECK(generator(TestType{index}).next() == RandomDraw{42, 0});
  }
}

TEST_CASE("seeding one device leaves the others alone", "[device][DEV-7]") {
  manual_seed_all(1);
  manual_seed(Cpu{1}, 2);
  CHECK(generator(Cpu{0}).next() == RandomDraw{1, 0});
  CHECK(generator(Cpu{1}).next() == RandomDraw{2, 0});
}

TEST_CASE("seeding all reaches every kind, used before or not", "[device][DEV-7]") {
  (void)generator(Cpu{0}).next();
  (void)generator(Late{0}).next();
  manual_seed(Late{1}, 9);
  manual_seed_all(7);
  CHECK(generator(Cpu{0}).next() == RandomDraw{7, 0});
  CHECK(generator(Cpu{3}).next() == RandomDraw{7, 0});
  CHECK(generator(Late{0}).next() == RandomDraw{7, 0});
  CHECK(generator(Late{1}).next() == RandomDraw{7, 0});
  CHECK(generator(Meta{1}).next() == RandomDraw{7, 0});
  manual_seed_all(7);
  CHECK(generator(Cpu{0}).next() == RandomDraw{7, 0});
}

TEST_CASE("a generator continues from its saved state", "[device][DEV-7]") {
  manual_seed(Cpu{0}, 5);
  (void)generator(Cpu{0}).next();
  const RandomDraw saved = generator(Cpu{0}).state();
  CHECK(saved == RandomDraw{5, 1});
  const RandomDraw first = generator(Cpu{0}).next();
  generator(Cpu{2}).set_state(saved);
  CHECK(generator(Cpu{2}).next() == first);
}

TEST_CASE("no two threads draw the same step", "[device][DEV-7]") {
  manual_seed(Cpu{1}, 3);
  constexpr int threads = 4;
  constexpr int draws = 500;
  std::vector<std::vector<std::uint32_t>> steps(threads);
  std::vector<std::thread> running;
  for (auto& mine : steps)
    running.emplace_back([&mine] {
      for (int i = 0; i < draws; ++i) mine.push_back(generator(Cpu{1}).next().step);
    });
  for (auto& thread : running) thread.join();
  std::vector<std::uint32_t> all;
  for (const auto& mine : steps) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  REQUIRE(all.size() == threads * draws);
  for (std::uint32_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == i);
}
