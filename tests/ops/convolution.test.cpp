// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as a model sees them: beside PyTorch for every option, first and second derivatives beside finite differences,
// images that stay channels-last between them, and programs for every element type. The kernels themselves:
// tests/kernel/convolution.test.cpp.

#include "tests/support/golden_images.hpp"

#include <twill/compile/function.hpp>
#include <twill/ops/transposed_convolution.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

void know_convolutions() {
  know<&graph::convolution_operation>();
  know<&graph::convolution_input_gradient_operation>();
  know<&graph::convolution_weight_gradient_operation>();
}

} // namespace

TEST_CASE("convolutions and their gradients are those of PyTorch for every option", "[ops][convolution]") {
  know_convolutions();
  Numbers numbers{"convolution/cases"};
  int cases = 0;
  for (; numbers.any(); ++cases) {
    const std::int64_t dimensions = numbers.integer();
    const bool is_transposed = numbers.integer() != 0;
    const graph::Sides stride = numbers.sides(), padding = numbers.sides(), output_padding = numbers.sides(),
                       dilation = numbers.sides();
    const std::int64_t groups = numbers.integer();
    std::vector<Array> inputs{};
    for (int k = 0; k < 4; ++k) inputs.push_back(numbers.array());
    graph::Graph graph{DType::float64};
    std::vector<Value> values{};
    for (const Array& input : inputs)
      values.push_back({graph, graph.add_input(DType::float64, graph::extents_of(input.shape))});
    const Value x = values[0], w = values[1], bias = values[2];
    const graph::ConvolutionOptions options{stride, padding, dilation, groups};
    const graph::TransposedConvolutionOptions transposed{stride, padding, output_padding, dilation, groups};
    const Value y = is_transposed     ? dimensions == 1 ? conv_transpose1d(x, w, bias, transposed)
                                                        : conv_transpose2d(x, w, bias, transposed)
                        : dimensions == 1 ? conv1d(x, w, bias, options)
                                      : conv2d(x, w, bias, options);
    const Value loss = sum(y * values[3]);
    graph.outputs.push_back(y.id());
    for (int k = 0; k < 3; ++k)
      graph.outputs.push_back(graph::gradient(loss, values[static_cast<std::size_t>(k)]).id());
    INFO("case " << cases);
    for (const Array& output : evaluate_both(graph, inputs)) require_near(output, numbers.array());
  }
  CHECK(cases == 12);
}

TEST_CASE("first and second derivatives of convolutions agree with finite differences", "[ops][convolution]") {
  know_convolutions();
  check_function("conv2d", std::array{Dims(2, 3, 4, 3), Dims(2, 3, 2, 3)}, [](Value x, Value w) {
    return conv2d(x, w, {.stride = {2, 1}, .padding = 1});
  });
  check_function("grouped, dilated", std::array{Dims(1, 4, 5, 5), Dims(2, 2, 2, 2)}, [](Value x, Value w) {
    return square(conv2d(x, w, {.dilation = {2, 3}, .groups = 2}));
  });
  check_function("conv1d", std::array{Dims(2, 2, 5), Dims(3, 2, 3)},
                 [](Value x, Value w) { return conv1d(x, w, {.stride = 2, .padding = 1}); });
  check_function("conv_transpose2d", std::array{Dims(1, 2, 3, 2), Dims(2, 3, 3, 2)}, [](Value x, Value w) {
    return conv_transpose2d(x, w, {.stride = 2, .padding = 1, .output_padding = {1, 0}});
  });
  check_function("a block with a shortcut", std::array{Dims(2, 3, 4, 4), Dims(3, 3, 3, 3)}, [](Value x, Value w) {
    const Value inner = tanh(conv2d(x, w, {.padding = 1}));
    const Value centred = inner - mean(inner, {0, 2, 3}, graph::KeepDims::yes);
    return conv2d(centred, w, {.stride = 2, .padding = 1}) + mean(x, {2, 3}, graph::KeepDims::yes);
  });
  check_function("one element", std::array{Dims(1, 1, 1, 1), Dims(1, 1, 1, 1)},
                 [](Value x, Value w) { return conv2d(x, w); });
}

TEST_CASE("images between convolutions stay channels-last", "[compile][convolution]") {
  graph::Graph graph{};
  const Value x{graph, graph.add_input(DType::float32, graph::extents_of(Dims(2, 3, 8, 8)))};
  const Value v{graph, graph.add_input(DType::float32, graph::extents_of(Dims(3, 3, 3, 3)))};
  const Value first = maximum(conv2d(x, v, {.padding = 1}), 0);
  const Value loss = sum(square(conv2d(first + conv2d(first, v, {.padding = 1}), v)));
  for (const Value of : {x, v}) graph.outputs.push_back(graph::gradient(loss, of).id());
  compile::simplify(graph);
  compile::carry_channels_last(graph);
  int views = 0;
  for (const graph::Node& node : graph.nodes) views += node.kind == graph::Kind::transpose && node.shape.rank == 4;
  CHECK(views == 2); // the image comes in, its gradient goes out
}

TEST_CASE("compiled convolutions give PyTorch's shapes in every floating type", "[ops][convolution]") {
  const auto blurred = [](auto x, auto w) { return maximum(conv2d(x, w, {.stride = 2, .padding = 1}), 0); };
  const auto x = rand<float, Shape<3, 2, 5, 7>>();
  const auto w = rand<float, Shape<4, 2, 3, 3>>();
  const auto expected = compiled(blurred)(x, w);
  CHECK(expected.shape() == Dims(3, 4, 3, 4));
  const auto check = [&](auto tag, double tolerance) {
    using T = decltype(tag);
    const auto converted = [](const auto& from) {
      Tensor<T, Cpu, typename std::remove_cvref_t<decltype(from)>::shape_type> to(from.device(), from.shape());
      for (std::int64_t i = 0; i < from.shape().elements(); ++i) to.data()[i] = T(from.data()[i]);
      return to;
    };
    const auto got = compiled(blurred)(converted(x), converted(w));
    for (std::int64_t i = 0; i < expected.shape().elements(); ++i)
      CHECK(static_cast<double>(static_cast<float>(got.data()[i])) ==
            Approx(static_cast<double>(expected.data()[i])).epsilon(tolerance));
  };
  check(double{}, 1e-5);
  check(half{}, 1e-2);
  check(bfloat16{}, 5e-2);
  const auto gradients = grad([](auto a, auto b) { return sum(square(conv2d(a, b, {.padding = 1}))); })(x, w);
  CHECK(std::get<0>(gradients).shape() == x.shape());
  CHECK(std::get<1>(gradients).shape() == w.shape());
}
