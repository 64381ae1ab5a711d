#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies between a host, a GPU and another: bytes arrive whole and in order, whoever waits. [DEV-8]

#include <tests/support/gpu_bodies.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/buffer.hpp>

#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

namespace copies_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;

std::vector<int> random_ints(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<int> numbers(count);
  for (int& number : numbers) number = static_cast<int>(random() % 1009);
  return numbers;
}

std::size_t bytes_of(const std::vector<int>& numbers) { return numbers.size() * sizeof(int); }
int* ints_of(const memory::Buffer<D>& buffer) { return static_cast<int*>(buffer.data()); }

void bytes_arrive_whole() {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1021}, sized(std::size_t{700'001})})
    for (const bool non_blocking : {false, true}) {
      const auto sent = random_ints(count, static_cast<unsigned>(count));
      std::vector<int> received(count);
      const memory::Buffer<D> first(D{0}, bytes_of(sent));
      const memory::Buffer<D> second(D{0}, bytes_of(sent));
      copy_bytes(D{0}, first.data(), Cpu{0}, sent.data(), bytes_of(sent), {.non_blocking = non_blocking});
      copy_bytes(D{0}, second.data(), D{0}, first.data(), bytes_of(sent));
      copy_bytes(Cpu{0}, received.data(), D{0}, second.data(), bytes_of(sent), {.non_blocking = non_blocking});
      launch(Cpu{0}, [&](const Team&) { require(received == sent); }); // comes after the copy
    }
}
const Case whole{"bytes go to a GPU and come back whole", &bytes_arrive_whole};

void nothing_is_copied() {
  copy_bytes(D{0}, nullptr, Cpu{0}, nullptr, 0);
  copy_bytes(Cpu{0}, nullptr, D{0}, nullptr, 0);
  copy_bytes(D{0}, nullptr, D{0}, nullptr, 0);
  copy_bytes(Meta{}, nullptr, D{0}, nullptr, 4);
  require_throws<DeviceError>([] { copy_bytes(D{0}, nullptr, Meta{}, nullptr, 4); }, "a meta device has no memory");
}
const Case nothing{"no bytes are no copy, and nothing comes from a meta device", &nothing_is_copied};

void copies_are_in_order() {
  constexpr int count = 4099;
  const memory::Buffer<D> source(D{0}, count * sizeof(int));
  const memory::Buffer<D> target(D{0}, count * sizeof(int));
  for (int round = 1; round <= 10; ++round) {
    start(D{0}, FillInts{}, {.to = ints_of(source), .count = count, .value = round});
    start(D{0}, FillInts{}, {.to = ints_of(target), .count = count, .value = -1});
    copy_bytes(D{0}, target.data(), D{0}, source.data(), count * sizeof(int));
    start(D{0}, FillInts{}, {.to = ints_of(source), .count = count, .value = -2}); // must not reach the copy
    start(D{0}, AddToInts{}, {.to = ints_of(target), .count = count, .value = 100});
    std::vector<int> result(count);
    copy_bytes(Cpu{0}, result.data(), D{0}, target.data(), count * sizeof(int));
    for (const int number : result) require_equal(number, round + 100);
  }
}
const Case order{"a copy comes after the kernels before it and before those that follow", &copies_are_in_order};

void hosts_are_in_order() {
  using namespace std::chrono_literals;
  std::vector<int> numbers(1021);
  const memory::Buffer<D> memory(D{0}, bytes_of(numbers));
  for (int round = 0; round < 5; ++round) {
    (void)submit(Cpu{0}, [&] {
      std::this_thread::sleep_for(300us);
      numbers.assign(1021, round);
    });
    copy_bytes(D{0}, memory.data(), Cpu{0}, numbers.data(), bytes_of(numbers), {.non_blocking = true});
    launch(Cpu{0}, [&](const Team&) { numbers.assign(1021, -1); }); // must not reach the copy
    std::vector<int> received(1021);
    copy_bytes(Cpu{0}, received.data(), D{0}, memory.data(), bytes_of(received), {.non_blocking = true});
    synchronize(Cpu{0});
    for (const int number : received) require_equal(number, round);
  }
}
const Case hosts{"a non-blocking copy is ordered with the work of its host device", &hosts_are_in_order};

void tasks_copy() {
  const auto sent = random_ints(1021, 5);
  const auto received = submit(D{0}, [&] {
                          const memory::Buffer<D> memory(D{0}, bytes_of(sent));
                          copy_bytes(D{0}, memory.data(), Cpu{0}, sent.data(), bytes_of(sent), {.non_blocking = true});
                          std::vector<int> back(sent.size());
                          copy_bytes(Cpu{0}, back.data(), D{0}, memory.data(), bytes_of(sent), {.non_blocking = true});
                          return back; // read at once
                        }).wait();
  require(received == sent);
}
const Case tasks{"inside a task a copy is done when it returns", &tasks_copy};

void devices_copy_to_each_other() {
  if (device_count<D>() < 2) return;
  const int count = sized(100'003);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(int);
  const memory::Buffer<D> here(D{0}, bytes);
  const memory::Buffer<D> there(D{1}, bytes);
  for (int round = 1; round <= 5; ++round) {
    start(D{0}, FillInts{}, {.to = ints_of(here), .count = count, .value = round});
    start(D{1}, FillInts{}, {.to = ints_of(there), .count = count, .value = -1});
    copy_bytes(D{1}, there.data(), D{0}, here.data(), bytes);
    start(D{0}, FillInts{}, {.to = ints_of(here), .count = count, .value = -2});
    start(D{1}, AddToInts{}, {.to = ints_of(there), .count = count, .value = 7});
    copy_bytes(D{0}, here.data(), D{1}, there.data(), bytes);
    std::vector<int> result(static_cast<std::size_t>(count));
    copy_bytes(Cpu{0}, result.data(), D{0}, here.data(), bytes);
    for (const int number : result) require_equal(number, round + 7);
  }
}
const Case peers{"devices copy to each other in the order of both", &devices_copy_to_each_other};

void arrivals_are_waited_for() {
  const auto sent = random_ints(1021, 3);
  const memory::Buffer<D> from(D{0}, bytes_of(sent));
  const memory::Buffer<D> to(D{0}, bytes_of(sent));
  copy_bytes(D{0}, from.data(), Cpu{0}, sent.data(), bytes_of(sent));
  const auto arrived = pull_bytes(D{0}, to.data(), D{0}, from.data(), bytes_of(sent), {});
  synchronize(D{0});
  require(arrived.is_complete());
}
const Case beside{"synchronize waits for copies beside the device's work, too", &arrivals_are_waited_for};

}} // namespace copies_suite
