// SPDX-License-Identifier: Apache-2.0
//
// Where the pools of GPUs get their memory, when that is decided, and what a device's figures count.

#include "tests/support/emulated_device.hpp"
#include "tests/support/gpu_bodies.hpp"

#include <twill/device/gpu/library_memory.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/memory/summary.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

/// Drivers of their own, so that each can be told where its memory comes from.
struct OrderedRuntime : EmulatedRuntime {};
struct PlainRuntime : EmulatedRuntime {};
struct UnusedRuntime : EmulatedRuntime {};
struct AloneRuntime : EmulatedRuntime {};

template <class R> struct Gpu {
  int index = 0;
  using Runtime = R;
  using Upstream = gpu::SegmentUpstream<R>;
  using PoolStreams = gpu::PoolStreams<R>;
  using Event = gpu::Event<R>;
  static constexpr std::string_view kind = "gpu";
  static constexpr bool has_memory = true;
  static constexpr bool launches_at_once = true;
  [[nodiscard]] static int count() { return R::device_count(); }
  friend constexpr bool operator==(Gpu, Gpu) = default;
};

/// Gives a kernel that writes sevens.
template <class D> void fill_ints(const memory::Buffer<D>& buffer, int count) {
  auto* const to = static_cast<int*>(buffer.data());
  const auto& queue = current_queue(buffer.device());
  const EmulatedRuntime::Call call{"enqueue"};
  REQUIRE(call.give(queue.stream(), 1U << buffer.device().index, [=] { std::fill_n(to, count, 7); }) == 0);
}

} // namespace

TEST_CASE("pools take their segments from the driver's stream-ordered allocator when told to", "[memory][MEM-1]") {
  using D = Gpu<OrderedRuntime>;
  configure_memory<D>({.source = gpu::Source::stream_ordered});
  const long plain = EmulatedRuntime::calls_of("allocate");
  {
    const gpu::Stream<D> side{D{2}};
    const memory::Buffer<D> here(D{2}, 4096);
    CHECK(EmulatedRuntime::calls_of("allocate_async") == 1);
    const StreamGuard<D> guard{D{2}, side.handle()};
    const memory::Buffer<D> there(D{2}, std::size_t{3} << 20);
    CHECK(EmulatedRuntime::calls_of("allocate_async") == 2);
    const std::vector<int> sent{1, 2, 3};
    std::vector<int> received(3);
    copy_bytes(D{2}, there.data(), Cpu{0}, sent.data(), 12);
    copy_bytes(Cpu{0}, received.data(), D{2}, there.data(), 12);
    CHECK(received == sent);
  }
  CHECK(EmulatedRuntime::calls_of("allocate") == plain + 2); // two streams' working memory
  CHECK(memory_allocated(D{2}) == 0);
  CHECK(empty_cache(D{2}) == (std::size_t{2} << 20) + (std::size_t{20} << 20));
  CHECK(memory_reserved(D{2}) == 0);
  CHECK_NOTHROW(configure_memory<D>({.source = gpu::Source::stream_ordered}));
  CHECK_THROWS_WITH(configure_memory<D>({.source = gpu::Source::segments}),
                    "configure_memory: the pools of gpu devices are in use with the stream-ordered allocator; call it "
                    "before the first tensor on one is made");
}

TEST_CASE("where memory comes from is decided by the first tensor", "[memory][MEM-1]") {
  using D = Gpu<PlainRuntime>;
  { const memory::Buffer<D> first(D{2}, 4); }
  CHECK_NOTHROW(configure_memory<D>({.source = gpu::Source::segments}));
  CHECK_THROWS_WITH(
      configure_memory<D>({.source = gpu::Source::stream_ordered}),
      "configure_memory: the pools of gpu devices are in use with the plain allocator; call it before the "
      "first tensor on one is made");
  CHECK_THROWS_AS(configure_memory<D>({.source = gpu::Source::each_alone}), DeviceError);
  (void)empty_cache(D{2});
}

TEST_CASE("each tensor has an allocation of its own when told to", "[memory][MEM-1]") {
  using D = Gpu<AloneRuntime>;
  const D device{2};
  configure_memory<D>({.source = gpu::Source::each_alone});
  CHECK_THROWS_WITH(configure_memory<D>({.source = gpu::Source::segments}),
                    "configure_memory: the pools of gpu devices are in use with an allocation for each tensor; call it "
                    "before the first tensor on one is made");
  emulation::DeviceData& data = emulation::Machine::get().devices[2];
  { const memory::Buffer<D> first(device, 4); }
  REQUIRE(gpu::capture(device, [] {})); // the working memory of all streams is there from now on
  const std::size_t blocks = data.memory.live_blocks();
  const std::size_t used = data.memory.used();

  SECTION("of its bytes, given back with it") {
    memory::Buffer<D> x(device, 1001 * sizeof(int));
    memory::Buffer<D> y(device, 1);
    CHECK(data.memory.live_blocks() == blocks + 2);
    CHECK(data.memory.is_allocated(x.data(), 1001 * sizeof(int)));
    CHECK(!data.memory.is_allocated(x.data(), 1001 * sizeof(int) + 1));
    CHECK(memory_allocated(device) == 4096 + 512); // as from segments
    CHECK(memory_reserved(device) == 4096 + 512);
    fill_ints(x, 1001);
    x.reset(); // with its work still to come
    CHECK(data.memory.live_blocks() == blocks + 1);
    CHECK(memory_reserved(device) == 512);
  }
  SECTION("past which the driver copies and fills nothing") {
    const memory::Buffer<D> x(device, 5 * sizeof(int));
    const std::vector<int> sent(6);
    CHECK_NOTHROW(copy_bytes(device, x.data(), Cpu{0}, sent.data(), 20));
    CHECK_THROWS_AS(copy_bytes(device, x.data(), Cpu{0}, sent.data(), 24), GpuError);
  }
  SECTION("past which a kernel that writes is found out") {
    auto x = std::make_optional<memory::Buffer<D>>(device, 1001 * sizeof(int));
    fill_ints(*x, 1001);
    CHECK_NOTHROW(synchronize(device));
    fill_ints(*x, 1002);
    CHECK_THROWS_WITH(synchronize(device), Catch::Contains("illegal memory access"));
    data.sticky = 0; // as a new process
    x.reset();
  }
  SECTION("which is a graph's own while the graph lives") {
    const memory::Buffer<D> result(device, 4 * sizeof(int));
    {
      const std::size_t before = data.memory.live_blocks();
      const auto graph = gpu::capture(device, [&] {
        for (int round = 0; round < 3; ++round) {
          const memory::Buffer<D> temporary(device, 4 * sizeof(int));
          fill_ints(temporary, 4);
          copy_bytes(device, result.data(), device, temporary.data(), 4 * sizeof(int));
        }
      });
      REQUIRE(graph);
      CHECK(data.memory.live_blocks() == before + 3); // never used again, not even by the graph
      { const memory::Buffer<D> other(device, 4 * sizeof(int)); }
      CHECK(data.memory.live_blocks() == before + 3);
      graph.launch();
      std::vector<int> received(4);
      copy_bytes(Cpu{0}, received.data(), device, result.data(), 4 * sizeof(int));
      CHECK(received == std::vector<int>(4, 7));
    }
    { const memory::Buffer<D> other(device, 4 * sizeof(int)); }
    CHECK(data.memory.live_blocks() == blocks + 1);
  }
  CHECK(data.memory.live_blocks() == blocks);
  CHECK(data.memory.used() == used);
  CHECK(memory_reserved(device) == 0);
}

TEST_CASE("a device's figures tell the context's own share", "[memory][MEM-2]") {
  using D = Gpu<UnusedRuntime>;
  const D device{3};
  emulation::Machine::get().devices[3].has_context = false; // whatever other tests have done
  REQUIRE(!gpu::is_in_use(device));
  { const memory::Buffer<D> first(device, 4); }
  const DeviceMemory whole = device_memory(device);
  CHECK(whole.context == emulation::Machine::context_bytes);
  CHECK(whole.total == emulation::DeviceMemory::capacity);
  CHECK(whole.working == gpu::allowance_bytes + sizeof(unsigned) * gpu::allowance_counters);
  CHECK(whole.used >= whole.context + whole.working);
  CHECK(memory_summary(device).find(" used (96.00 MiB by the context) (32.06 MiB as working memory), ") !=
        std::string::npos);
  {
    const auto graph = gpu::capture(device, [] {});
  }
  CHECK(device_memory(device).working == whole.working); // a recording has no working memory of its own
  const gpu::Queue<D::Runtime>& queue = current_queue(device);
  REQUIRE(gpu::library_memory(queue, queue.working_memory(), 2 * gpu::allowance_bytes) != nullptr);
  CHECK(device_memory(device).working == whole.working + 2 * gpu::allowance_bytes);
  CHECK(memory_summary(Cpu{0}).find("context") == std::string::npos);
  (void)empty_cache(device);
}
