// SPDX-License-Identifier: Apache-2.0
#include <twill/device/device.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/snapshot.hpp>
#include <twill/memory/statistics.hpp>

#include <tests/support/failing_upstream.hpp>
#include <tests/support/fake_streams.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

using namespace twill;
using namespace twill::memory;
using twill_tests::FailingUpstream;

namespace {

/// Streams that threads share: numbers, of which the driver knows those that were not destroyed.
class SharedStreams {
public:
  using policy_kind = StreamPolicyKind;
  using Stream = int;
  struct Event {
    int stream = 0;
  };
  static constexpr bool several = true;

  struct State {
    std::mutex mutex;
    std::set<int> dead;
    int uses_of_dead = 0;
    std::set<std::pair<int, int>> waits; ///< which stream waits for which
    int slow = -1;                       ///< recording an event on this stream takes until it is dead, or a while
    std::atomic<bool> is_recording{false};
  };

  [[nodiscard]] Stream default_stream() const { return 0; }
  [[nodiscard]] Event record(Stream stream) {
    std::unique_lock lock{state->mutex};
    if (stream == state->slow && std::this_thread::get_id() != forgetting) {
      state->is_recording = true;
      for (int i = 0; i < 50 && !state->dead.contains(stream); ++i) {
        lock.unlock();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        lock.lock();
      }
    }
    if (state->dead.contains(stream)) ++state->uses_of_dead;
    return {stream};
  }
  void wait(Stream stream, const Event& event) {
    std::lock_guard guard{state->mutex};
    state->waits.insert({stream, event.stream});
  }
  [[nodiscard]] bool done(const Event&) const { return false; }
  void wait_on_host(const Event&) {}
  void synchronize() {}

  void destroy(Stream stream) {
    std::lock_guard guard{state->mutex};
    state->dead.insert(stream);
  }

  std::thread::id forgetting = std::this_thread::get_id(); ///< who made the streams
  std::shared_ptr<State> state = std::make_shared<State>();
};
static_assert(SeveralStreams<SharedStreams>);

constexpr std::size_t mib = std::size_t{1} << 20;

// Threads allocate, write, hand blocks to each other, release, empty the cache and read statistics.
template <class P> void hammer(P& pool, int rounds) {
  std::mutex mutex;
  std::vector<Block*> exchange;
  std::atomic<int> corrupted{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 engine{seed};
    std::vector<Block*> mine;
    for (int i = 0; i < rounds; ++i) {
      try {
        Block* block = pool.allocate(16 + engine() % (engine() % 16 == 0 ? 4 * mib : 20'000));
        block->address[0] = block->address[15] = static_cast<std::byte>(block->requested);
        mine.push_back(block);
      } catch (const OutOfMemoryError&) { // the capacity is meant to be too small at times
      }
      if (!mine.empty() && engine() % 3 == 0) {
        std::lock_guard guard{mutex};
        exchange.push_back(mine.back());
        mine.back() = exchange[engine() % exchange.size()];
        std::erase(exchange, mine.back());
      }
      while (mine.size() > 8) {
        std::swap(mine[engine() % mine.size()], mine.back());
        if (mine.back()->address[15] != static_cast<std::byte>(mine.back()->requested)) ++corrupted;
        pool.release(mine.back());
        mine.pop_back();
      }
      if (i % 200 == 199) pool.empty_cache();
      if (i % 150 == 149) static_cast<void>(pool.stats());
      if (i % 190 == 189) static_cast<void>(snapshot(pool));
    }
    for (Block* block : mine) pool.release(block);
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  for (Block* block : exchange) pool.release(block);
  REQUIRE(corrupted == 0);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 0);
  pool.empty_cache();
  REQUIRE(pool.current(Quantity::reserved_bytes) == 0);
}

} // namespace

TEMPLATE_TEST_CASE("threads share a pool, also while memory runs out", "[memory][MEM-1]", SharedBySpinning,
                   SharedByMutex) {
  FailingUpstream upstream;
  upstream.state->capacity = 50 * mib;
  {
    Pool<FailingUpstream, TestType> pool{"test", upstream};
    MemoryHistory history{1000};
    std::atomic<bool> stop{false};
    std::thread listener{[&] { // comes and goes while events happen
      while (!stop) {
        pool.tracking().set_observer(&history);
        std::this_thread::yield();
        pool.tracking().set_observer(nullptr);
      }
    }};
    hammer(pool, 1500);
    stop = true;
    listener.join();
  }
  REQUIRE(upstream.state->live.empty());
  REQUIRE(upstream.state->foreign_releases == 0);
}

TEST_CASE("a stream that is forgotten lives until no other thread records an event on it", "[memory][MEM-1]") {
  SharedStreams streams;
  Pool<FailingUpstream, SharedStreams> pool{"test", {}, streams};
  Block* block = pool.allocate(30 * mib, 1);
  const bool is_used = GENERATE(true, false);
  if (is_used)
    pool.record_stream(*block, 2); // an event on 2 when the block is released
  else
    pool.release(std::exchange(block, nullptr)); // an event on 1 when stream 3 takes it
  const int dying = is_used ? 2 : 1;
  streams.state->slow = dying;
  std::thread other{[&] {
    if (is_used)
      pool.release(block);
    else
      block = pool.allocate(30 * mib, 3);
  }};
  while (!streams.state->is_recording) std::this_thread::yield();
  pool.forget_stream(dying);
  streams.destroy(dying);
  other.join();
  REQUIRE(streams.state->uses_of_dead == 0);
  if (is_used) block = pool.allocate(30 * mib, 3);
  REQUIRE(streams.state->waits.contains({3, dying}));
  pool.release(block);
}

TEST_CASE("threads hand blocks from stream to stream while other streams come and go", "[memory][MEM-1]") {
  SharedStreams streams;
  FailingUpstream upstream;
  Pool<FailingUpstream, SharedStreams> pool{"test", upstream, streams};
  std::atomic<int> next{10};
  const auto work = [&](unsigned seed) {
    std::mt19937 engine{seed};
    for (int i = 0; i < 150; ++i) {
      const int dying = next++;
      std::vector<Block*> mine;
      for (int k = 0; k < 6; ++k) {
        mine.push_back(pool.allocate(1 * mib + engine() % (4 * mib), dying));
        if (engine() % 2 == 0) pool.record_stream(*mine.back(), static_cast<int>(engine() % 3));
      }
      for (int k = 0; k < 3; ++k, mine.pop_back()) pool.release(mine.back()); // for the other threads
      Block* foreign = pool.allocate(2 * mib, static_cast<int>(seed));
      pool.record_stream(*foreign, dying);
      pool.forget_stream(dying);
      streams.destroy(dying);
      for (Block* block : mine) pool.release(block);
      pool.release(foreign);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 3; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  REQUIRE(streams.state->uses_of_dead == 0);
  REQUIRE(pool.current(Quantity::allocated_bytes) == 0);
  pool.empty_cache();
  REQUIRE(upstream.state->live.empty());
}

TEST_CASE("many threads may copy and drop handles to one buffer", "[memory][MEM-4]") {
  const auto before = memory_allocated(Cpu{0});
  {
    const Buffer<Cpu> shared(Cpu{0}, 1000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([shared] {
        for (int i = 0; i < 20000; ++i) {
          Buffer<Cpu> copy = shared;
          const Buffer<Cpu> moved = std::move(copy);
        }
      });
    for (std::thread& thread : threads) thread.join();
    REQUIRE(shared.use_count() == 1);
  }
  REQUIRE(memory_allocated(Cpu{0}) == before);
}

TEST_CASE("the last of several threads to drop a buffer sees what the others wrote", "[memory][MEM-4]") {
  for (int i = 0; i < 300; ++i) {
    Buffer<Cpu> first(Cpu{0}, 64);
    Buffer<Cpu> second = first;
    auto* bytes = static_cast<unsigned char*>(first.data());
    std::thread writer{[mine = std::move(first), bytes]() mutable {
      bytes[0] = 1;
      mine.reset();
    }};
    bytes[32] = 2;
    second.reset();
    Buffer<Cpu> next(Cpu{0}, 64); // often the same block
    static_cast<unsigned char*>(next.data())[32] = 3;
    writer.join();
  }
}

TEST_CASE("threads that first ask for a device's pool at once get one pool", "[memory]") {
  std::vector<std::thread> threads;
  std::atomic<PoolFor<Meta>*> seen[8] = {};
  for (auto& slot : seen) threads.emplace_back([&slot] { slot = &pool(Meta{100}); });
  for (std::thread& thread : threads) thread.join();
  for (auto& slot : seen) REQUIRE(slot.load() == &pool(Meta{100}));
}
