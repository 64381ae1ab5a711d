#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Recorded work: it runs when it is launched and not before, with the arguments it was recorded with, in memory of its own;
// and what cannot be recorded says so and harms nothing.

#include <tests/support/gpu_bodies.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/gpu/copy.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace capture_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;
using Bytes = memory::Buffer<D>;
constexpr int count = 1021;

int* ints(const Bytes& buffer) { return static_cast<int*>(buffer.data()); }

void require_all(const Bytes& buffer, int value, const std::source_location& where = std::source_location::current()) {
  std::vector<int> numbers(count);
  copy_bytes(Cpu{0}, numbers.data(), buffer.device(), buffer.data(), count * sizeof(int));
  for (const int number : numbers) require_equal(number, value, where);
}

void graphs_run_when_launched() {
  const Bytes memory(D{0}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 5});
  Ints arguments{.to = ints(memory), .count = count, .value = 10};
  const auto graph = gpu::capture(D{0}, [&] {
    start(D{0}, AddToInts{}, arguments);
    start(D{0}, MixInts{}, {.to = ints(memory), .from = ints(memory), .count = count, .value = 1});
  });
  require_equal(graph.reason(), std::string{});
  require(static_cast<bool>(graph));
  arguments.value = 1000; // the graph has its own
  require_all(memory, 5);
  graph.launch();
  require_all(memory, 3 * 15 + 1);
  graph.launch();
  start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
  require_all(memory, 3 * 56 + 2);
}
const Case when_launched{"recorded work runs at each launch, with the arguments it had", &graphs_run_when_launched};

void graphs_own_their_memory() {
  const Bytes result(D{0}, count * sizeof(int));
  const auto before = memory_allocated(D{0});
  void* inside = nullptr;
  {
    const auto graph = gpu::capture(D{0}, [&] {
      const Bytes scratch(D{0}, count * sizeof(int));
      inside = scratch.data();
      start(D{0}, FillInts{}, {.to = ints(scratch), .count = count, .value = 21});
      start(D{0}, MixInts{}, {.to = ints(result), .from = ints(scratch), .count = count});
    });
    require_equal(graph.reason(), std::string{});
    require_equal(memory_allocated(D{0}), before);
    std::vector<Bytes> others{};
    for (int i = 0; i < 20; ++i) {
      others.emplace_back(D{0}, count * sizeof(int));
      require(others.back().data() != inside); // it is the graph's
      start(D{0}, FillInts{}, {.to = ints(others.back()), .count = count, .value = i});
    }
    graph.launch();
    (void)empty_cache(D{0});
    graph.launch();
    require_all(result, 63);
    for (int i = 0; i < 20; ++i) require_all(others[static_cast<std::size_t>(i)], i);
  }
  (void)empty_cache(D{0});
  const Bytes after(D{0}, count * sizeof(int)); // the graph's memory is everybody's again
  start(D{0}, FillInts{}, {.to = ints(after), .count = count, .value = 4});
  require_all(after, 4);
}
const Case own_memory{"what a recording allocates stays the graph's until the graph is gone", &graphs_own_their_memory};

void waiting_is_refused() {
  const Bytes memory(D{0}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 1});
  const auto reason_of = [&](auto refused) {
    const auto graph = gpu::capture(D{0}, [&] {
      start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
      refused();
    });
    require(!graph);
    require_throws<ValueError>([&] { graph.launch(); }, "no graph was recorded: ");
    return graph.reason();
  };
  const std::string records = ": this thread records a graph, and " + to_string(D{0}) + " cannot be waited for";
  int number = 0;
  require(reason_of([] { synchronize(D{0}); }).starts_with("synchronize" + records));
  require(reason_of([&] {
            copy_bytes(Cpu{0}, &number, D{0}, memory.data(), sizeof(int));
          }).starts_with("copy_bytes" + records));
  const auto event = record(D{0});
  require(reason_of([&] { event.wait(); }).starts_with("wait" + records));
  require(reason_of([&] { (void)event.is_complete(); }).starts_with("is_complete" + records));
  require(reason_of([&] { record(D{0}).wait(); }).starts_with("wait" + records));
  require_all(memory, 1); // and nothing of it ran
  start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
  require_all(memory, 2);
}
const Case refused{"a recording that would wait for the device fails with the reason", &waiting_is_refused};

void nested_recordings_are_refused() {
  std::string inner{};
  const auto outer = gpu::capture(D{0}, [&] { inner = gpu::capture(D{0}, [] {}).reason(); });
  require(static_cast<bool>(outer));
  require(inner.find("a graph is being recorded on " + to_string(D{0})) != std::string::npos);
}
const Case nested{"a recording within a recording is refused", &nested_recordings_are_refused};

void errors_pass() {
  require_throws<std::out_of_range>([] { (void)gpu::capture(D{0}, [] { throw std::out_of_range("mine"); }); }, "mine");
  const auto graph = gpu::capture(D{0}, [] {}); // the device records again
  require(static_cast<bool>(graph));
  graph.launch();
  synchronize(D{0});
}
const Case pass{"what a recorded function throws passes, and the recording is dropped", &errors_pass};

void other_streams_launch() {
  const Bytes memory(D{0}, count * sizeof(int));
  const auto graph =
      gpu::capture(D{0}, [&] { start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 3}); });
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 1});
  const gpu::Stream<D> side{D{0}};
  const auto filled = record(D{0});
  const StreamGuard<D> guard{D{0}, side.handle()};
  wait(D{0}, filled);
  graph.launch();
  start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 10});
  graph.launch();
  require_all(memory, 17);
}
const Case elsewhere{"a graph launched from another stream is ordered with it", &other_streams_launch};

void graphs_move() {
  const Bytes memory(D{0}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 0});
  gpu::CapturedGraph<D> graph{};
  require(!graph && graph.reason().empty());
  require_throws<ValueError>([&] { graph.launch(); }, "launch: no graph was recorded");
  for (int round = 1; round <= 3; ++round) {
    graph = gpu::capture(D{0}, [&] { start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = round}); });
    const auto moved = std::move(graph);
    moved.launch(); // and goes while it runs
  }
  require_all(memory, 6);
}
const Case move{"a graph may be replaced while it runs", &graphs_move};

void other_threads_go_on() {
  const Bytes mine(D{0}, count * sizeof(int));
  const Bytes theirs(D{0}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(mine), .count = count, .value = 1});
  start(D{0}, FillInts{}, {.to = ints(theirs), .count = count, .value = 1});
  const auto graph = gpu::capture(D{0}, [&] {
    start(D{0}, AddToInts{}, {.to = ints(mine), .count = count, .value = 1});
    submit(D{0},
           [&] { // another thread works on the device meanwhile: it allocates, launches and waits
             const Bytes more(D{0}, std::size_t{3} << 20);
             start(D{0}, AddToInts{}, {.to = ints(theirs), .count = count, .value = 5});
             synchronize(D{0});
           })
        .wait();
    start(D{0}, AddToInts{}, {.to = ints(mine), .count = count, .value = 1});
  });
  require_equal(graph.reason(), std::string{});
  require_all(theirs, 6);
  require_all(mine, 1);
  graph.launch();
  require_all(theirs, 6); // none of it got into the graph
  require_all(mine, 3);
}
const Case threads{"other threads use the device while one records", &other_threads_go_on};

void earlier_events_may_be_asked() {
  const Bytes memory(D{0}, count * sizeof(int));
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 1});
  const auto earlier = record(D{0});
  synchronize(D{0});
  bool has_passed = false;
  const auto graph = gpu::capture(D{0}, [&] {
    start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
    has_passed = earlier.is_complete_beside_recording();
    start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
  });
  require_equal(graph.reason(), std::string{});
  require(has_passed);
  graph.launch();
  require_all(memory, 3);
}
const Case earlier{"events of work before a recording may be asked for during it", &earlier_events_may_be_asked};

}} // namespace capture_suite
