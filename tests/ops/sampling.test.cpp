// SPDX-License-Identifier: Apache-2.0
//
// Resampling in every mode, sampling by grids and affine grids beside PyTorch's, with gradients; refusals, and compiled
// programs. Naive loops and derivatives of both orders: tests/ops/table_of_sampling.test.cpp.

#include "tests/support/golden_gradients.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/compile/function.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/resample.hpp>
#include <twill/tensor.hpp>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::AlignCorners;
using graph::Antialias;
using graph::GridPadding;
using graph::Interpolation;
using graph::Resampling;

namespace {

template <class F> void check(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check_golden_gradients("sampling", name, inputs, 1e-12, function);
}

void check_resampled(const std::string& name, const std::string& input, const graph::ResampleOptions& options) {
  check(name, {input}, [&](const Value* x) { return graph::resample(x[0], options); });
}

} // namespace

TEST_CASE("cubic, trilinear, area, exact nearest and antialiased resampling are PyTorch's", "[ops][interpolate]") {
  constexpr AlignCorners corners = AlignCorners::yes;
  constexpr Antialias smooth = Antialias::yes;
  check_resampled("cubic_up", "image", {.size = {9, 11}, .mode = Resampling::cubic});
  check_resampled("cubic_down", "image", {.size = {3, 4}, .mode = Resampling::cubic});
  check_resampled("cubic_corners", "image", {.size = {8, 1}, .mode = Resampling::cubic, .align_corners = corners});
  check_resampled("cubic_scale", "image", {.scale = {1.7, 0.6}, .mode = Resampling::cubic});
  check_resampled("cubic_antialias", "image", {.size = {2, 9}, .mode = Resampling::cubic, .antialias = smooth});
  check_resampled("linear_antialias", "image", {.size = {2, 4}, .mode = Resampling::linear, .antialias = smooth});
  check_resampled("linear_antialias_corners", "image",
                  {.size = {2, 4}, .mode = Resampling::linear, .align_corners = corners, .antialias = smooth});
  check_resampled("trilinear", "volume", {.size = {5, 2, 7}, .mode = Resampling::linear});
  check_resampled("trilinear_corners", "volume",
                  {.size = {5, 2, 7}, .mode = Resampling::linear, .align_corners = corners});
  check_resampled("trilinear_scale", "volume", {.scale = {1.5, 1.3, 0.5}, .mode = Resampling::linear});
  check_resampled("linear", "line", {.size = 4, .mode = Resampling::linear});
  check_resampled("area_line", "line", {.size = 3, .mode = Resampling::area});
  check_resampled("area_image", "image", {.size = {2, 4}, .mode = Resampling::area});
  check_resampled("area_volume", "volume", {.size = {2, 5, 3}, .mode = Resampling::area});
  check_resampled("nearest_volume", "volume", {.size = {2, 5, 7}});
  check_resampled("nearest_exact", "image", {.size = {3, 8}, .mode = Resampling::nearest_exact});
  check_resampled("nearest_exact_scale", "image", {.scale = {0.7, 1.9}, .mode = Resampling::nearest_exact});
}

TEST_CASE("grid_sample and its gradients by images and places are PyTorch's", "[ops][gradient][interpolate]") {
  const std::pair<std::string, GridPadding> paddings[]{
      {"zeros", GridPadding::zeros}, {"border", GridPadding::border}, {"reflection", GridPadding::reflection}};
  const std::pair<std::string, Interpolation> modes[]{
      {"nearest_", Interpolation::nearest}, {"bilinear_", Interpolation::linear}, {"bicubic_", Interpolation::cubic}};
  for (const auto& [padding, kind] : paddings)
    for (const auto& [start, mode] : modes)
      for (const bool align : {false, true}) {
        const graph::GridSampleOptions options{
            .mode = mode, .padding = kind, .align_corners = align ? AlignCorners::yes : AlignCorners::no};
        const std::string name = start + padding + (align ? "_corners" : "_edges");
        const auto sampled = [&](const Value* x) { return graph::grid_sample(x[0], x[1], options); };
        check("grid_" + name, {"image", "grid"}, sampled);
        if (mode != Interpolation::cubic) check("volume_" + name, {"volume", "places"}, sampled);
      }
}

TEST_CASE("slopes at places that are pixels, and at the border, are PyTorch's", "[ops][gradient][interpolate]") {
  const std::pair<std::string, GridPadding> paddings[]{
      {"zeros", GridPadding::zeros}, {"border", GridPadding::border}, {"reflection", GridPadding::reflection}};
  for (const auto& [name, padding] : paddings)
    check("on_pixels_" + name, {"image", "on_pixels"}, [&, kind = padding](const Value* x) {
      return graph::grid_sample(x[0], x[1], {.padding = kind, .align_corners = AlignCorners::yes});
    });
}

TEST_CASE("affine_grid and its gradient are PyTorch's", "[ops][gradient][interpolate]") {
  for (const bool align : {false, true}) {
    const AlignCorners corners = align ? AlignCorners::yes : AlignCorners::no;
    const std::string end = align ? "corners" : "edges";
    check("affine_" + end, {"flat"}, [&](const Value* x) { return graph::affine_grid(x[0], {4, 5}, corners); });
    check("affine_one_" + end, {"flat"}, [&](const Value* x) { return graph::affine_grid(x[0], {1, 3}, corners); });
    check("affine_volume_" + end, {"deep"}, [&](const Value* x) {
      return graph::affine_grid(x[0], {2, 3, 4}, corners);
    });
  }
}

TEST_CASE("pixels outside of an image, even NaN ones at its edge, do not reach places outside", "[ops][interpolate]") {
  graph::Graph graph{DType::float64};
  const Value x{graph, graph.add_input(DType::float64, {{1, 0}, {1, 0}, {2, 0}, {2, 0}})};
  const Value grid{graph, graph.add_input(DType::float64, {{1, 0}, {1, 0}, {3, 0}, {2, 0}})};
  graph.outputs.push_back(graph::grid_sample(x, grid).id());
  const double nan = std::nan("");
  const Array image{Dims(1, 1, 2, 2), {nan, 1, 1, 1}};
  const Array places{Dims(1, 1, 3, 2), {0.5, 0.5, 7, 7, -1e30, 0.2}};
  const Array got = evaluate(graph, {{}, {image, places}, {}, {}}, &run_by_kernel).outputs[0];
  CHECK(got.elements == std::vector<double>{1, 0, 0});
}

TEST_CASE("resampling and sampling compile, on batches of any size", "[ops][interpolate]") {
  const auto larger = [](auto x) { return graph::resample(x, {.size = {3, 6}, .mode = Resampling::cubic}); };
  const Tensor y = compiled(larger)(ones<float, Shape<dyn, 3, 2, 2>>(Dims(4, 3, 2, 2)));
  CHECK(y.shape() == Dims(4, 3, 3, 6));
  for (const float element : to_vector(y)) CHECK(element == Approx(1.0F));
  CHECK(compiled(larger)(ones<float, Shape<dyn, 3, 2, 2>>(Dims(0, 3, 2, 2))).shape() == Dims(0, 3, 3, 6));
  const auto same = [](auto x) {
    const Value identity = graph::where(graph::equal(graph::iota(x.graph(), {{2, 0}, {3, 0}}) % 4, 0), 1.0F, 0.0F);
    const Value theta = graph::broadcast_to(identity, {x.shape()[0], {2, 0}, {3, 0}});
    return graph::grid_sample(x, graph::affine_grid(theta, {2, 2}));
  };
  const Tensor x = from_values<Shape<dyn, 1, 2, 2>>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, Dims(2, 1, 2, 2));
  const std::vector<float> got = to_vector(compiled(same)(x)), expected = to_vector(x);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]));
}

TEST_CASE("resampling and sampling refuse what they cannot do", "[ops][interpolate]") {
  using graph::Problem;
  const auto problem = [](DType dtype, const graph::Extents& shape, const auto& function) {
    graph::Graph graph{DType::float32};
    static_cast<void>(function(Value{graph, graph.add_input(dtype, shape)}));
    return graph.fault.problem;
  };
  const graph::Extents image{{1, 0}, {1, 0}, {2, 0}, {2, 0}}, matrix{{2, 0}, {2, 0}}, empty{{1, 0}, {1, 0}, {0, 0}};
  const auto halved = [](Value x) { return graph::resample(x, {.scale = 0.4, .mode = Resampling::cubic}); };
  CHECK(problem(DType::float32, matrix, halved) == Problem::interpolation_input_has_the_wrong_rank);
  CHECK(problem(DType::int64, image, halved) == Problem::interpolation_needs_a_floating_type);
  CHECK(problem(DType::float32, image, halved) == Problem::interpolation_needs_an_output_and_an_input);
  CHECK(problem(DType::float32, empty, [](Value x) { return graph::resample(x, {.size = 2}); }) ==
        Problem::interpolation_needs_an_output_and_an_input);
  CHECK(problem(DType::float32, image, [](Value x) {
          return graph::resample(x, {.size = 2, .mode = Resampling::area, .align_corners = AlignCorners::yes});
        }) == Problem::interpolation_aligns_corners_only_if_linear);
  CHECK(problem(DType::float32, matrix, [](Value x) { return graph::grid_sample(x, x); }) ==
        Problem::interpolation_input_has_the_wrong_rank);
  CHECK(problem(DType::float32, image, [](Value x) {
          const Value volume = graph::unsqueeze(x, 2);
          return graph::grid_sample(volume, volume, {.mode = Interpolation::cubic});
        }) == Problem::interpolation_input_has_the_wrong_rank);
  CHECK(problem(DType::float32, image, [](Value x) {
          return graph::interpolate(x, {.size = 2, .mode = Interpolation::cubic});
        }) == Problem::interpolate_is_nearest_or_linear_use_resample);
  CHECK(problem(DType::float32, image, [](Value x) {
          return graph::grid_sample(x, graph::reshape(x, {{4, 0}}));
        }) == Problem::index_has_another_rank);
  CHECK(problem(DType::float32, image, [](Value x) {
          return graph::grid_sample(x, graph::reshape(x, {{1, 0}, {4, 0}, {1, 0}, {1, 0}}));
        }) == Problem::index_has_another_extent);
  CHECK(problem(DType::float32, image, [](Value x) { return graph::affine_grid(graph::flatten(x, 0, 1), 4); }) ==
        Problem::index_has_another_extent);
}
