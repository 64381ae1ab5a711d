#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A GPU as a device: names and guards, streams, submitted functions, errors that tell the call and the device. [DEV-1, DEV-7]

#include <tests/support/gpu_bodies.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/generator.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/stream.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/gpu/stream.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace device_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;
constexpr int count = 1021;

int* ints(const memory::Buffer<D>& buffer) { return static_cast<int*>(buffer.data()); }

void require_all(const memory::Buffer<D>& buffer, int value,
                 const std::source_location& where = std::source_location::current()) {
  std::vector<int> numbers(count);
  copy_bytes(Cpu{0}, numbers.data(), buffer.device(), buffer.data(), count * sizeof(int));
  for (const int number : numbers) require_equal(number, value, where);
}

void missing_devices_are_refused() {
  const D missing{D::count()};
  const std::string there_is_no = ": there is no " + to_string(missing);
  require(!is_available(missing));
  require_throws<DeviceError>([&] { launch(missing, [](const auto&) {}); }, "device" + there_is_no);
  require_throws<DeviceError>([&] { (void)record(missing); }, "device" + there_is_no);
  require_throws<DeviceError>([&] { synchronize(missing); }, "synchronize" + there_is_no);
  require_throws<DeviceError>([&] { submit(missing, [] {}).wait(); }, "device" + there_is_no);
  require_throws<DeviceError>([&] { set_device(missing); }, "set_device" + there_is_no);
  require_throws<DeviceError>([&] { (void)device_name(missing); }, "device_name" + there_is_no);
  require_throws<DeviceError>([&] { memory::Buffer<D>(missing, 4); }, "memory" + there_is_no);
  require_throws<DeviceError>([&] { (void)generator(missing); }, "generator" + there_is_no);
  require_throws<DeviceError>([&] { (void)gpu::properties(D{-1}); }, "there is no");
}
const Case missing_ones{"a GPU that is not there is refused by name", &missing_devices_are_refused, Needs::nothing};

void devices_are_described() {
  require_equal(to_string(D{0}), std::string{D::kind} + ":0");
  require(!device_name(D{0}).empty());
  require_equal(gpu::properties(D{0}).name, device_name(D{0}));
  require(gpu::properties(D{0}).processors > 0 && gpu::properties(D{0}).shared_bytes >= 48U << 10);
  require(gpu::properties(D{0}).total_bytes > 0 && !gpu::properties(D{0}).bus.empty());
}
const Case described{"a GPU tells its name and properties", &devices_are_described};

void guards_nest() {
  const D last{D::count() - 1};
  require(current_device<D>() == D{0});
  {
    const DeviceGuard outer{last};
    require(current_device<D>() == last);
    int in_use = -1;
    (void)D::Runtime::device_in_use(&in_use);
    require_equal(in_use, last.index);
    {
      const DeviceGuard inner{D{0}};
      require(current_device<D>() == D{0});
    }
    require(current_device<D>() == last);
  }
  require(current_device<D>() == D{0});
}
const Case guards{"a guard makes a GPU current, for the driver, too, and restores the one before", &guards_nest};

void other_devices_stay_current() {
  const D last{D::count() - 1};
  memory::Buffer<D> first(D{0}, count * sizeof(int)); // a device that nobody has used is not made current again
  start(D{0}, FillInts{}, {.to = ints(first), .count = count, .value = 2});
  int before = -1, after = -1;
  (void)D::Runtime::device_in_use(&before);
  memory::Buffer<D> memory(last, count * sizeof(int));
  start(last, FillInts{}, {.to = ints(memory), .count = count, .value = 3});
  require_all(memory, 3);
  synchronize(last);
  (void)D::Runtime::device_in_use(&after);
  require_equal(after, before);
}
const Case restored{"work on one GPU leaves the driver's current one as it was", &other_devices_stay_current};

void functions_are_submitted() {
  const D last{D::count() - 1};
  require(submit(last, [] { return current_device<D>(); }).wait() == last);
  memory::Buffer<D> memory(last, count * sizeof(int));
  submit(last, [&] { start(last, FillInts{}, {.to = ints(memory), .count = count, .value = 8}); }).wait();
  require_all(memory, 8); // the stream is the same one
  require_throws<std::out_of_range>([&] { submit(last, []() -> int { throw std::out_of_range("task"); }).wait(); },
                                    "task");
}
const Case submitted{"a submitted function runs with its GPU current, and its errors arrive", &functions_are_submitted};

void seeds_are_the_hosts() {
  manual_seed(D{0}, 17);
  manual_seed(Cpu{0}, 17);
  require(generator(D{0}).next() == generator(Cpu{0}).next());
  require(generator(D{0}).next() == generator(Cpu{0}).next());
  manual_seed_all(23);
  require(generator(D{0}).next() == generator(Cpu{0}).next());
  require(generator(D{0}).state() == generator(Cpu{0}).state());
}
const Case seeds{"equal seeds draw equally on a GPU and a host", &seeds_are_the_hosts};

void events_order_streams() {
  const gpu::Stream<D> side{D{0}};
  memory::Buffer<D> memory(D{0}, count * sizeof(int));
  require(D::Event{}.is_complete());
  D::Event{}.wait();
  for (int round = 0; round < 10; ++round) {
    start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = round});
    const auto filled = record(D{0});
    const auto again = filled;
    D::Event added{};
    {
      const StreamGuard<D> guard{D{0}, side.handle()};
      require(current_queue(D{0}).stream() == side.handle());
      wait(D{0}, again);
      start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 100});
      added = record(D{0});
    }
    require(!(current_queue(D{0}).stream() == side.handle()));
    wait(D{0}, added);
    start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1000});
    require_all(memory, round + 1100);
    added.wait();
    require(added.is_complete() && filled.is_complete());
    wait(filled);
  }
}
const Case events{"events order the streams of a GPU", &events_order_streams};

void host_events_are_waited_for() {
  int number = 0;
  (void)submit(Cpu{0}, [&] { number = 5; });
  wait(D{0}, record(Cpu{0}));
  require_equal(number, 5);
  wait(Cpu{0}, record(D{0}));
}
const Case hosts{"a GPU waits for events of a host device, and the other way round", &host_events_are_waited_for};

void polled_events_pass() {
  memory::Buffer<D> memory(D{0}, count * sizeof(int));
  for (int i = 0; i < 20; ++i) start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = i});
  const auto event = record(D{0});
  while (!event.is_complete()) {
  }
  require_all(memory, 19);
}
const Case polled{"an event that is polled passes", &polled_events_pass};

struct TooLarge {
  static constexpr int most_threads = 1024;
  template <class Block> constexpr void operator()(const Block&, int) const {}
};

void refused_launches_say_so() {
  try {
    launch(D{0}, [](const auto& queue) { enqueue(queue, TooLarge{}, gpu::LaunchShape{.threads = 2048}, 0); });
    require(false);
  } catch (const GpuError& error) {
    require(std::string{error.what()}.find("kernel launch on " + to_string(D{0}) + ": ") == 0);
    require(error.status() != 0 && !error.is_sticky());
  }
  synchronize(D{0}); // nothing is left of it
}
const Case refused{"a launch that the driver refuses is an error that names the device", &refused_launches_say_so};

/// A driver's own default stream is that of the current device, which here is another one.
void driver_streams_are_of_their_device() {
  const D last{D::count() - 1};
  if (last.index == 0) return;
  const DeviceGuard first{D{0}};
  const memory::Buffer<D> memory(last, sizeof(int));
  const StreamGuard guard{last, typename D::Runtime::Stream{}};
  const auto work = [&](int value) {
    start(last, FillInts{}, {.to = static_cast<int*>(memory.data()), .count = 1, .value = value});
    return record(last);
  };
  const auto begun = work(1);
  synchronize(last);
  require(begun.is_complete());
  const auto again = work(2);
  forget_stream(last, typename D::Runtime::Stream{});
  require(again.is_complete());
}
const Case own_default{"a driver's default stream is its device's, whichever is current",
                       &driver_streams_are_of_their_device};

}} // namespace device_suite
