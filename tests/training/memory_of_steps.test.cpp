// SPDX-License-Identifier: Apache-2.0
//
// What training keeps, what it needs at most, and that a steady step asks nobody for memory: neither the device's pool nor
// the host's heap, whose allocations this program counts.

#include "tests/support/late_device.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

using namespace twill;
using namespace twill::test;

namespace {
std::atomic<std::int64_t> heap_allocations{0};
} // namespace

// All forms, because sanitizers bring forms of their own; not inlined, because g++ takes the visible malloc for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept { return operator new(bytes, tag); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

namespace {

/// Requests to the pool of a device so far.
template <class D> std::int64_t pool_allocations(D device) { return memory_stats(device).all.allocation.allocated; }

constexpr std::int64_t rounded(std::size_t bytes) { return static_cast<std::int64_t>((bytes + 511) / 512 * 512); }

} // namespace

TEST_CASE("adding up item() keeps no graph", "[training][MEM-4]") {
  const Cpu device{1};
  nn::Network<Classifier> model{device};
  const auto x = random_rows<float, 5>(device, 33);
  const auto label = random_labels(device, 33, 3);
  float total = 0;
  total += nn::cross_entropy(model.forward(x), label).item();
  const std::int64_t before = memory_allocated(device);
  for (int i = 0; i < 50; ++i) total += nn::cross_entropy(model.forward(x), label).item();
  CHECK(memory_allocated(device) == before);
  CHECK(total > 0);
}

TEMPLATE_TEST_CASE("memory does not grow from iteration to iteration", "[training][MEM-4]", Cpu, Late, Meta) {
  const TestType device{1};
  nn::Network<DropoutClassifier, TestType> model{device};
  training::Optimiser optimiser{model, optim::Adam{}};
  const auto x = full<float, Shape<dyn, 5>>(Dims(33, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(33), 2, device);
  std::array<std::int64_t, 20> bytes{};
  for (std::int64_t& now : bytes) {
    const auto loss = nn::cross_entropy(model.forward(x), label);
    loss.backward();
    optimiser.step();
    now = memory_allocated(device);
  }
  CHECK(std::all_of(bytes.begin(), bytes.end(), [&](std::int64_t now) { return now == bytes[0]; }));
}

TEST_CASE("a loss can give up its graph before the end of its scope", "[training][MEM-4]") {
  const Cpu device{1};
  nn::Network<Classifier> model{device};
  const auto x = random_rows<float, 5>(device, 33);
  const auto label = random_labels(device, 33, 3);
  const std::int64_t before = memory_allocated(device);
  auto loss = nn::cross_entropy(model.forward(x), label);
  CHECK(memory_allocated(device) > before);
  loss.reset();
  CHECK(memory_allocated(device) == before);
}

TEMPLATE_TEST_CASE("inference keeps nothing but its result", "[training][MEM-5]", Cpu, Late, Meta) {
  const TestType device{1};
  nn::Network<Classifier, TestType> model{device};
  constexpr std::int64_t rows = 257;
  const auto x = full<float, Shape<dyn, 5>>(Dims(rows, 5), 0.5F, device);
  const std::int64_t result = rounded(rows * 3 * sizeof(float));
  const std::int64_t hidden = rounded(rows * 7 * sizeof(float));
  const std::int64_t before = memory_allocated(device);
  {
    const auto tracked = model.forward(x);
    CHECK(memory_allocated(device) >= before + result + hidden);
  }
  {
    const auto y = model.infer(x);
    CHECK(memory_allocated(device) == before + result);
  }
  {
    const nn::NoGrad guard{};
    const auto y = model.forward(x);
    CHECK(memory_allocated(device) == before + result);
    const auto loss = mean(model.forward(x));
    CHECK(memory_allocated(device) == before + result + 512); // not even what the mean was taken of
    CHECK_THROWS_AS(loss.backward(), ValueError);
  }
  CHECK(memory_allocated(device) == before);
}

namespace {

/// The high-water mark of staged training.
template <class D> std::int64_t staged_peak(D device, std::int64_t rows) {
  reset_peak_memory_stats(device);
  nn::Network<Classifier, D> model{device};
  training::Optimiser optimiser{model, optim::Adam{}};
  const auto x = full<float, Shape<dyn, 5>>(Dims(rows, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(rows), 2, device);
  for (int i = 0; i < 3; ++i) {
    model.zero_grad();
    const auto loss = nn::cross_entropy(model.forward(x), label);
    loss.backward();
    optimiser.step();
  }
  return max_memory_allocated(device);
}

template <class D> std::int64_t planned_peak(D device, std::int64_t rows) {
  reset_peak_memory_stats(device);
  nn::Network<Classifier, D> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Adam{});
  const auto x = full<float, Shape<dyn, 5>>(Dims(rows, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(rows), 2, device);
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x, label));
  return max_memory_allocated(device);
}

} // namespace

TEST_CASE("the same code on Meta tells the exact peak of training", "[training][MEM-8]") {
  for (const std::int64_t rows : {1, 31, 1024}) {
    CHECK(staged_peak(Meta{1}, rows) == staged_peak(Cpu{1}, rows));
    CHECK(planned_peak(Meta{1}, rows) == planned_peak(Cpu{1}, rows));
    CHECK(planned_peak(Meta{1}, rows) == planned_peak(Late{1}, rows));
  }
}

TEMPLATE_TEST_CASE("a step allocates what it said its arena and states would take", "[training][MEM-8]", Cpu, Late,
                   Meta) {
  const TestType device{1};
  nn::Network<Classifier, TestType> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::MomentumSgd{});
  const auto x = full<float, Shape<dyn, 5>>(Dims(333, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(333), 2, device);
  std::int64_t states = 0;
  for (const auto& view : model.parameters()) states += rounded(view.buffer.bytes());
  const std::int64_t before = memory_allocated(device);
  const std::int64_t arena = rounded(step.arena_bytes(x, label));
  CHECK(memory_allocated(device) == before);
  static_cast<void>(step(x, label));
  CHECK(memory_allocated(device) == before + arena + states);
}

TEMPLATE_TEST_CASE("a steady step asks neither the pool nor the heap for memory", "[training][MEM-9]", Cpu, Meta) {
  const TestType device{1};
  nn::Network<DropoutClassifier, TestType> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::AdamW{});
  // 1,003 samples in batches of 32: the last one has 11
  const auto x = full<float, Shape<dyn, 5>>(Dims(32, 5), 0.5F, device);
  const auto label = full<std::int64_t, Shape<dyn>>(Dims(32), 2, device);
  const auto last_x = full<float, Shape<dyn, 5>>(Dims(11, 5), 0.5F, device);
  const auto last_label = full<std::int64_t, Shape<dyn>>(Dims(11), 2, device);
  const auto epoch = [&] {
    for (int i = 0; i < 1003 / 32; ++i) static_cast<void>(step(x, label));
    static_cast<void>(step(last_x, last_label));
  };
  epoch();
  const std::int64_t pool_before = pool_allocations(device);
  const std::int64_t heap_before = heap_allocations.load();
  for (int i = 0; i < 4; ++i) epoch();
  const std::int64_t heap_after = heap_allocations.load();
  CHECK(pool_allocations(device) == pool_before);
  CHECK(heap_after == heap_before);
  CHECK(step.steps() == 5 * 32);
}

TEST_CASE("a steady step on a late device asks the pool for nothing", "[training][MEM-9]") {
  const Late device{1};
  nn::Network<DropoutClassifier, Late> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  const auto x = random_rows<float, 5>(device, 32);
  const auto label = random_labels(device, 32, 3);
  const auto last_x = random_rows<float, 5>(device, 11);
  const auto last_label = random_labels(device, 11, 3);
  const auto both = [&] {
    static_cast<void>(step(x, label));
    static_cast<void>(step(last_x, last_label));
  };
  both();
  const std::int64_t before = pool_allocations(device);
  for (int i = 0; i < 10; ++i) both();
  CHECK(pool_allocations(device) == before);
}
