// SPDX-License-Identifier: Apache-2.0
//
// Convolution and pooling of volumes beside PyTorch's, with gradients; beside naive loops in every floating type, on odd,
// single and empty shapes, and for batches by vmap; derivatives of both orders beside finite differences.

#include "tests/support/golden_gradients.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/nn/convolution3d.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::CeilMode;
using graph::CountPadding;

namespace {

using Arrays = std::vector<Array>;

template <class F> void check(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check_golden_gradients("volumes", name, inputs, 1e-11, function);
}

/// What `fold` makes of the elements of each window of 2 x 2 x 2, one apart.
template <class F> Array windows(const Array& x, double start, const F& fold) {
  const Dims s = x.shape;
  return array_from(Dims(s[0], s[1], s[2] - 1, s[3] - 1, s[4] - 1), [&](const Dims& i) {
    double result = start;
    for (std::int64_t k = 0; k < 8; ++k)
      result = fold(result, element_of(x, Dims(i[0], i[1], i[2] + k / 4, i[3] + k / 2 % 2, i[4] + k % 2)));
    return result;
  });
}

Array convolved(const Arrays& x) {
  const Dims s = x[0].shape, w = x[1].shape;
  return array_from(Dims(s[0], w[0], s[2] + 3 - w[2], (s[3] - w[3]) / 2 + 1, s[4] - w[4] + 1), [&](const Dims& i) {
    double sum = 0;
    for (std::int64_t c = 0; c < w[1]; ++c)
      for (std::int64_t d = 0; d < w[2]; ++d)
        for (std::int64_t u = 0; u < w[3]; ++u)
          for (std::int64_t v = 0; v < w[4]; ++v) {
            const std::int64_t slice = i[2] + d - 1;
            if (slice < 0 || slice >= s[2]) continue;
            sum += element_of(x[0], Dims(i[0], c, slice, 2 * i[3] + u, i[4] + v)) *
                   element_of(x[1], Dims(i[1], c, d, u, v));
          }
    return sum;
  });
}

const std::vector<std::vector<Dims>> volumes{
    {Dims(1, 2, 2, 3, 3)}, {Dims(1, 1, 2, 2, 2)}, {Dims(0, 2, 2, 3, 2)}, {Dims(2, 3, 3, 5, 9)}};

const OperationRow functions[]{
    {"conv3d",
     {{Dims(1, 1, 2, 3, 2), Dims(2, 1, 2, 2, 1)},
      {Dims(1, 1, 1, 1, 1), Dims(1, 1, 1, 1, 1)},
      {Dims(0, 1, 2, 2, 2), Dims(2, 1, 1, 2, 2)},
      {Dims(2, 3, 4, 5, 7), Dims(4, 3, 3, 2, 3)}},
     [](const Value* x) {
       return graph::conv3d(x[0], x[1], {.stride = {1, 2, 1}, .padding = {1, 0, 0}});
     },
     convolved},
    {"max_pool3d", volumes, [](const Value* x) { return graph::max_pool3d(x[0], {.window = 2, .stride = 1}); },
     [](const Arrays& x) {
       return windows(x[0], -std::numeric_limits<double>::infinity(),
                      [](double a, double b) { return std::max(a, b); });
     }},
    {"avg_pool3d", volumes, [](const Value* x) { return graph::avg_pool3d(x[0], {.window = 2, .stride = 1}); },
     [](const Arrays& x) { return windows(x[0], 0, [](double a, double b) { return a + b / 8; }); }},
    {"adaptive_avg_pool3d", volumes,
     [](const Value* x) {
       return graph::adaptive_avg_pool3d(x[0], {x[0].size(2), x[0].size(3), 1});
     },
     [](const Arrays& x) {
       const Dims s = x[0].shape;
       return array_from(Dims(s[0], s[1], s[2], s[3], 1), [&](Dims i) {
         double sum = 0;
         for (i[4] = 0; i[4] < s[4]; ++i[4]) sum += element_of(x[0], i);
         return sum / double(s[4]);
       });
     }},
    {"adaptive_max_pool3d", volumes,
     [](const Value* x) {
       return graph::adaptive_max_pool3d(x[0], {1, x[0].size(3), x[0].size(4)});
     },
     [](const Arrays& x) {
       const Dims s = x[0].shape;
       return array_from(Dims(s[0], s[1], 1, s[3], s[4]), [&](Dims i) {
         double most = -std::numeric_limits<double>::infinity();
         for (i[2] = 0; i[2] < s[2]; ++i[2]) most = std::max(most, element_of(x[0], i));
         return most;
       });
     }},
};

} // namespace

TEST_CASE("convolution of volumes and its gradients are PyTorch's", "[nn][convolution]") {
  check("conv", {"x", "whole", "bias"}, [](const Value* x) { return graph::conv3d(x[0], x[1], x[2]); });
  check("conv_moved", {"x", "whole", "bias"}, [](const Value* x) {
    return graph::conv3d(x[0], x[1], x[2], {.stride = {2, 1, 3}, .padding = {1, 2, 0}, .dilation = {2, 1, 1}});
  });
  check("conv_grouped", {"x", "grouped"}, [](const Value* x) {
    return graph::conv3d(x[0], x[1], {.stride = {1, 2, 1}, .padding = 1, .groups = 2});
  });
}

TEST_CASE("pooling of volumes and its gradients are PyTorch's", "[nn][pooling]") {
  check("max", {"x"}, [](const Value* x) { return nn::max_pool3d(x[0], {}); });
  check("max_moved", {"x"}, [](const Value* x) {
    return nn::max_pool3d(x[0],
                          {.window = {3, 2, 3}, .stride = {1, 2, 2}, .padding = {1, 0, 1}, .dilation = {2, 1, 1}});
  });
  check("max_ceil", {"x"}, [](const Value* x) {
    return nn::max_pool3d(x[0], {.window = {2, 3, 4}, .ceil = CeilMode::yes});
  });
  check("max_of_equals", {"equals"}, [](const Value* x) { return nn::max_pool3d(x[0], {.window = 3, .stride = 1}); });
  check("mean", {"x"}, [](const Value* x) { return nn::avg_pool3d(x[0], {}); });
  check("mean_moved", {"x"}, [](const Value* x) {
    return nn::avg_pool3d(x[0], {.window = {3, 2, 3}, .stride = {1, 2, 2}, .padding = {1, 1, 0}});
  });
  check("mean_inside", {"x"}, [](const Value* x) {
    return nn::avg_pool3d(
        x[0],
        {.window = {3, 2, 3}, .stride = 2, .padding = 1, .ceil = CeilMode::yes, .count_padding = CountPadding::no});
  });
  check("mean_ceil", {"x"}, [](const Value* x) {
    return nn::avg_pool3d(x[0], {.window = 2, .stride = {2, 3, 2}, .padding = 1, .ceil = CeilMode::yes});
  });
  check("mean_divided", {"x"}, [](const Value* x) { return nn::avg_pool3d(x[0], {.divisor = 5}); });
  check("adaptive_mean", {"x"}, [](const Value* x) { return nn::adaptive_avg_pool3d(x[0], {2, 3, 4}); });
  check("adaptive_max", {"x"}, [](const Value* x) { return nn::adaptive_max_pool3d(x[0], {3, 2, 4}); });
}

TEST_CASE("convolution and pooling of volumes are naive loops in every type, on odd and empty shapes", "[nn]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of convolution and pooling of volumes agree with finite differences", "[nn][gradient]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}

TEST_CASE("a layer of volumes has the weights of torch's Conv3d", "[nn][convolution][TRAIN-2]") {
  graph::Graph graph{DType::float64};
  const Array x = golden_array("volumes/x");
  const Value input{graph, graph.add_input(DType::float64, graph::extents_of(x.shape))};
  graph.outputs.push_back(nn::conv3d(input, 3, "conv", {.kernel = {3, 2, 3}}).id());
  REQUIRE(!graph.fault.any());
  REQUIRE(graph.parameters.size() == 2);
  CHECK(std::string{graph.parameters[0].name.view()} == "conv.weight");
  CHECK(graph.parameters[0].shape.evaluate({}) == Dims(3, 4, 3, 2, 3));
  CHECK(graph.parameters[0].initialiser.a == 4 * 18);
  CHECK(std::string{graph.parameters[1].name.view()} == "conv.bias");
  const Array got =
      evaluate(graph, {{}, {x}, {golden_array("volumes/whole"), golden_array("volumes/bias")}, {}}, &run_by_kernel)
          .outputs[0];
  const Array expected = golden_array("volumes/conv_y");
  REQUIRE(got.shape == expected.shape);
  for (std::size_t i = 0; i < got.elements.size(); ++i) CHECK(got.elements[i] == Approx(expected.elements[i]));
}

TEST_CASE("convolution and pooling of volumes refuse what they cannot do", "[nn][convolution]") {
  using graph::Problem;
  const auto problem = [](const graph::Extents& shape, const auto& function) {
    graph::Graph graph{DType::float32};
    static_cast<void>(function(Value{graph, graph.add_input(DType::float32, shape)}));
    return graph.fault.problem;
  };
  const graph::Extents image{{1, 0}, {2, 0}, {3, 0}, {3, 0}}, volume{{1, 0}, {2, 0}, {3, 0}, {3, 0}, {3, 0}};
  CHECK(problem(image, [](Value x) { return nn::conv3d(x, 2, "conv", {}); }) ==
        Problem::convolution_input_has_the_wrong_rank);
  CHECK(problem(image, [](Value x) { return nn::max_pool3d(x, {}); }) == Problem::pooling_input_has_the_wrong_rank);
  CHECK(problem(volume, [](Value x) {
          return nn::conv3d(x, 2, "conv", {.kernel = {4, 1, 1}});
        }) == Problem::convolution_kernel_is_larger_than_the_padded_input);
  CHECK(problem(volume, [](Value x) {
          return nn::conv3d(x, 2, "conv", {.kernel = {0, 1, 1}});
        }) == Problem::convolution_kernel_is_not_positive);
  CHECK(problem(volume, [](Value x) { return nn::conv3d(x, 3, "conv", {.groups = 2}); }) ==
        Problem::convolution_groups_do_not_divide_the_output_channels);
  CHECK(problem(volume, [](Value x) {
          return nn::conv3d(x, 2, "conv", {.stride = {0, 1, 1}});
        }) == Problem::convolution_stride_is_not_positive);
  CHECK(problem(volume, [](Value x) {
          return nn::max_pool3d(x, {.window = {4, 1, 1}});
        }) == Problem::pooling_window_is_larger_than_the_padded_input);
}
