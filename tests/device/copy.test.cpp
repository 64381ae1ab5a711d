// SPDX-License-Identifier: Apache-2.0

#include "tests/device/four_devices.hpp"
#include "tests/support/late_device.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

/// A block of a device for the length of a test.
template <class D> struct Block {
  D device;
  std::size_t bytes;
  typename D::Upstream source;
  void* data;
  Block(D where, std::size_t size) : device{where}, bytes{size}, source{where}, data{source.allocate(size)} {}
  ~Block() { source.release(data, bytes); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
};

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<std::uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

template <class From, class To> struct Pair {
  From from;
  To to;
};

} // namespace

TEMPLATE_TEST_CASE("bytes arrive whole on every kind of device", "[device][DEV-8]", (Pair<Cpu, Cpu>), (Pair<Cpu, Late>),
                   (Pair<Late, Cpu>), (Pair<Late, Late>)) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4099}, std::size_t{3'000'017}}) {
    for (const auto& [from_index, to_index] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{3, 2}}) {
      const TestType pair{{from_index}, {to_index}};
      const auto sent = random_bytes(count, static_cast<unsigned>(count) + 1);
      std::vector<std::uint8_t> received(count);
      Block from{pair.from, count};
      Block to{pair.to, count};
      copy_bytes(pair.from, from.data, Cpu{0}, sent.data(), count);
      copy_bytes(pair.to, to.data, pair.from, from.data, count);
      copy_bytes(Cpu{0}, received.data(), pair.to, to.data, count);
      REQUIRE(received == sent);
    }
  }
}

TEMPLATE_TEST_CASE("a copy comes after work on both devices and before what follows", "[device][DEV-8]",
                   (Pair<Cpu, Cpu>), (Pair<Cpu, Late>), (Pair<Late, Cpu>), (Pair<Late, Late>)) {
  using namespace std::chrono_literals;
  const TestType pair{{1}, {2}};
  Block from{pair.from, sizeof(int)};
  Block to{pair.to, sizeof(int)};
  auto* const source = static_cast<int*>(from.data);
  auto* const target = static_cast<int*>(to.data);
  for (const bool non_blocking : {false, true}) {
    for (int round = 1; round <= 10; ++round) {
      (void)submit(Cpu{1}, [] { std::this_thread::sleep_for(200us); }); // keeps host streams busy
      (void)submit(Cpu{2}, [] { std::this_thread::sleep_for(400us); });
      launch(pair.from, [=](const Team&) { *source = round; });
      launch(pair.to, [=](const Team&) { *target = -1; });
      copy_bytes(pair.to, target, pair.from, source, sizeof(int), {.non_blocking = non_blocking});
      launch(pair.from, [=](const Team&) { *source = -2; }); // must not reach the copy
      launch(pair.to, [=](const Team&) { *target += 100; });
      int result = 0;
      copy_bytes(Cpu{0}, &result, pair.to, target, sizeof(int));
      REQUIRE(result == round + 100);
    }
  }
}

TEST_CASE("a non-blocking copy between host devices returns before it is done", "[device][DEV-8]") {
  std::atomic<bool> go{false};
  int source = 0;
  int target = 0;
  (void)submit(Cpu{0}, [&] {
    while (!go) std::this_thread::yield();
    source = 5;
  });
  copy_bytes(Cpu{1}, &target, Cpu{0}, &source, sizeof(int), {.non_blocking = true});
  CHECK(!record(Cpu{1}).is_complete());
  go = true;
  synchronize(Cpu{1});
  CHECK(target == 5);
  synchronize(Cpu{0});
}

TEST_CASE("tasks of two devices copy from each other without waiting for each other", "[device][DEV-8]") {
  std::array<int, 2> values{10, 20};
  std::array<int, 2> received{};
  std::atomic<int> arrived{0};
  const auto task = [&](int mine) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    const auto own = static_cast<std::size_t>(mine);
    copy_bytes(Cpu{mine}, &received[own], Cpu{1 - mine}, &values[1 - own], sizeof(int));
  };
  auto first = submit(Cpu{0}, [&] { task(0); });
  auto second = submit(Cpu{1}, [&] { task(1); });
  first.wait();
  second.wait();
  CHECK(received == std::array{20, 10});
}
