// SPDX-License-Identifier: Apache-2.0
//
// Reservations of working memory take what runs take: in each thread, in each slot of working memory, as many bytes, and write
// nothing. So a run after one asks for none.

#include "tests/kernel/harness.hpp"

#include <twill/device/cpu/affinity.hpp>
#include <twill/kernel/convolution.hpp>
#include <twill/kernel/interpolation.hpp>
#include <twill/kernel/places.hpp>
#include <twill/kernel/pooling.hpp>
#include <twill/kernel/product.hpp>
#include <twill/kernel/scan.hpp>
#include <twill/kernel/scratch.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

using namespace kernel_test;

namespace {

constexpr int threads = 3;

/// The bytes of each slot of each rank.
using Held = std::array<std::array<std::size_t, 4>, threads>;

/// What the threads of a new team hold when `f(team)` has run in a new thread, which is their rank 0.
template <class F> Held held_after(const F& f) {
  Held held{};
  std::thread([&] {
    static std::vector<twill::detail::ForkJoin*> teams; // never destroyed, as those of devices
    const int core = twill::detail::cores_of_process().front();
    teams.push_back(new twill::detail::ForkJoin{{core, core, core}, "reservation"});
    const Team team{*teams.back()};
    f(team);
    team.parallel([&](int rank, int) {
      held[static_cast<std::size_t>(rank)] = {Scratch::capacity_of_thread<0>(), Scratch::capacity_of_thread<1>(),
                                              Scratch::capacity_of_thread<2>(), Scratch::capacity_of_thread<3>()};
    });
  }).join();
  return held;
}

/// `run(team)` writes `result`. Returns what `reserve(team)` takes.
template <class Result, class Reserve, class Run>
Held check(const std::vector<Result>& result, const Reserve& reserve, const Run& run) {
  const std::vector<Result> before = result;
  const Held reserved = held_after(reserve);
  CHECK(std::memcmp(before.data(), result.data(), before.size() * sizeof(Result)) == 0);
  const Held both = held_after([&](const Team& team) {
    reserve(team);
    run(team);
  });
  CHECK(both == reserved);
  Held more = reserved; // a run without reservation takes some more, for larger ones to come
  for (auto& rank : more)
    for (std::size_t& bytes : rank) bytes += std::min(bytes / 2, Scratch::most_spare_bytes);
  CHECK(held_after(run) == more);
  return reserved;
}

using Softmax =
    Program<Along<float>, Reduce<Reduction::max, 0>, Step<Primitive::subtract, 0, 1>, Step<Primitive::exp, 2>,
            Reduce<Reduction::sum, 3>, Step<Primitive::divide, 3, 4>, Out<float, 5>>;
using Sums = Program<Along<float>, ReduceColumns<Reduction::sum, 0>, Out<float, 1>>;

/// `P` writes `result` on a grid of rows.
template <class P> Held check_program(std::vector<float>& result, const Grid& grid, std::span<const Operand> operands) {
  return check(
      result, [&](const Team& team) { reserve_table(table_of<P>, AnyTeam{team}, grid, operands.data()); },
      [&](const Team& team) { run(P{}, team, grid, operands.data()); });
}

Held check_rows(std::int64_t rows, std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(rows * n), 0.5F);
  std::vector<float> y(x.size());
  const Operand operands[] = {{x.data(), 0, {n, 1}}, {y.data(), 0, {n, 1}}};
  INFO(rows << " rows of " << n);
  return check_program<Softmax>(y, Dims(rows, n), operands);
}

Held check_columns(std::int64_t rows, std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(rows * n), 0.5F);
  std::vector<float> y(static_cast<std::size_t>(n));
  const Operand operands[] = {{x.data(), 0, {n, 1}}, {y.data(), 0, {0, 1}}};
  INFO(rows << " rows of " << n << " columns");
  return check_program<Sums>(y, Dims(rows, n), operands);
}

template <class T> void check_convolution(ConvolutionShape shape) {
  shape.output = {shape.input[0] - 2, shape.input[1] - 2};
  for (const ConvolutionPart part :
       {ConvolutionPart::output, ConvolutionPart::input_gradient, ConvolutionPart::weight_gradient}) {
    std::vector<T> x(static_cast<std::size_t>(shape.x_elements()));
    std::vector<T> w(static_cast<std::size_t>(shape.w_elements()));
    std::vector<T> y(static_cast<std::size_t>(shape.y_elements()));
    INFO(name(dtype_of<T>) << ", " << shape.batch << " images, part " << static_cast<int>(part));
    const kernel::Convolution<T> convolution{part, shape, x.data(), w.data(), y.data()};
    check(
        part == ConvolutionPart::output           ? y
        : part == ConvolutionPart::input_gradient ? x
                                                  : w,
        [&](const Team& team) { reserve_convolution(team, convolution); },
        [&](const Team& team) { run_convolution(team, convolution); });
  }
}

template <class T> Held check_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::vector<T> a(static_cast<std::size_t>(m * k));
  const std::vector<T> b(static_cast<std::size_t>(k * n));
  std::vector<T> c(static_cast<std::size_t>(m * n));
  INFO(name(dtype_of<T>) << ", " << m << " x " << n << " x " << k);
  return check(
      c, [&](const Team& team) { kernel::reserve_product<T>(team, false, true, m, n, k, k, k, n); },
      [&](const Team& team) {
        kernel::product<T>(team, false, true, m, n, k, 1, a.data(), k, b.data(), k, 0, c.data(), n);
      });
}

} // namespace

TEST_CASE("reservations of rows and columns take what runs take", "[kernel][MEM-6]") {
  check_rows(3, 40);
  check_rows(5000, 100);
  check_rows(64, 70'000);
  const Held long_rows = check_rows(2, 700'000); // each of which the team shares: one thread holds what they share
  CHECK(long_rows[0][0] > 0);
  CHECK(long_rows[1][0] + long_rows[2][0] == 0);
  check_columns(20, 3);
  check_columns(300, 5000);
  check_columns(2'000'000, 2);
}

TEST_CASE("reservations of convolutions and products take what runs take", "[kernel][MEM-6]") {
  for (const std::int64_t batch : {1, 7}) {
    check_convolution<float>(
        {.batch = batch, .in_channels = 8, .out_channels = 16, .input = {20, 20}, .kernel = {3, 3}});
    check_convolution<double>(
        {.batch = batch, .in_channels = 8, .out_channels = 16, .input = {20, 20}, .kernel = {3, 3}});
  }
  check_convolution<bfloat16>({.batch = 7, .in_channels = 8, .out_channels = 16, .input = {20, 20}, .kernel = {3, 3}});
  check_convolution<half>({.batch = 7, .in_channels = 8, .out_channels = 16, .input = {20, 20}, .kernel = {3, 3}});
  CHECK(check_product<float>(100, 100, 100) == Held{});
  CHECK(check_product<half>(100, 100, 100)[0][ScratchSlot::widened] == 3 * 100 * 100 * sizeof(float));
  check_product<bfloat16>(100, 100, 100);
}

TEST_CASE("reservations of sorts, scans, pooling and interpolation take what runs take", "[kernel][MEM-6]") {
  std::vector<float> x(200'000, 0.5F);
  std::vector<float> y(x.size());
  std::vector<std::int64_t> places(x.size());
  const PlaceRows rows{.outer = 40, .length = 5000, .inner = 1, .count = 5000};
  check(
      places, [&](const Team& team) { reserve_places(team, rows); },
      [&](const Team& team) { order_places(team, x.data(), places.data(), rows); });
  for (const ScanShape& shape : {ScanShape{1, 200'000, 1}, ScanShape{4, 500, 100}}) {
    const Scan<Running<Reduction::sum>, float> scan{x.data(), y.data(), shape};
    check(
        y, [&](const Team& team) { scan.reserve(team); }, [&](const Team& team) { scan.run(team); });
  }
  std::vector<bfloat16> image(5 * 60 * 60 * 4);
  const std::vector<bfloat16> windows(5 * 30 * 30 * 4);
  const Pooling<bfloat16> pooling{
      PoolingPart::average_gradient,
      {.batch = 5, .channels = 4, .input = {60, 60}, .output = {30, 30}, .window = {2, 2}, .stride = {2, 2}},
      nullptr,
      image.data(),
      const_cast<bfloat16*>(windows.data())};
  check(
      image, [&](const Team& team) { reserve_pooling<bfloat16>(team, pooling.shape); },
      [&](const Team& team) { run_pooling(team, pooling); });
  const Interpolating<bfloat16> interpolating{true,
                                              {.batch = 5, .channels = 4, .input = {60, 60}, .output = {30, 30}},
                                              image.data(),
                                              const_cast<bfloat16*>(windows.data())};
  check(
      image, [&](const Team& team) { reserve_interpolation<bfloat16>(team, interpolating.shape); },
      [&](const Team& team) { run_interpolation(team, interpolating); });
}
