// SPDX-License-Identifier: Apache-2.0
//
// What the emulated GPU punishes: the suites that pass on it prove something only because these do.

#include "tests/support/emulated_device.hpp"
#include "tests/device/four_devices.hpp"
#include "tests/support/gpu_bodies.hpp"
#include "tests/support/late_device.hpp"

#include <twill/device/gpu/timer_calls.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <optional>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using R = EmulatedRuntime;
using D = Emulated;
namespace error = emulation::error;

/// Numbers on a device, without a pool.
struct Numbers {
  D device;
  D::Upstream source{device};
  int* data;
  int count;
  Numbers(D where, int size) : device{where}, data{static_cast<int*>(source.allocate(bytes_of(size)))}, count{size} {}
  ~Numbers() { source.release(data, bytes_of(count)); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  static std::size_t bytes_of(int size) { return static_cast<std::size_t>(size) * sizeof(int); }

  [[nodiscard]] std::vector<int> read() const {
    std::vector<int> numbers(static_cast<std::size_t>(count));
    copy_bytes(Cpu{0}, numbers.data(), device, data, bytes_of(count));
    return numbers;
  }
};

R::Stream new_stream() {
  R::Stream stream{};
  REQUIRE(R::use_device(0) == 0);
  REQUIRE(R::create_stream(&stream) == 0);
  return stream;
}
R::Event new_event() {
  R::Event event{};
  REQUIRE(R::create_event(&event) == 0);
  return event;
}

} // namespace

static_assert(Device<Emulated> && ComputeDevice<Emulated> && !HostDevice<Emulated>);
static_assert(gpu::GpuDevice<Emulated> && !gpu::GpuDevice<Cpu> && !gpu::GpuDevice<Late>);
static_assert(gpu::Runtime<EmulatedRuntime> && !gpu::Runtime<int>);
static_assert(std::same_as<team_t<Emulated>, gpu::Queue<EmulatedRuntime>>);

TEST_CASE("the memory of an emulated GPU is accessible to its kernels only", "[device][gpu]") {
  const Numbers numbers(D{0}, 64);
  CHECK(!is_accessible(numbers.data));
  float garbage = 0;
  copy_bytes(Cpu{0}, &garbage, D{0}, numbers.data, sizeof(float));
  CHECK(std::isnan(garbage));
  start(D{0}, FillInts{}, {.to = numbers.data, .count = 64, .value = 3});
  CHECK(numbers.read() == std::vector<int>(64, 3));
  CHECK(!is_accessible(numbers.data));
}

TEST_CASE("touching an emulated GPU's memory from outside is a fault", "[device][gpu]") {
  CHECK(test::run_in_child("child: touches an emulated GPU's memory") == 42);
  CHECK(test::run_in_child("child: a kernel touches another GPU's memory") == 42);
}
TEST_CASE("child: touches an emulated GPU's memory", "[.child]") {
  std::signal(SIGSEGV, [](int) { _exit(42); });
  const Numbers numbers(D{0}, 64);
  const int read = *static_cast<volatile int*>(numbers.data);
  (void)read;
}
TEST_CASE("child: a kernel touches another GPU's memory", "[.child]") {
  std::signal(SIGSEGV, [](int) { _exit(42); });
  const Numbers numbers(D{1}, 64);
  start(D{0}, FillInts{}, {.to = numbers.data, .count = 64, .value = 3});
  synchronize(D{0});
}

TEST_CASE("a kernel that nobody waits for has not run", "[device][gpu]") {
  const Numbers first(D{0}, 8);
  const Numbers second(D{0}, 8);
  start(D{0}, FillInts{}, {.to = first.data, .count = 8, .value = 1});
  const R::Stream other = new_stream();
  REQUIRE(R::copy(second.data, first.data, 32, other) == 0); // not ordered with the kernel
  REQUIRE(R::synchronize_stream(other) == 0);
  CHECK(second.read() != std::vector<int>(8, 1));
  REQUIRE(R::destroy_stream(other) == 0);
  synchronize(D{0});
  CHECK(first.read() == std::vector<int>(8, 1));
}

TEST_CASE("a long queue runs by itself", "[device][gpu]") {
  const Numbers numbers(D{0}, 8);
  start(D{0}, FillInts{}, {.to = numbers.data, .count = 8, .value = 0});
  const auto filled = record(D{0});
  for (int i = 0; i < 200; ++i) start(D{0}, AddToInts{}, {.to = numbers.data, .count = 8, .value = 1});
  CHECK(filled.is_complete());
  CHECK(numbers.read() == std::vector<int>(8, 200));
}

TEST_CASE("an emulated GPU refuses launches that a GPU refuses", "[device][gpu]") {
  const auto refused = [](const gpu::LaunchShape& shape) {
    try {
      launch(D{0}, [&](const auto& queue) { enqueue(queue, FillInts{}, shape, Ints{}); });
    } catch (const GpuError& failure) {
      return failure.status();
    }
    return 0;
  };
  CHECK(refused({.blocks = 1, .threads = 128}) == 0);
  CHECK(refused({.blocks = 0, .threads = 128}) == error::invalid_configuration);
  CHECK(refused({.blocks = 0x80000000U, .threads = 128}) == error::invalid_configuration);
  CHECK(refused({.blocks = 1, .threads = 0}) == error::invalid_configuration);
  CHECK(refused({.blocks = 1, .threads = 1025}) == error::invalid_configuration);
  CHECK(refused({.blocks = 1, .threads = 129}) == error::out_of_resources); // the body says 128
  CHECK(refused({.blocks = 1, .threads = 1, .shared_bytes = 228 << 10}) == error::invalid_configuration);
  synchronize(D{0});
  CHECK_THROWS_AS(enqueue(current_queue(D{1}), FillInts{}, {}, Ints{}), GpuError); // device 0 is in use
}

TEST_CASE("copies outside of an allocation are refused", "[device][gpu]") {
  const Numbers numbers(D{0}, 1024);
  std::vector<int> host(2048);
  CHECK(R::copy(numbers.data, host.data(), 4096, {}) == 0);
  CHECK(R::copy(numbers.data, host.data(), 4097, {}) == error::invalid_value);
  CHECK(R::copy(host.data(), numbers.data - 1, 8, {}) == error::invalid_value);
  CHECK(R::fill(numbers.data, 0, 5000, {}) == error::invalid_value);
  CHECK(R::synchronize_stream({}) == 0);
}

TEST_CASE("what CUDA refuses while it records spoils the recording", "[device][gpu]") {
  const R::Stream stream = new_stream();
  const R::Event event = new_event();
  REQUIRE(R::record_event(event, stream) == 0);
  void* memory = nullptr;
  std::size_t free = 0, total = 0;
  const auto spoils = [&](int expected, auto call) {
    REQUIRE(R::begin_capture(stream) == 0);
    CHECK(call() == expected);
    gpu::Capturing state{};
    CHECK(R::capturing(stream, &state) == 0);
    R::Graph graph{};
    const int ended = R::end_capture(stream, &graph);
    CHECK((state == gpu::Capturing::invalidated) == (ended == error::capture_invalidated));
    if (ended == 0) (void)R::destroy_graph(graph);
    CHECK(R::capturing(stream, &state) == 0);
    CHECK(state == gpu::Capturing::no);
    return ended != 0;
  };
  CHECK(spoils(error::capture_unsupported, [&] { return R::allocate(&memory, 512); }));
  CHECK(spoils(error::capture_unsupported, [&] { return R::release(nullptr); }));
  CHECK(spoils(error::capture_unsupported, [&] { return R::allocate_pinned(&memory, 512); }));
  CHECK(spoils(error::capture_unsupported, [&] { return R::synchronize_stream(stream); }));
  CHECK(spoils(error::capture_unsupported, [&] { return R::query_event(event); }));
  CHECK(spoils(error::capture_isolation, [&] { return R::wait_event(stream, event); })); // recorded before
  CHECK(!spoils(0, [&] { return R::memory_info(&free, &total); }));
  CHECK(!spoils(0, [&] {
    const int status = R::allocate_while_capturing(&memory, 512);
    return status;
  }));
  CHECK(R::release(memory) == 0);
  CHECK(R::begin_capture({}) == error::capture_unsupported); // the driver's default stream
  CHECK(R::destroy_event(event) == 0);
  CHECK(R::destroy_stream(stream) == 0);
}

TEST_CASE("a recording takes in the streams that wait for it, and they have to come back", "[device][gpu]") {
  const Numbers numbers(D{0}, 8);
  const R::Stream first = new_stream();
  const R::Stream second = new_stream();
  const R::Event forked = new_event();
  const R::Event joined = new_event();
  for (const bool joins : {false, true}) {
    REQUIRE(R::begin_capture(first) == 0);
    REQUIRE(R::fill(numbers.data, 1, 16, first) == 0);
    REQUIRE(R::record_event(forked, first) == 0);
    REQUIRE(R::wait_event(second, forked) == 0);
    REQUIRE(R::fill(numbers.data + 4, 2, 16, second) == 0);
    REQUIRE(R::record_event(joined, second) == 0);
    if (joins) REQUIRE(R::wait_event(first, joined) == 0);
    R::Graph graph{};
    CHECK(R::end_capture(first, &graph) == (joins ? 0 : error::capture_unjoined));
    CHECK(R::query_event(joined) == error::captured_event);
    if (!joins) continue;
    REQUIRE(R::launch_graph(graph, second) == 0);
    REQUIRE(R::destroy_graph(graph) == 0); // while it waits
    REQUIRE(R::synchronize_stream(second) == 0);
    CHECK(numbers.read() == std::vector<int>{0x01010101, 0x01010101, 0x01010101, 0x01010101, 0x02020202, 0x02020202,
                                             0x02020202, 0x02020202});
  }
  for (const R::Event event : {forked, joined}) CHECK(R::destroy_event(event) == 0);
  for (const R::Stream stream : {first, second}) CHECK(R::destroy_stream(stream) == 0);
}

TEST_CASE("work on hosts makes no call to a driver", "[device][gpu][DEV-1]") {
  const auto calls = [] {
    const std::lock_guard lock{emulation::Machine::get().mutex};
    long sum = 0;
    for (const long count : emulation::Machine::get().counts) sum += count;
    return sum;
  };
  const long before = calls();
  int number = 0;
  launch(Cpu{0}, [&](const Team&) { number = 1; });
  submit(Cpu{1}, [&] { number += 1; }).wait();
  copy_bytes(Cpu{1}, &number, Cpu{0}, &before, sizeof(number));
  CHECK(D::count() == 4);
  CHECK(is_available(D{3}));
  CHECK(to_string(D{3}) == "emulated:3");
  CHECK(current_device<D>() == D{0});
  CHECK(device_name(D{3}) == "Emulated GPU 3");
  manual_seed(D{3}, 5);
  synchronize(D{3});
  CHECK(calls() == before);
  CHECK(!gpu::is_in_use(D{3}));
  CHECK(!emulation::Machine::get().devices[3].has_context);
}

TEST_CASE("a guard over a GPU makes no context on the one that was current", "[device][gpu][DEV-1]") {
  CHECK(test::run_in_child("child: guards another GPU") == 0);
}
TEST_CASE("child: guards another GPU", "[.child]") {
  {
    const DeviceGuard guard{D{2}};
    (void)current_queue(D{2});
  }
  {
    const Numbers numbers(D{2}, 8); // and without a guard
    start(D{2}, FillInts{}, {.to = numbers.data, .count = 8, .value = 3});
    synchronize(D{2});
  }
  const auto& devices = emulation::Machine::get().devices;
  if (devices[0].has_context || devices[1].has_context || !devices[2].has_context || devices[3].has_context) _exit(1);
}

TEST_CASE("without a driver there are no GPUs, and who asks for one is told", "[device][gpu][DEV-1]") {
  emulation::Machine::get().device_count = 0;
  CHECK(!is_available<D>());
  CHECK_THROWS_WITH(set_device(D{0}), "set_device: there is no emulated:0; this process has no emulated devices");
  CHECK_THROWS_AS(generator(D{0}), DeviceError);
  emulation::Machine::get().device_count = 4;
  CHECK(is_available<D>());
}

TEST_CASE("a run is timed on its stream after one to warm up, and not where it cannot run", "[device][gpu]") {
  const Numbers numbers(D{0}, 64);
  const auto& queue = current_queue(D{0});
  int calls = 0;
  const auto fill = [&] {
    start(D{0}, FillInts{}, {.to = numbers.data, .count = 64, .value = ++calls});
    return true;
  };
  const std::optional<double> seconds = gpu::seconds_of_run(queue, fill);
  CHECK((seconds && *seconds >= 0));
  CHECK(numbers.read() == std::vector<int>(64, 4));
  CHECK_FALSE(gpu::seconds_of_run(queue, [] { return false; }));
  CHECK_FALSE(gpu::is_captured<R>(queue.stream(), 0));
}
