// SPDX-License-Identifier: Apache-2.0
//
// Programs that keep parts of a row between their reductions need working memory as long as the row. It is asked for once:
// rows of any length that were seen before ask nobody, neither the heap, whose allocations this program counts, nor the pool.

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

using namespace twill;

namespace {

std::atomic<std::int64_t> heap_allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  if (void* memory = std::aligned_alloc(alignment, whole > 0 ? whole : alignment)) return memory;
  throw std::bad_alloc{};
}

} // namespace

// All forms, because sanitizers bring forms of their own; not inlined, because g++ takes the visible malloc for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  heap_allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept { return operator new(bytes, tag); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { operator delete(memory); }

namespace {

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

/// Softmax keeps the exponentials of a row for its second look at them.
void soften(Matrix& y, const Matrix& x) {
  y = exp(x - max<1>(x, keepdims)) / sum<1>(exp(x - max<1>(x, keepdims)), keepdims);
}

Matrix matrix(std::int64_t rows, std::int64_t columns) {
  return full<float, Shape<dyn, dyn>>(Dims(rows, columns), 0.5F);
}

std::int64_t pool_allocations() { return memory_stats(Cpu{0}).all.allocation.allocated; }

} // namespace

TEST_CASE("working memory grows with the longest row", "[expr][MEM-9]") {
  const Matrix x = matrix(2, 1'000'000);
  Matrix y = matrix(2, 1'000'000);
  soften(y, x);
  const std::int64_t before = heap_allocations.load();
  const Matrix longer = matrix(1, 3'000'000);
  Matrix result = matrix(1, 3'000'000);
  soften(result, longer);
  CHECK(heap_allocations.load() > before); // otherwise the other test proves nothing
  CHECK(result(0, 17).item() == Approx(1 / 3e6));
}

TEST_CASE("rows as long as any before them ask nobody for working memory", "[expr][MEM-9]") {
  struct Case {
    Matrix x, y;
  };
  Case cases[] = {{matrix(3, 5), matrix(3, 5)},
                  {matrix(7, 70'001), matrix(7, 70'001)},
                  {matrix(1, 2'500'000), matrix(1, 2'500'000)},
                  {matrix(200, 1003), matrix(200, 1003)}};
  const auto soften_all = [&] {
    for (Case& one : cases) soften(one.y, one.x);
  };
  for (int i = 0; i < 2; ++i) soften_all();
  const std::int64_t heap_before = heap_allocations.load();
  const std::int64_t pool_before = pool_allocations();
  for (int i = 0; i < 5; ++i) soften_all();
  const std::int64_t heap_after = heap_allocations.load();
  CHECK(heap_after == heap_before);
  CHECK(pool_allocations() == pool_before);
  for (const Case& one : cases) CHECK(one.y(0, 1).item() == Approx(1.0 / static_cast<double>(one.x.size(1))));
}
