// SPDX-License-Identifier: Apache-2.0
//
// Sampling of images at places and its gradients by the kernels of hosts and by the kernel bodies of GPUs, against
// loops over all pixels; threads of a host leave its bits as they are.

#include "tests/support/host_blocks.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/core/half.hpp>
#include <twill/device/cpu/cores.hpp>
#include <twill/kernel/gpu/grid_sampling.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

using namespace twill;
using kernel::GridSampling;

namespace {

std::mt19937 random_numbers{twill::test::test_seed()};

template <class T> std::vector<T> drawn(std::int64_t count) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<float>(random_numbers() % 17) - 8.0F));
  return values;
}

/// The share of a pixel along an axis at a place, or its slope: a hat of width 2, or a box.
double share_of(const GridSampling& s, double place, std::int64_t pixel, bool is_slope) {
  const double distance = place - static_cast<double>(pixel);
  if (!s.is_linear) return std::nearbyint(place) == static_cast<double>(pixel) ? 1 : 0;
  if (std::fabs(distance) >= 1) return 0;
  return !is_slope ? 1 - std::fabs(distance) : distance < 0 ? 1 : -1;
}

/// The share of pixel i at place p of an image.
template <class C>
double share_of(const GridSampling& s, const C* places, std::int64_t p, std::int64_t i, unsigned differentiated) {
  double share = 1;
  for (int axis = 0; axis < s.axes; ++axis) {
    const bool is_slope = (differentiated >> axis & 1) != 0;
    share *= share_of(s, static_cast<double>(places[p * s.axes + axis]), i % s.extents[axis], is_slope);
    i /= s.extents[axis];
  }
  return share;
}

template <class T> void check(const GridSampling& s, double tolerance) {
  using C = compute_t<T>;
  const std::int64_t pixels = s.pixels(), planes = s.batch * s.channels;
  const std::vector<T> x = drawn<T>(planes * pixels), u = drawn<T>(planes * s.points);
  std::vector<C> places;
  for (std::int64_t i = 0; i < s.batch * s.points * s.axes; ++i) { // no place is a pixel
    const auto extent = static_cast<unsigned>(s.extents[i % s.axes]);
    places.push_back(static_cast<C>(random_numbers() % ((extent + 3) * 16)) / 16 + C{1} / 32 - 2);
  }
  std::vector<double> y(u.size()), sums(x.size()), slopes(places.size());
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t p = 0; p < s.points; ++p)
      for (std::int64_t i = 0; i < pixels; ++i) {
        const std::int64_t image = plane / s.channels;
        const C* const here = places.data() + image * s.points * s.axes;
        const auto at = static_cast<std::size_t>(plane * s.points + p),
                   pixel = static_cast<std::size_t>(plane * pixels + i);
        const double value = static_cast<double>(x[pixel]), weight = static_cast<double>(u[at]);
        const double share = share_of(s, here, p, i, s.differentiated);
        y[at] += share * value;
        sums[pixel] += share * weight;
        for (int axis = 0; axis < s.axes && s.is_linear; ++axis)
          if ((s.differentiated >> axis & 1) == 0)
            slopes[static_cast<std::size_t>((image * s.points + p) * s.axes + axis)] +=
                weight * value * share_of(s, here, p, i, s.differentiated | 1u << axis);
      }
  const auto near = [&](const auto& got, const std::vector<double>& expected) {
    REQUIRE(got.size() == expected.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      wrong += std::fabs(static_cast<double>(got[i]) - expected[i]) > tolerance * (8 + std::fabs(expected[i]));
    CHECK(wrong == 0);
  };
  std::vector<T> found_y(u.size());
  std::vector<C> found_sums(x.size(), C{77}), found_slopes(places.size());
  sample_grid(Team::serial(), s, x.data(), places.data(), found_y.data());
  add_to_grid(Team::serial(), s, u.data(), places.data(), found_sums.data());
  grid_slopes(Team::serial(), s, u.data(), x.data(), places.data(), found_slopes.data());
  near(found_y, y);
  near(found_sums, sums);
  near(found_slopes, slopes);

  std::vector<T> shared_y(u.size());
  std::vector<C> shared_sums(x.size()), shared_slopes(places.size());
  std::thread([&] {                                                  // rank 0 of a team
    static auto& teams = *new std::vector<twill::detail::ForkJoin*>; // never destroyed, as those of devices
    const int core = twill::cpu::cores_of_process().front();
    teams.push_back(new twill::detail::ForkJoin{{core, core, core}, "grid sampling"});
    const Team team{*teams.back()};
    sample_grid(team, s, x.data(), places.data(), shared_y.data());
    add_to_grid(team, s, u.data(), places.data(), shared_sums.data());
    grid_slopes(team, s, u.data(), x.data(), places.data(), shared_slopes.data());
  })
      .join();
  CHECK(std::equal(found_y.begin(), found_y.end(), shared_y.begin(), [](T a, T b) { return a == b; }));
  CHECK(found_sums == shared_sums);
  CHECK(found_slopes == shared_slopes);

  namespace gpu = kernel::gpu;
  const gpu::GridParameters<T> sampling{.sampling = s,
                                        .x = x.data(),
                                        .places = places.data(),
                                        .y = found_y.data(),
                                        .indices = {s.batch, s.channels, s.points}};
  enqueue(Team::serial(), gpu::SampleGrid<T>{}, gpu::one_thread_each(planes * s.points), sampling);
  near(found_y, y);
  const gpu::GridParameters<T> slope{.sampling = s,
                                     .u = u.data(),
                                     .x = x.data(),
                                     .places = places.data(),
                                     .to = found_slopes.data(),
                                     .indices = {s.batch, s.points, s.axes}};
  enqueue(Team::serial(), gpu::GridSlopes<T>{}, gpu::one_thread_each(s.batch * s.points * s.axes), slope);
  near(found_slopes, slopes);
  std::ranges::fill(found_sums, C{});
  const std::int64_t entries = s.batch * s.points * s.neighbours();
  const std::int64_t half = entries / 2 + 1;
  for (const std::int64_t first : {std::int64_t{0}, half}) { // as a stream with little memory does
    const std::int64_t count = std::min(half, entries - first);
    if (count <= 0) continue;
    std::vector<std::uint64_t> keys(static_cast<std::size_t>(count));
    std::vector<std::uint32_t> order(keys.size());
    gpu::GridEntries<T> part{.first = first, .count = count, .keys = keys.data(), .order = order.data()};
    part.grid = {.sampling = s,
                 .u = u.data(),
                 .places = places.data(),
                 .to = found_sums.data(),
                 .indices = {s.batch, s.points, std::int64_t{s.neighbours()}}};
    part.indices = {1, s.channels, count};
    enqueue(Team::serial(), gpu::FindGridEntries<T>{}, gpu::one_thread_each(count), part);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    std::ranges::sort(keys);
    enqueue(Team::serial(), gpu::AddGridEntries<T>{}, gpu::one_thread_each(s.channels * count), part);
  }
  near(found_sums, sums);
}

} // namespace

TEST_CASE("hosts and GPUs sample images at places, with gradients, as loops over all pixels do",
          "[kernel][interpolate]") {
  check<float>({.batch = 2, .channels = 3, .points = 300, .extents = {7, 5, 1}}, 1e-5);
  check<float>({.batch = 3, .channels = 40, .points = 70, .extents = {9, 8, 1}}, 1e-5);
  check<float>({.extents = {1, 1, 1}}, 1e-5);
  check<half>({.batch = 2, .channels = 2, .points = 129, .extents = {3, 4, 1}}, 1e-3);
  check<double>({.batch = 1, .channels = 2, .points = 140, .axes = 3, .extents = {3, 4, 2}}, 1e-13);
  check<double>({.channels = 2, .points = 50, .axes = 3, .extents = {3, 4, 2}, .differentiated = 5}, 1e-13);
  check<double>({.channels = 2, .points = 50, .extents = {3, 4, 1}, .differentiated = 1}, 1e-13);
  check<float>({.batch = 2, .channels = 2, .points = 200, .extents = {6, 4, 1}, .is_linear = false}, 1e-6);
  check<float>({.channels = 2, .points = 200, .axes = 3, .extents = {2, 4, 3}, .is_linear = false}, 1e-6);
}
