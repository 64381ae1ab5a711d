// SPDX-License-Identifier: Apache-2.0
//
// The tiled matrix product of GPUs, run block by block on the host: every element type, transposed or strided, in batches
// with broadcast factors, beside three plain loops.

#include <tests/kernel/harness.hpp>
#include <tests/support/host_block.hpp>

#include <twill/kernel/gpu/product.hpp>

#include <catch2/catch.hpp>

using namespace kernel_test;

namespace {

/// Runs the blocks of a launch in order, as the kernel's driver would; stands for a queue of a device.
struct BlockQueue {
  twill::gpu::Properties device{};
  int* launches = nullptr;
  [[nodiscard]] const twill::gpu::Properties& properties() const { return device; }
};

template <class Body, class Parameters>
void enqueue(const BlockQueue& queue, Body body, const twill::gpu::LaunchShape& shape, const Parameters& parameters) {
  REQUIRE(shape.threads <= static_cast<unsigned>(Body::most_threads));
  const auto shared = std::make_unique<std::byte[]>(shape.shared_bytes);
  for (unsigned block = 0; block < shape.blocks; ++block)
    body(twill::test::HostBlock(static_cast<int>(block), static_cast<int>(shape.blocks),
                                static_cast<int>(shape.threads), shared.get()),
         parameters);
  if (queue.launches != nullptr) ++*queue.launches;
}

struct Case {
  std::int64_t m, n, k;
  std::int64_t a_row, a_column, b_row, b_column, c_row;
  Dims batch{};
  kernel::BatchStrides a_batch{}, b_batch{}, c_batch{};
};

/// One past the last element that strides reach.
std::int64_t room(const Dims& extents, const kernel::BatchStrides& strides, std::int64_t rows, std::int64_t row_stride,
                  std::int64_t columns, std::int64_t column_stride) {
  if (extents.elements() * rows * columns == 0) return 0;
  std::int64_t last = (rows - 1) * row_stride + (columns - 1) * column_stride;
  for (int axis = 0; axis < extents.rank; ++axis) last += (extents[axis] - 1) * strides[static_cast<std::size_t>(axis)];
  return last + 1;
}

/// The largest relative difference from plain loops in double, C = 2 A B + beta C.
template <class T> double difference(const Case& c, double beta, unsigned seed, int processors = 132) {
  std::mt19937 random{seed};
  const Memory a{dtype_of<T>, room(c.batch, c.a_batch, c.m, c.a_row, c.k, c.a_column), random};
  const Memory b{dtype_of<T>, room(c.batch, c.b_batch, c.k, c.b_row, c.n, c.b_column), random};
  const Memory to{dtype_of<T>, room(c.batch, c.c_batch, c.m, c.c_row, c.n, 1), random};
  const auto at = [](const Memory& memory, std::int64_t i) {
    return as_double(dtype_of<T>, memory.data() + static_cast<std::size_t>(i) * sizeof(T));
  };
  const auto each = [&](auto f) {
    for (std::int64_t number = 0; number < c.batch.elements(); ++number) {
      std::int64_t rest = number, offsets[3] = {0, 0, 0};
      for (int axis = c.batch.rank - 1; axis >= 0; --axis) {
        const std::int64_t index = rest % c.batch[axis];
        rest /= c.batch[axis];
        offsets[0] += index * c.a_batch[static_cast<std::size_t>(axis)];
        offsets[1] += index * c.b_batch[static_cast<std::size_t>(axis)];
        offsets[2] += index * c.c_batch[static_cast<std::size_t>(axis)];
      }
      for (std::int64_t i = 0; i < c.m; ++i)
        for (std::int64_t j = 0; j < c.n; ++j) f(offsets[0], offsets[1], i, j, offsets[2] + i * c.c_row + j);
    }
  };
  std::vector<double> expected;
  each([&](std::int64_t from_a, std::int64_t from_b, std::int64_t i, std::int64_t j, std::int64_t place) {
    double sum = 0;
    for (std::int64_t p = 0; p < c.k; ++p)
      sum += at(a, from_a + i * c.a_row + p * c.a_column) * at(b, from_b + p * c.b_row + j * c.b_column);
    expected.push_back(2 * sum + (beta != 0 ? beta * at(to, place) : 0));
  });
  kernel::ProductStack<T> stack{.batch = c.batch, .m = c.m, .n = c.n, .k = c.k};
  stack.a = {reinterpret_cast<const T*>(a.data()), c.a_row, c.a_column, c.a_batch};
  stack.b = {reinterpret_cast<const T*>(b.data()), c.b_row, c.b_column, c.b_batch};
  stack.c = reinterpret_cast<T*>(to.data());
  stack.c_row_stride = c.c_row;
  stack.c_batch = c.c_batch;
  BlockQueue queue{};
  queue.device.processors = processors;
  using C = kernel::compute_t<T>;
  kernel::gpu::tiled_products(queue, stack, C{2}, static_cast<C>(beta));
  double worst = 0;
  std::size_t next = 0;
  each([&](std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t place) {
    const double e = expected[next++];
    worst = std::max(worst, std::abs(at(to, place) - e) / std::max(1.0, std::abs(e)));
  });
  return worst;
}

Case plain(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case c{m, n, k, ta ? 1 : k + 2, ta ? m + 2 : 1, tb ? 1 : n + 1, tb ? k + 1 : 1, n + 3};
  return c;
}

template <class T> void check_all(double tolerance) {
  const std::int64_t shapes[][3] = {{1, 1, 1}, {4, 8, 2},    {1, 10, 16}, {3, 17, 5},    {17, 1, 33}, {0, 3, 2},
                                    {2, 3, 0}, {16, 16, 16}, {67, 35, 9}, {129, 65, 17}, {64, 64, 32}};
  unsigned seed = 1;
  for (const auto& [m, n, k] : shapes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const int processors : {1, 132}) { // few fill one processor with wide tiles
          const double beta = (ta == tb) ? 0.0 : 1.0;
          CAPTURE(m, n, k, ta, tb, beta, processors);
          CHECK(difference<T>(plain(ta, tb, m, n, k), beta, ++seed, processors) <= tolerance);
        }
}

} // namespace

TEST_CASE("tiled products of floats equal plain loops", "[kernel]") {
  check_all<float>(1e-5);
  check_all<double>(1e-13);
}

TEST_CASE("tiled products of 16-bit floats are summed in float and of integers in their own type", "[kernel]") {
  check_all<half>(2e-3);
  check_all<bfloat16>(1e-2);
  check_all<std::int32_t>(0);
  check_all<std::int64_t>(0);
}

TEST_CASE("tiled products of truth values are any of all", "[kernel]") {
  const bool a[] = {true, false, false, false, true, true};
  const bool b[] = {false, true, true, false, false, false}; // 3 x 2
  bool c[4] = {};
  kernel::ProductStack<bool> stack{.m = 2, .n = 2, .k = 3};
  stack.a = {a, 3, 1, {}};
  stack.b = {b, 2, 1, {}};
  stack.c = c;
  stack.c_row_stride = 2;
  kernel::gpu::tiled_products(BlockQueue{}, stack, true, false);
  CHECK_FALSE(c[0]);
  CHECK(c[1]);
  CHECK(c[2]);
  CHECK_FALSE(c[3]);
}

TEST_CASE("tiled products take any strides: both apart, broadcast rows, overlapping windows", "[kernel]") {
  Case apart{19, 23, 29, 90, 3, 50, 2, 23};
  CHECK(difference<float>(apart, 0, 11) <= 1e-5);
  Case broadcast{19, 23, 29, 0, 1, 23, 1, 23};
  CHECK(difference<float>(broadcast, 0, 12) <= 1e-5);
  Case windows{40, 5, 7, 1, 1, 5, 1, 5}; // rows of A overlap, as those of a convolution do
  CHECK(difference<float>(windows, 0, 13) <= 1e-5);
}

TEST_CASE("tiled products walk batches of any rank with broadcast factors", "[kernel]") {
  Case c{5, 18, 7, 7, 1, 18, 1, 18};
  c.batch = Dims(2, 3, 2);
  c.a_batch = {35 * 2, 0, 35};
  c.b_batch = {0, 7 * 18, 0};
  c.c_batch = {3 * 2 * 90, 2 * 90, 90};
  CHECK(difference<float>(c, 1.0, 21) <= 1e-5);
  CHECK(difference<float>(c, 0.0, 22, 1) <= 1e-5);
  c.batch = Dims(2, 0, 2);
  CHECK(difference<float>(c, 0.0, 23) == 0);
}

TEST_CASE("a product of nothing launches nothing", "[kernel]") {
  int launches = 0;
  BlockQueue queue{{}, &launches};
  kernel::ProductStack<float> stack{.m = 0, .n = 4, .k = 3};
  kernel::gpu::tiled_products(queue, stack, 1.0F, 0.0F);
  CHECK(launches == 0);
}

TEST_CASE("axes of a batch that step together are walked as one", "[kernel]") {
  kernel::ProductStack<float> stack{.batch = Dims(4, 1, 3, 5), .m = 2, .n = 2, .k = 2};
  stack.a.batch = {60, 999, 20, 4};
  stack.b.batch = {0, 7, 0, 0};
  stack.c_batch = {60, 1, 20, 4};
  const kernel::gpu::BatchWalk walk = kernel::gpu::walk_batch(stack);
  REQUIRE(walk.rank == 1);
  CHECK(walk.inner() == 60);
  CHECK(walk.a[0] == 4);
  CHECK(walk.b[0] == 0);

  stack.b.batch = {0, 7, 4, 0}; // the second factor differs along the middle only
  const kernel::gpu::BatchWalk apart = kernel::gpu::walk_batch(stack);
  CHECK(apart.rank == 3);
  CHECK(apart.count() == 60);
  const auto offsets = kernel::gpu::offsets_of(apart, 2 * 15 + 1 * 5 + 3);
  CHECK(offsets.a == 2 * 60 + 20 + 3 * 4);
  CHECK(offsets.b == 4);

  stack.batch = Dims{};
  CHECK(kernel::gpu::walk_batch(stack).count() == 1);
}

TEST_CASE("few rows, and few tiles, take narrow tiles", "[kernel]") {
  using kernel::gpu::choose_tile;
  using enum kernel::gpu::ProductTile;
  STATIC_REQUIRE(choose_tile(4, 4096, 1, 132) == narrow);
  STATIC_REQUIRE(choose_tile(4096, 10, 1, 132) == narrow);
  STATIC_REQUIRE(choose_tile(128, 128, 1, 132) == narrow);
  STATIC_REQUIRE(choose_tile(128, 128, 64, 132) == wide);
  STATIC_REQUIRE(choose_tile(1024, 1024, 1, 132) == wide);
}
