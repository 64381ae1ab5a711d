#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The pool of a GPU: bytes as users ask for them, reuse in the order of streams, pinned host memory. [MEM-1, MEM-2, MEM-3]

#include <tests/support/gpu_bodies.hpp>
#include <tests/support/suite.hpp>

#include <twill/memory/buffer.hpp>
#include <twill/memory/gpu/pinned.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/memory/summary.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/gpu/pin_memory.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace memory_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;
using Bytes = memory::Buffer<D>;
using Pinned = memory::PinnedPool<D::Runtime>;
constexpr int count = 1021;

int* ints(const Bytes& buffer) { return static_cast<int*>(buffer.data()); }

void require_all(const Bytes& buffer, int value, const std::source_location& where = std::source_location::current()) {
  std::vector<int> numbers(count);
  copy_bytes(Cpu{0}, numbers.data(), buffer.device(), buffer.data(), count * sizeof(int));
  for (const int number : numbers) require_equal(number, value, where);
}

void three_scalars() {
  std::array<std::int64_t, 5> bytes{memory_allocated(D{0})};
  {
    const Bytes first(D{0}, sizeof(float));
    bytes[1] = memory_allocated(D{0});
    const Bytes second(D{0}, sizeof(float));
    bytes[2] = memory_allocated(D{0});
    const Bytes third(D{0}, sizeof(float));
    bytes[3] = memory_allocated(D{0});
  }
  bytes[4] = memory_allocated(D{0});
  require(bytes == std::array<std::int64_t, 5>{0, 512, 1024, 1536, 0});
}
const Case scalars{"three scalars on a GPU take 512 bytes each", &three_scalars};

/// Not when the environment wants an allocation for each tensor.
bool has_segments() { return gpu::source_of_segments<D::Runtime>() != gpu::Source::each_alone; }

void one_segment() {
  if (!has_segments()) return;
  (void)empty_cache(D{0});
  require_equal(memory_reserved(D{0}), std::int64_t{0});
  const auto free_before = device_memory(D{0}).free;
  {
    const Bytes scalar(D{0}, sizeof(float));
    require_equal(memory_reserved(D{0}), std::int64_t{2} << 20);
  }
  require_equal(memory_reserved(D{0}), std::int64_t{2} << 20);
  require_equal(empty_cache(D{0}), std::size_t{2} << 20);
  require_equal(memory_reserved(D{0}), std::int64_t{0});
  require(device_memory(D{0}).free >= free_before);
}
const Case segment{"the first scalar reserves one segment of 2 MiB, which empty_cache gives back", &one_segment};

void utilisation_rises_and_falls() {
  const std::size_t bytes = test::wants_small_sizes() ? std::size_t{4} << 20 : std::size_t{400'000'000};
  if (!has_segments() || device_memory(D{0}).free < 11 * bytes) return;
  const auto before = device_memory(D{0}).used;
  {
    std::vector<Bytes> tensors{};
    for (int i = 0; i < 10; ++i) tensors.emplace_back(D{0}, bytes);
    require(device_memory(D{0}).used >= before + 10 * bytes);
  }
  require(device_memory(D{0}).used >= before + 10 * bytes);
  (void)empty_cache(D{0});
  require(device_memory(D{0}).used < before + bytes);
}
const Case utilisation{"memory in use stays with the pool until empty_cache", &utilisation_rises_and_falls};

void figures_add_up() {
  const Bytes memory(D{0}, 1000);
  const auto stats = memory_stats(D{0});
  require_equal(stats.all.allocated_bytes.current, std::int64_t{1024});
  require_equal(stats.all.requested_bytes.current, std::int64_t{1000});
  require(memory_summary(D{0}).find("memory of " + to_string(D{0})) == 0);
  const DeviceMemory whole = device_memory(D{0});
  require_equal(whole.used + whole.free, whole.total);
  reset_peak_memory_stats(D{0});
  require_equal(max_memory_allocated(D{0}), std::int64_t{1024});
}
const Case figures{"the statistics of a GPU's pool add up", &figures_add_up};

void other_streams_wait() {
  const gpu::Stream<D> side{D{0}};
  (void)empty_cache(D{0});
  const void* address = nullptr;
  {
    const Bytes memory(D{0}, count * sizeof(int));
    address = memory.data();
    for (int i = 0; i < 10; ++i) start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = i});
  } // released with its kernels still to come
  const StreamGuard<D> guard{D{0}, side.handle()};
  const Bytes memory(D{0}, count * sizeof(int));
  const bool shared = memory.data() == address;
  start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 77});
  require_all(memory, 77);
  require(shared || memory_reserved(D{0}) >= std::int64_t{2} << 20);
}
const Case others{"memory goes to another stream after the work of the first", &other_streams_wait};

void recorded_streams_are_waited_for() {
  const gpu::Stream<D> side{D{0}};
  const Bytes result(D{0}, count * sizeof(int));
  for (int round = 0; round < 5; ++round) {
    {
      Bytes memory(D{0}, count * sizeof(int));
      start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = round});
      const auto filled = record(D{0});
      const StreamGuard<D> guard{D{0}, side.handle()};
      wait(D{0}, filled);
      memory.record_stream(side.handle());
      for (int i = 0; i < 5; ++i) start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 1});
      copy_bytes(D{0}, result.data(), D{0}, memory.data(), count * sizeof(int));
    } // the side stream is still at it
    const Bytes next(D{0}, count * sizeof(int));
    start(D{0}, FillInts{}, {.to = ints(next), .count = count, .value = -1});
    require_all(next, -1);
    synchronize(D{0});
    require_all(result, round + 5);
  }
}
const Case recorded{"memory that another stream uses is not used again before that is done",
                    &recorded_streams_are_waited_for};

void streams_are_forgotten() {
  std::optional<Bytes> memory{};
  const auto before = memory_allocated(D{0});
  {
    const gpu::Stream<D> side{D{0}};
    const StreamGuard<D> guard{D{0}, side.handle()};
    memory.emplace(D{0}, count * sizeof(int));
    start(D{0}, FillInts{}, {.to = ints(*memory), .count = count, .value = 6});
  }
  require_all(*memory, 6);
  memory.reset();
  require_equal(memory_allocated(D{0}), before);
  (void)empty_cache(D{0});
}
const Case forgotten{"memory outlives the stream that it was made on", &streams_are_forgotten};

void user_streams_are_accepted() {
  D::Runtime::Stream own{};
  require_equal(D::Runtime::use_device(0), 0);
  require_equal(D::Runtime::create_stream(&own), 0);
  {
    const StreamGuard<D> guard{D{0}, own};
    const Bytes memory(D{0}, count * sizeof(int));
    start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 12});
    std::vector<int> numbers(count); // in order with what twill did there
    require_equal(D::Runtime::copy(numbers.data(), memory.data(), count * sizeof(int), own), 0);
    require_equal(D::Runtime::synchronize_stream(own), 0);
    for (const int number : numbers) require_equal(number, 12);
  }
  forget_stream(D{0}, own);
  require_equal(D::Runtime::destroy_stream(own), 0);
  {
    const StreamGuard<D> guard{D{0}, D::Runtime::Stream{}}; // the driver's own default stream
    const Bytes memory(D{0}, count * sizeof(int));
    start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = 13});
    require_all(memory, 13);
  }
}
const Case user_streams{"a program's own stream is twill's for a scope", &user_streams_are_accepted};

void threads_share_a_device() {
  std::vector<std::thread> threads{};
  std::array<int, 4> wrong{};
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([rank, &wrong] {
      const gpu::Stream<D> own{D{0}};
      const StreamGuard<D> guard{D{0}, own.handle()};
      for (int round = 0; round < 20; ++round) {
        const Bytes memory(D{0}, count * sizeof(int));
        start(D{0}, FillInts{}, {.to = ints(memory), .count = count, .value = round});
        start(D{0}, AddToInts{}, {.to = ints(memory), .count = count, .value = 100 * rank});
        const auto numbers = Pinned::get().allocate(Cpu{0}, count * sizeof(int));
        copy_bytes(Cpu{0}, numbers.data(), D{0}, memory.data(), count * sizeof(int));
        for (int i = 0; i < count; ++i)
          wrong[static_cast<std::size_t>(rank)] +=
              static_cast<const int*>(numbers.data())[i] != round + 100 * rank ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  require(wrong == std::array<int, 4>{});
}
const Case threads{"threads with a stream each share a GPU and its pool", &threads_share_a_device};

void pinned_memory_is_pooled() {
  auto& pool = Pinned::get();
  const auto held = pool.pool().current(memory::Quantity::allocated_bytes);
  const void* address = nullptr;
  {
    const auto x = pinned_empty<D, float, Shape<dyn>>(Dims(1000));
    require(is_pinned<D>(x) && x.device() == Cpu{0});
    address = x.data();
    const auto view = x[slice{10, 20}];
    require(is_pinned<D>(view));
    require_equal(pool.pool().current(memory::Quantity::allocated_bytes), held + 4096);
  }
  require_equal(pool.pool().current(memory::Quantity::allocated_bytes), held);
  const auto again = pinned_empty<D, float, Shape<dyn>>(Dims(1000));
  require(again.data() == address);
  require(!is_pinned<D>(Tensor<float, Cpu, Shape<3>>(Cpu{0})));
  require(!is_pinned<D>(pinned_empty<D, float, Shape<dyn>>(Dims(0))));
}
const Case pinned{"pinned memory is pooled, and a tensor knows whether it is", &pinned_memory_is_pooled};

void pinned_copies_keep_their_memory() {
  const Bytes memory(D{0}, count * sizeof(int));
  for (int round = 0; round < 6; ++round) {
    submit(D{0},
           [&] { // in a task nobody else waits for the copy
             const auto numbers = pinned_empty<D, std::int32_t, Shape<dyn>>(Dims(count));
             for (int i = 0; i < count; ++i) numbers.data()[i] = round;
             copy_bytes(D{0}, memory.data(), Cpu{0}, numbers.data(), count * sizeof(int), {.non_blocking = true});
           })
        .wait();
    const auto next = pinned_empty<D, std::int32_t, Shape<dyn>>(Dims(count)); // not the memory of that copy
    for (int i = 0; i < count; ++i) next.data()[i] = -1;
    require_all(memory, round);
  }
  synchronize(D{0});
  (void)Pinned::get().empty_cache();
}
const Case kept{"pinned memory that a copy still reads is not handed out", &pinned_copies_keep_their_memory};

void many_copies_from_one_buffer() {
  const Bytes memory(D{0}, count * sizeof(int));
  const auto numbers = pinned_empty<D, std::int32_t, Shape<dyn>>(Dims(count));
  for (int i = 0; i < count; ++i) numbers.data()[i] = 3;
  submit(D{0}, [&] {
    for (int i = 0; i < 100; ++i)
      copy_bytes(D{0}, memory.data(), Cpu{0}, numbers.data(), count * sizeof(int), {.non_blocking = true});
  }).wait();
  require_all(memory, 3);
}
const Case many{"one pinned buffer serves many copies", &many_copies_from_one_buffer};

void tensors_are_pinned() {
  Tensor<float, Cpu, Shape<2, 3>> x(Cpu{0});
  for (int i = 0; i < 6; ++i) x.data()[i] = static_cast<float>(i);
  const auto y = pin_memory<D>(x);
  require(is_pinned<D>(y) && !is_pinned<D>(x));
  require(pin_memory<D>(y).data() == y.data());
  for (int i = 0; i < 6; ++i) require_equal(y.data()[i], static_cast<float>(i));
}
const Case tensors{"a host tensor is copied into pinned memory once", &tensors_are_pinned};

}} // namespace memory_suite
