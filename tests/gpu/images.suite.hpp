#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compiled functions of images and their gradients, convolved, pooled, resized and sampled: a GPU beside a host.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/device/gpu/library_options.hpp>
#include <twill/kernel/gpu/convolution.hpp>
#include <twill/kernel/gpu/grid_sampling.hpp>
#include <twill/kernel/gpu/interpolation.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/pooling.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/transposed_convolution.hpp>
#include <twill/tensor/random.hpp>

namespace images_suite { namespace {

using namespace twill;
using graph::Value;
using test::Case;
using test::require_near;
using test::TestedDevice;

constexpr auto convolved = [](Value x, Value w) {
  const Value y = maximum(conv2d(x, w, {.stride = 2, .padding = 1, .groups = 2}), 0);
  return conv_transpose2d(y, w, {.stride = {2, 1}, .groups = 2});
};
constexpr auto convolved_sum = [](Value x, Value w) { return sum(square(convolved(x, w))); };

constexpr auto pooled = [](Value x) {
  const Value y = max_pool2d(x, {.window = 3, .stride = 2, .padding = 1});
  return interpolate(avg_pool2d(y, {.window = 2, .stride = 1}), {.size = {5, 6}, .mode = graph::Interpolation::linear});
};
constexpr auto pooled_sum = [](Value x) { return sum(square(pooled(x))); };

/// Of two groups. Few channels in each: threads compute single elements; more: blocks compute tiles.
template <std::int64_t Channels> void convolutions_agree_of() {
  // of one sign, so that sums in another order do not cancel
  const auto x = rand<float, Shape<3, Channels, 7, 6>>(Cpu{0});
  const auto w = rand<float, Shape<Channels, Channels / 2, 3, 3>>(Cpu{0});
  const auto there = x.to(TestedDevice{0});
  const auto weights = w.to(TestedDevice{0});
  set_library_options({.allows_tf32_in_convolutions = false});
  require_near(compiled(convolved)(there, weights), compiled(convolved)(x, w), 1e-5);
  const auto expected = grad(convolved_sum)(x, w);
  const auto got = grad(convolved_sum)(there, weights);
  require_near(std::get<0>(got), std::get<0>(expected), 1e-4);
  require_near(std::get<1>(got), std::get<1>(expected), 1e-4);
  set_library_options({});
}

void convolutions_agree() {
  convolutions_agree_of<4>();
  convolutions_agree_of<38>();
}

void pooling_agrees() {
  const auto x = randn<float, Shape<3, 5, 9, 8>>(Cpu{0});
  const auto there = x.to(TestedDevice{0});
  require_near(compiled(pooled)(there), compiled(pooled)(x), 1e-6);
  require_near(grad(pooled_sum)(there), grad(pooled_sum)(x), 1e-5);
}

constexpr auto sampled = [](Value x, Value grid) {
  return grid_sample(x, grid, {.padding = graph::GridPadding::border});
};
constexpr auto sampled_sum = [](Value x, Value grid) { return sum(square(sampled(x, grid))); };

void sampling_agrees() {
  // in float64: gradients by places are small differences of large terms
  const auto x = rand<double, Shape<3, 5, 9, 8>>(Cpu{0});
  const Tensor<double, Cpu, Shape<3, 40, 9, 2>> grid = rand<double, Shape<3, 40, 9, 2>>(Cpu{0}) * 2.4 - 1.2;
  const auto there = x.to(TestedDevice{0});
  const auto places = grid.to(TestedDevice{0});
  require_near(compiled(sampled)(there, places), compiled(sampled)(x, grid), 1e-12);
  const auto expected = grad(sampled_sum)(x, grid);
  const auto got = grad(sampled_sum)(there, places);
  require_near(std::get<0>(got), std::get<0>(expected), 1e-10);
  require_near(std::get<1>(got), std::get<1>(expected), 1e-10);
}

const Case convolutions_case{"convolutions, their transposes and gradients are near the host's", &convolutions_agree};
const Case pooling_case{"pooled and resized images and their gradients are near the host's", &pooling_agrees};
const Case sampling_case{"images sampled at places and their gradients are near the host's", &sampling_agrees};

}} // namespace images_suite
