// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution of volumes beside PyTorch's, with gradients; beside naive loops in every floating type, on odd,
// single and empty shapes, and for batches by vmap; derivatives of both orders beside finite differences.

#include "tests/support/golden_gradients.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/nn/transposed_convolution3d.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using Options = graph::TransposedVolumeConvolutionOptions;

void check(const std::string& name, const std::vector<std::string>& inputs, Value (*function)(const Value*)) {
  check_golden_gradients("volumes", name, inputs, 1e-11, function);
}

/// Each element of x times the kernel, with strides 2, 1 and 1, one slice cut off on each side in depth.
Array spread(const Arrays& x) {
  const Dims s = x[0].shape, w = x[1].shape;
  return array_from(Dims(s[0], w[1], 2 * s[2] + w[2] - 4, s[3] + w[3] - 1, s[4] + w[4] - 1), [&](const Dims& i) {
    double sum = 0;
    for (std::int64_t c = 0; c < w[0]; ++c)
      for (std::int64_t d = 0; d < w[2]; ++d)
        for (std::int64_t u = 0; u < w[3]; ++u)
          for (std::int64_t v = 0; v < w[4]; ++v) {
            const std::int64_t deep = i[2] + 1 - d, row = i[3] - u, column = i[4] - v;
            if (deep < 0 || deep % 2 != 0 || deep / 2 >= s[2] || row < 0 || row >= s[3] || column < 0 || column >= s[4])
              continue;
            sum += element_of(x[0], Dims(i[0], c, deep / 2, row, column)) * element_of(x[1], Dims(c, i[1], d, u, v));
          }
    return sum;
  });
}

const OperationRow transposed{"conv_transpose3d",
                              {{Dims(1, 2, 2, 2, 1), Dims(2, 1, 2, 2, 2)},
                               {Dims(1, 1, 2, 1, 1), Dims(1, 1, 1, 1, 1)},
                               {Dims(0, 1, 2, 2, 2), Dims(1, 2, 3, 2, 2)},
                               {Dims(2, 3, 3, 5, 4), Dims(3, 2, 3, 2, 3)}},
                              [](const Value* x) {
                                return graph::conv_transpose3d(x[0], x[1], {.stride = {2, 1, 1}, .padding = {1, 0, 0}});
                              },
                              spread,
                              RowTypes::floating,
                              {-1, 1}}; // slices are rounded before their sum

} // namespace

TEST_CASE("transposed convolution of volumes and its gradients are PyTorch's", "[nn][convolution]") {
  check("transposed", {"small", "every", "small_bias"},
        [](const Value* x) { return graph::conv_transpose3d(x[0], x[1], x[2]); });
  check("transposed_moved", {"small", "every", "small_bias"}, [](const Value* x) {
    return graph::conv_transpose3d(
        x[0], x[1], x[2],
        {.stride = {2, 1, 3}, .padding = {1, 2, 0}, .output_padding = {1, 0, 2}, .dilation = {3, 2, 1}});
  });
  check("transposed_grouped", {"small", "halves"}, [](const Value* x) {
    return graph::conv_transpose3d(x[0], x[1], {.stride = 2, .padding = {2, 0, 1}, .groups = 2});
  });
}

TEST_CASE("transposed convolution of volumes is naive loops in every type, on odd and empty shapes", "[nn]") {
  check_forward(transposed);
}

TEST_CASE("derivatives of transposed convolution of volumes agree with finite differences", "[nn][gradient]") {
  check_both_derivatives(transposed);
}

TEST_CASE("a layer of transposed convolution of volumes has PyTorch's weights", "[nn][convolution]") {
  graph::Graph graph{DType::float32};
  const Value x{graph, graph.add_input(DType::float32, {{2, 0}, {4, 0}, {3, 0}, {2, 0}, {2, 0}})};
  const Value y = nn::conv_transpose3d(x, 6, "up", {.kernel = {3, 2, 1}, .stride = 2, .groups = 2});
  REQUIRE(!graph.fault.any());
  CHECK(y.shape().evaluate({}) == Dims(2, 6, 7, 4, 3));
  REQUIRE(graph.parameters.size() == 2);
  CHECK(graph.parameters[0].name.view() == "up.weight");
  CHECK(graph.parameters[0].shape.evaluate({}) == Dims(4, 3, 3, 2, 1));
  CHECK(graph.parameters[0].initialiser.a == 18); // 1 / sqrt(18) is the bound
  CHECK(graph.parameters[1].shape.evaluate({}) == Dims(6));
}

TEST_CASE("transposed convolution of volumes refuses options by name, also along the depth", "[nn][convolution]") {
  using graph::Problem;
  const auto problem = [](const Options& options,
                          const graph::Extents& kernel = {{4, 0}, {3, 0}, {2, 0}, {2, 0}, {2, 0}}) {
    graph::Graph graph{DType::float32};
    const Value x{graph, graph.add_input(DType::float32, {{2, 0}, {4, 0}, {3, 0}, {2, 0}, {2, 0}})};
    static_cast<void>(graph::conv_transpose3d(x, Value{graph, graph.add_input(DType::float32, kernel)}, options));
    return graph.fault.problem;
  };
  CHECK(problem({.stride = {0, 1, 1}}) == Problem::convolution_stride_is_not_positive);
  CHECK(problem({.dilation = {0, 1, 1}}) == Problem::convolution_dilation_is_not_positive);
  CHECK(problem({.padding = {-1, 0, 0}}) == Problem::convolution_padding_is_negative);
  CHECK(problem({.output_padding = {1, 0, 0}}) == Problem::output_padding_is_not_less_than_the_stride);
  CHECK(problem({.padding = {2, 0, 0}}) == Problem::transposed_convolution_has_an_empty_result);
  CHECK(problem({.output_padding = {0, 1, 0}}) == Problem::output_padding_is_not_less_than_the_stride);
  CHECK(problem({}, {{4, 0}, {3, 0}, {2, 0}, {2, 0}}) == Problem::convolution_weight_has_the_wrong_rank);
  CHECK(problem({}, {{3, 0}, {3, 0}, {2, 0}, {2, 0}, {2, 0}}) ==
        Problem::convolution_input_channels_differ_from_the_weights);
}
