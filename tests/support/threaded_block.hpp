#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A block of GPU threads that are threads of the host, so that ThreadSanitizer sees a missing barrier. `HostBlock` runs one
// thread after the other and forgives it. Only `barrier` and `is_last` order memory here: values that neighbours exchange go
// through relaxed atomics, as a shuffle orders nothing else. `ThreadedQueue` stands for a queue of a device and runs the blocks
// of a launch in turn. Read next: kernel/gpu/block.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/apply.hpp>
#include <twill/kernel/gpu/block.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace twill::test {

/// The values that threads of a warp give each other. Each stands beside the number of its round, so that no order of
/// accesses is needed to know it.
class Exchange {
public:
  explicit Exchange(int threads) : slots_(static_cast<std::size_t>(threads) * rounds) {}

  /// requires: both threads come, in the same round. Nobody is a whole butterfly ahead of a partner, which has ten rounds at
  /// most together with the next one: their places are free again after `rounds`.
  template <class T> [[nodiscard]] T swap(int thread, int partner, std::uint32_t round, const T& value) {
    static_assert(sizeof(T) <= 8);
    std::uint32_t mine[2]{}, theirs[2]{};
    std::memcpy(mine, &value, sizeof(T));
    for (int half = 0; half < 2; ++half)
      place(thread, round, half).store(std::uint64_t{round} << 32 | mine[half], std::memory_order_relaxed);
    for (int half = 0; half < 2; ++half) {
      std::uint64_t seen = 0;
      while ((seen = place(partner, round, half).load(std::memory_order_relaxed)) >> 32 != round)
        std::this_thread::yield();
      theirs[half] = static_cast<std::uint32_t>(seen);
    }
    T result{};
    std::memcpy(static_cast<void*>(&result), theirs, sizeof(T));
    return result;
  }

private:
  static constexpr std::size_t rounds = 16;
  struct Slot {
    std::atomic<std::uint64_t> halves[2]{};
  };
  [[nodiscard]] std::atomic<std::uint64_t>& place(int thread, std::uint32_t round, int half) {
    return slots_[static_cast<std::size_t>(thread) * rounds + round % rounds].halves[half];
  }
  std::vector<Slot> slots_;
};

/// What the threads of a block share.
struct ThreadedMemory {
  explicit ThreadedMemory(const gpu::LaunchShape& shape)
      : barrier{static_cast<std::ptrdiff_t>(shape.threads)},
        exchange{static_cast<int>(shape.threads)},
        bytes(shape.shared_bytes / sizeof(std::max_align_t) + 1) {}
  std::barrier<> barrier;
  Exchange exchange;
  std::vector<std::max_align_t> bytes;
  bool last = false;
};

/// A block as one of its threads sees it. Its members are those of the concept `kernel::gpu::Block`.
class ThreadedBlock {
public:
  ThreadedBlock(int block, const gpu::LaunchShape& shape, int thread, ThreadedMemory& memory, std::uint32_t& round)
      : block_{block}, shape_{&shape}, thread_{thread}, memory_{&memory}, round_{&round} {}

  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] int blocks() const { return static_cast<int>(shape_->blocks); }
  [[nodiscard]] int threads() const { return static_cast<int>(shape_->threads); }

  template <class T> struct Local {
    T value;
    [[nodiscard]] T& operator[](int) { return value; }
    [[nodiscard]] const T& operator[](int) const { return value; }
  };

  template <class F> void each(F&& f) const { f(thread_); }
  void barrier() const { memory_->barrier.arrive_and_wait(); }
  template <class T> [[nodiscard]] T* shared(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::byte*>(memory_->bytes.data()) + offset_bytes);
  }

  template <kernel::Reduction Op, class T> void all_reduce(Local<T>& values, int width) const {
    for (int step = width / 2; step > 0; step /= 2) {
      const T other = memory_->exchange.swap(thread_, thread_ ^ step, ++*round_, values.value);
      values.value =
          (thread_ & step) == 0 ? kernel::combine<Op>(values.value, other) : kernel::combine<Op>(other, values.value);
    }
  }

  [[nodiscard]] bool is_last(unsigned* counter, unsigned count) const {
    barrier();
    if (thread_ == 0) {
      memory_->last = ++*counter == count;
      if (memory_->last) *counter = 0;
    }
    barrier();
    return memory_->last;
  }

private:
  int block_;
  const gpu::LaunchShape* shape_;
  int thread_;
  ThreadedMemory* memory_;
  std::uint32_t* round_;
};

/// A queue whose kernels run at once, with a thread of the host for each thread of a block.
class ThreadedQueue {
public:
  [[nodiscard]] const gpu::Properties& properties() const { return device_; }
  [[nodiscard]] const gpu::Allowance& allowance() const { return working_.size(); }
  [[nodiscard]] gpu::WorkingMemory working_memory() const { return gpu::WorkingMemory{working_}; }

  template <class Body, class Parameters>
  friend void enqueue(const ThreadedQueue& queue, Body body, const gpu::LaunchShape& shape,
                      const Parameters& parameters) {
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > static_cast<unsigned>(Body::most_threads) ||
        shape.shared_bytes > queue.device_.shared_bytes)
      throw std::logic_error("a GPU would refuse this launch");
    ThreadedMemory memory{shape};
    const auto run = [&](int thread) {
      std::uint32_t round = 0;
      for (int block = 0; block < static_cast<int>(shape.blocks); ++block) {
        memory.barrier.arrive_and_wait();
        if (thread == 0)
          std::memset(static_cast<void*>(memory.bytes.data()), 0xff, memory.bytes.size() * sizeof(std::max_align_t));
        memory.barrier.arrive_and_wait();
        body(ThreadedBlock{block, shape, thread, memory, round}, parameters);
      }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < static_cast<int>(shape.threads); ++thread) threads.emplace_back(run, thread);
    for (std::thread& thread : threads) thread.join();
  }

private:
  gpu::Properties device_{.name = "threads", .processors = 4, .shared_bytes = 227 << 10, .major = 9};
  std::vector<double> memory_ = std::vector<double>(std::size_t{1} << 18);
  std::vector<unsigned> counters_ = std::vector<unsigned>(1024);
  mutable gpu::WorkingSpace working_{
      memory_.data(), counters_.data(), {memory_.size() * sizeof(double), static_cast<int>(counters_.size())}};
};

} // namespace twill::test
