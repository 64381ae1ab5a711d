// SPDX-License-Identifier: Apache-2.0
//
// Every call of the driver fails once, at every place where a busy program makes it. The program gets an exception that names
// the call, nothing stays allocated, and the same program runs afterwards.

#include "tests/support/emulated_device.hpp"
#include "tests/support/gpu_bodies.hpp"
#include "tests/support/message_of.hpp"

#include <twill/memory/buffer.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/pinned.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using D = Emulated;
using R = EmulatedRuntime;
using Bytes = memory::Buffer<D>;
using Machine = emulation::Machine;
constexpr int count = 1021;

int* ints(const Bytes& buffer) { return static_cast<int*>(buffer.data()); }

/// Streams, events, copies of every kind, a graph, pinned memory, segments; true when every number was right.
bool everything() {
  const gpu::Stream<D> side{D{0}};
  Bytes memory(D{0}, count * sizeof(int));
  const Bytes large(D{0}, std::size_t{3} << 20);
  const Bytes there(D{1}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 4});
  const auto filled = record(D{0});
  {
    const StreamGuard<D> guard{D{0}, side.handle()};
    const Bytes scratch(D{0}, std::size_t{2} << 20);
    wait(D{0}, filled);
    memory.record_stream(side.handle());
    start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
    wait(D{0}, record(D{1}));
  }
  wait(D{0}, gpu::Event<R>{gpu::state_of(D{0}), side.handle()});
  auto graph = gpu::capture(D{0}, [&] {
    const Bytes inside(D{0}, count * sizeof(int));
    start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 10});
  });
  const bool was_recorded = static_cast<bool>(graph);
  if (was_recorded) graph.launch();
  copy_bytes(D{1}, there.data(), D{0}, memory.data(), count * sizeof(int));
  const auto numbers = memory::PinnedPool<R>::get().allocate(Cpu{0}, count * sizeof(int));
  copy_bytes(Cpu{0}, numbers.data(), D{1}, there.data(), count * sizeof(int), {.non_blocking = true});
  synchronize(Cpu{0});
  bool right = was_recorded;
  for (int i = 0; i < count; ++i) right = right && static_cast<const int*>(numbers.data())[i] == 15;
  (void)empty_cache(D{0});
  return right;
}

void require_nothing_left() {
  REQUIRE(memory_allocated(D{0}) == 0);
  REQUIRE(memory_allocated(D{1}) == 0);
  REQUIRE(memory::PinnedPool<R>::get().pool().current(memory::Quantity::allocated_bytes) == 0);
  REQUIRE(Machine::get().live_graphs == 0);
  REQUIRE(gpu::recorded_graph<R>() == 0);
}

/// Frees what is cached, so that the next run makes every call again.
void start_afresh() {
  synchronize(D{0});
  synchronize(D{1});
  (void)empty_cache(D{0});
  (void)empty_cache(D{1});
  (void)memory::PinnedPool<R>::get().empty_cache();
}

WarningSink quiet() {
  return set_warning_sink([](std::string_view) {});
}

} // namespace

TEST_CASE("every failure of the driver is survived, and nothing is lost", "[memory][MEM-6]") {
  REQUIRE(everything());
  const WarningSink before = quiet(); // tasks of the host device whose copies fail
  int failures = 0;
  for (const std::string_view call : emulation::calls)
    for (const int status : {999, emulation::error::out_of_memory})
      for (long n = 1; n < 200; ++n) {
        start_afresh();
        R::fail_call(call, n, status);
        bool right = false;
        std::string message{};
        try {
          right = everything();
        } catch (const Error& error) {
          message = error.what();
        }
        const bool failed = Machine::get().fault.at <= 0;
        R::fail_call({}, 0, 0);
        INFO(call << ", call " << n << ", status " << status << ": " << message);
        start_afresh();
        require_nothing_left();
        if (!failed) {
          REQUIRE(right);
          break;
        }
        ++failures;
        REQUIRE(everything());
      }
  CHECK(failures > 80);
  set_warning_sink(before);
}

TEST_CASE("a device that cannot be set up is tried again", "[memory][MEM-6]") {
  for (const std::string_view call : {"create_stream", "allocate", "fill", "synchronize_stream"}) {
    R::fail_call(call, 1, 999);
    CHECK(message_of<GpuError>([] { (void)current_queue(D{3}); }) ==
          (call == "synchronize_stream" ? std::string{"fill"} : std::string{call}) + " on emulated:3: error 999");
    CHECK(!gpu::is_in_use(D{3}));
  }
  R::fail_call({}, 0, 0);
  CHECK_NOTHROW(current_queue(D{3}));
  CHECK(gpu::is_in_use(D{3}));
  CHECK(current_queue(D{3}).allowance().bytes == gpu::allowance_bytes);
}

TEST_CASE("an error that stays is reported as such, and nothing aborts", "[memory][MEM-6]") {
  {
    const Bytes memory(D{2}, count * sizeof(int));
    const auto numbers = memory::PinnedPool<R>::get().allocate(Cpu{0}, count * sizeof(int));
    copy_bytes(Cpu{0}, numbers.data(), D{2}, memory.data(), count * sizeof(int));
    const gpu::Stream<D> side{D{2}};
    auto graph = gpu::capture(D{2}, [] {});
    R::fail_call("synchronize_stream", 1, emulation::error::illegal_address);
    try {
      synchronize(D{2});
      FAIL("nothing was thrown");
    } catch (const GpuError& error) {
      CHECK(error.is_sticky());
      CHECK(error.status() == emulation::error::illegal_address);
      CHECK(std::string{error.what()} ==
            "synchronize_stream on emulated:2: an illegal memory access was encountered; an earlier kernel or copy "
            "failed and no call on this device can succeed any more: restart the process");
    }
    CHECK_THROWS_AS(start(D{2}, FillInts{}, {.to = ints(memory), .count = count}), GpuError);
    CHECK_THROWS_AS(graph.launch(), GpuError);
    CHECK_THROWS_AS(gpu::capture(D{2}, [] {}), GpuError);
    CHECK_THROWS_AS(Bytes(D{2}, std::size_t{64} << 20), GpuError);
    CHECK_NOTHROW(Bytes(D{1}, 512)); // the others work
  }                                  // and all destructors ran
  Machine::get().devices[2].sticky = 0;
  (void)empty_cache(D{2});
}

TEST_CASE("a GPU's pool returns what it caches before it refuses, and says what there is", "[memory][MEM-6]") {
  (void)empty_cache(D{1});
  launch(D{1}, [](const auto&) {}); // the stream's working memory is there before the limit
  auto& memory = Machine::get().devices[1].memory;
  memory.limit = memory.used() + (std::size_t{50} << 20);
  {
    const Bytes first(D{1}, std::size_t{30} << 20);
    start(D{1}, FillInts{}, {.to = ints(first), .count = count, .value = 1});
  } // cached, with a kernel still to come
  const auto retries = memory_stats(D{1}).retries;
  {
    const Bytes second(D{1}, std::size_t{40} << 20); // fits only when the first segment is given back
    CHECK(memory_stats(D{1}).retries == retries + 1);
    try {
      const Bytes third(D{1}, std::size_t{20} << 20);
      FAIL("nothing was thrown");
    } catch (const OutOfMemoryError& error) {
      CHECK(error.figures().asked == std::size_t{20} << 20);
      CHECK(error.figures().allocated == std::size_t{40} << 20);
      CHECK(error.figures().reserved == std::size_t{40} << 20);
      CHECK(error.figures().total == memory.limit);
      CHECK(std::string{error.what()}.find("memory: emulated:1 has no room for 20.00 MiB") == 0);
    }
  }
  memory.limit = emulation::DeviceMemory::capacity;
  CHECK_NOTHROW(Bytes(D{1}, std::size_t{60} << 20));
  (void)empty_cache(D{1});
}

TEST_CASE("a graph for which there is no memory tells so", "[memory][MEM-6]") {
  auto& memory = Machine::get().devices[0].memory;
  { const Bytes cached(D{0}, std::size_t{30} << 20); }
  CHECK(gpu::capture(D{0}, [] {})); // and so is the working memory of the stream that records
  memory.limit = memory.used();
  const auto graph = gpu::capture(D{0}, [] { const Bytes inside(D{0}, std::size_t{30} << 20); });
  CHECK(!graph);
  CHECK(graph.reason().find("memory: emulated:0 has no room for 30.00 MiB") == 0);
  memory.limit = emulation::DeviceMemory::capacity;
  CHECK(gpu::capture(D{0}, [] { const Bytes inside(D{0}, std::size_t{30} << 20); }));
}

TEST_CASE("while the process ends nothing is asked of the driver", "[memory][gpu]") {
  const auto calls = [] {
    const std::lock_guard lock{Machine::get().mutex};
    long sum = 0;
    for (const long made : Machine::get().counts) sum += made;
    return sum;
  };
  std::optional<gpu::Stream<D>> side{};
  side.emplace(D{0});
  std::optional<Bytes> memory{};
  memory.emplace(D{0}, 4096);
  memory->record_stream(side->handle());
  std::optional<gpu::CapturedGraph<D>> graph{};
  graph.emplace(gpu::capture(D{0}, [] {}));
  auto numbers = memory::PinnedPool<R>::get().allocate(Cpu{0}, 4096);
  copy_bytes(Cpu{0}, numbers.data(), D{0}, memory->data(), 4096, {.non_blocking = true});
  synchronize(Cpu{0});
  const long before = calls();
  gpu::process_is_ending = true; // as static objects find it that are destroyed late
  memory.reset();
  graph.reset();
  side.reset();
  numbers.reset();
  (void)empty_cache(D{0});
  CHECK(calls() == before);
  gpu::process_is_ending = false;
  --Machine::get().live_graphs; // it was left to the end of the process
}
