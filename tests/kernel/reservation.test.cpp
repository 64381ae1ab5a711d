// SPDX-License-Identifier: Apache-2.0
//
// A reservation takes what the run takes: in each thread, in each slot of working memory, as many bytes, and writes nothing. So a
// run behind it asks for none.

#include "tests/kernel/harness.hpp"

#include <twill/device/cpu/cores.hpp>
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
    const int core = twill::cpu::cores_of_process().front();
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

/// `run(team)` writes `result`. Returns what a reservation of it takes.
template <class Result, class F> Held check(const std::vector<Result>& result, const F& run) {
  const std::vector<Result> before = result;
  const auto reserve = [&](const Team& team) {
    const Reservation reservation{};
    run(team);
  };
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

Held check_rows(std::int64_t rows, std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(rows * n), 0.5F);
  std::vector<float> y(x.size());
  const Operand operands[] = {{x.data(), 0, {n, 1}}, {y.data(), 0, {n, 1}}};
  INFO(rows << " rows of " << n);
  return check(y, [&](const Team& team) { run(Softmax{}, team, Dims(rows, n), operands); });
}

Held check_columns(std::int64_t rows, std::int64_t n) {
  std::vector<float> x(static_cast<std::size_t>(rows * n), 0.5F);
  std::vector<float> y(static_cast<std::size_t>(n));
  const Operand operands[] = {{x.data(), 0, {n, 1}}, {y.data(), 0, {0, 1}}};
  INFO(rows << " rows of " << n << " columns");
  return check(y, [&](const Team& team) { run(Sums{}, team, Dims(rows, n), operands); });
}

template <class T> void check_convolution(ConvolutionShape shape) {
  shape.output = {shape.input[0] - 2, shape.input[1] - 2};
  for (const ConvolutionPart part :
       {ConvolutionPart::output, ConvolutionPart::input_gradient, ConvolutionPart::weight_gradient}) {
    std::vector<T> x(static_cast<std::size_t>(shape.x_elements()));
    std::vector<T> w(static_cast<std::size_t>(shape.w_elements()));
    std::vector<T> y(static_cast<std::size_t>(shape.y_elements()));
    INFO(name(dtype_of<T>) << ", " << shape.batch << " images, part " << static_cast<int>(part));
    check(part == ConvolutionPart::output           ? y
          : part == ConvolutionPart::input_gradient ? x
                                                    : w,
          [&](const Team& team) {
            run_convolution(team, kernel::Convolution<T>{part, shape, x.data(), w.data(), y.data()});
          });
  }
}

template <class T> Held check_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::vector<T> a(static_cast<std::size_t>(m * k));
  const std::vector<T> b(static_cast<std::size_t>(k * n));
  std::vector<T> c(static_cast<std::size_t>(m * n));
  INFO(name(dtype_of<T>) << ", " << m << " x " << n << " x " << k);
  return check(c, [&](const Team& team) {
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
  check(places, [&](const Team& team) {
    order_places(team, x.data(), places.data(), PlaceRows{.outer = 40, .length = 5000, .inner = 1, .count = 5000});
  });
  check(y, [&](const Team& team) {
    scan<Running<Reduction::sum>>(team, x.data(), y.data(), ScanShape{1, 200'000, 1});
  });
  check(y, [&](const Team& team) { scan<Running<Reduction::sum>>(team, x.data(), y.data(), ScanShape{4, 500, 100}); });
  std::vector<bfloat16> image(5 * 60 * 60 * 4);
  const std::vector<bfloat16> windows(5 * 30 * 30 * 4);
  check(image, [&](const Team& team) {
    run_pooling(
        team,
        Pooling<bfloat16>{
            PoolingPart::average_gradient,
            {.batch = 5, .channels = 4, .input = {60, 60}, .output = {30, 30}, .window = {2, 2}, .stride = {2, 2}},
            nullptr,
            image.data(),
            const_cast<bfloat16*>(windows.data())});
  });
  check(image, [&](const Team& team) {
    run_interpolation(team, Interpolating<bfloat16>{true,
                                                    {.batch = 5, .channels = 4, .input = {60, 60}, .output = {30, 30}},
                                                    image.data(),
                                                    const_cast<bfloat16*>(windows.data())});
  });
}
