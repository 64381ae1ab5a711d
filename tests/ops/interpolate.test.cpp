// SPDX-License-Identifier: Apache-2.0
//
// Interpolation beside PyTorch for sizes and scales, up and down; derivatives beside finite differences; the kernel of GPUs
// beside that of hosts; compiled programs.

#include "tests/support/golden_images.hpp"
#include "tests/support/host_blocks.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/function.hpp>
#include <twill/kernel/gpu/interpolation.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::AlignCorners;
using graph::InterpolateOptions;
using graph::Interpolation;
using graph::Value;

namespace {

void know_interpolation() {
  know<&graph::interpolation_operation>();
  know<&graph::interpolation_gradient_operation>();
}

} // namespace

TEST_CASE("interpolation and its gradients are those of PyTorch", "[ops][interpolate]") {
  know_interpolation();
  Numbers numbers{"interpolation/cases"};
  int cases = 0;
  for (; numbers.any(); ++cases) {
    InterpolateOptions options{};
    options.mode = numbers.integer() != 0 ? Interpolation::linear : Interpolation::nearest;
    options.align_corners = numbers.integer() != 0 ? AlignCorners::yes : AlignCorners::no;
    options.size = numbers.sides();
    options.scale_height = numbers.number();
    options.scale_width = numbers.number();
    const std::vector<Array> inputs{numbers.array(), numbers.array()};
    graph::Graph graph{DType::float64};
    const Value x{graph, graph.add_input(DType::float64, graph::extents_of(inputs[0].shape))};
    const Value g{graph, graph.add_input(DType::float64, graph::extents_of(inputs[1].shape))};
    const Value y = interpolate(x, options);
    graph.outputs.push_back(y.id());
    graph.outputs.push_back(graph::gradient(sum(y * g), x).id());
    INFO("case " << cases);
    for (const Array& output : evaluate_both(graph, inputs)) require_near(output, numbers.array());
  }
  CHECK(cases == 21);
}

TEST_CASE("first and second derivatives of interpolation agree with finite differences", "[ops][interpolate]") {
  know_interpolation();
  const std::array<Dims, 1> image{Dims(2, 2, 3, 4)};
  check_function("nearest", image, [](Value x) { return square(interpolate(x, {.size = {5, 2}})); });
  check_function("bilinear", image, [](Value x) {
    return square(interpolate(x, {.size = {2, 7}, .mode = Interpolation::linear}));
  });
  check_function("bilinear from corner to corner", image, [](Value x) {
    return square(interpolate(x, {.size = {5, 3}, .mode = Interpolation::linear, .align_corners = AlignCorners::yes}));
  });
  check_function("one element", std::array{Dims(1, 1, 1)},
                 [](Value x) { return square(interpolate(x, {.size = 3, .mode = Interpolation::linear})); });
}

TEST_CASE("the kernel of GPUs interpolates as that of hosts does", "[kernel][interpolate]") {
  static std::mt19937 random{test_seed()};
  const auto check = [&]<class T>(T, const kernel::InterpolationShape& shape, bool is_gradient) {
    const auto draw = [&](std::int64_t count) {
      std::vector<T> values{};
      for (std::int64_t i = 0; i < count; ++i) values.push_back(T(static_cast<float>(random() % 7)));
      return values;
    };
    const auto in = draw(shape.in_elements());
    const auto out = draw(shape.out_elements());
    std::vector<T> ins[2]{in, in};
    std::vector<T> outs[2]{out, out};
    run_interpolation(Team::serial(), kernel::Interpolating<T>{is_gradient, shape, ins[0].data(), outs[0].data()});
    enqueue(Team::serial(), kernel::gpu::InterpolationBody<T>{},
            kernel::gpu::one_thread_each(is_gradient ? shape.in_elements() : shape.out_elements()),
            kernel::gpu::InterpolationParameters<T>{{is_gradient, shape, ins[1].data(), outs[1].data()}});
    const auto differ = [](const std::vector<T>& a, const std::vector<T>& b) {
      std::size_t count = 0; // sums have another order
      for (std::size_t i = 0; i < a.size(); ++i)
        count += std::abs(static_cast<float>(a[i]) - static_cast<float>(b[i])) > 1e-3F * (1 + static_cast<float>(b[i]));
      return count;
    };
    CHECK(differ(ins[1], ins[0]) == 0);
    CHECK(differ(outs[1], outs[0]) == 0);
  };
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::linear})
    for (const bool align : {false, true})
      for (const bool is_gradient : {false, true}) {
        if (align && mode == Interpolation::nearest) continue;
        check(0.0F,
              {.batch = 3, .channels = 5, .input = {7, 11}, .output = {13, 6}, .mode = mode, .align_corners = align},
              is_gradient);
        check(half{},
              {.batch = 1, .channels = 3, .input = {9, 1}, .output = {4, 5}, .mode = mode, .align_corners = align},
              is_gradient);
      }
}

TEST_CASE("compiled interpolation runs in every floating type and on no images", "[ops][interpolate]") {
  const auto larger = [](auto x) { return interpolate(x, {.size = {6, 5}, .mode = Interpolation::linear}); };
  CHECK(compiled(larger)(full<float, Shape<2, 3, 2, 2>>(2.0F)).shape() == Dims(2, 3, 6, 5));
  CHECK(compiled(larger)(full<half, Shape<2, 3, 2, 2>>(half(2.0F))).data()[7] == half(2.0F));
  CHECK(compiled(larger)(full<double, Shape<2, 3, 2, 2>>(2.0)).data()[11] == Approx(2.0));
  CHECK(compiled(larger)(ones<float, Shape<dyn, 3, 2, 2>>(Dims(0, 3, 2, 2))).shape() == Dims(0, 3, 6, 5));
}
