// SPDX-License-Identifier: Apache-2.0
//
// The table of layers that bring their weights: in every floating type they compute what they do in float64, and first and
// second derivatives agree with finite differences, on odd and single shapes. Values: tests/nn/{attention,convolution,
// norm_layers}.test.cpp and tests/golden.

#include "tests/support/operation_table.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/nn/attention.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/mixture_of_experts.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/nn/weight_norm.hpp>
#include <twill/ops/concatenate.hpp>

using namespace twill;
using namespace twill::test;

namespace {

struct LayerRow {
  std::string_view name;
  std::vector<Dims> shapes;
  Value (*layer)(Value x);
};

std::mt19937_64 random_source{test_seed()};

/// Random weights for a graph; those that graphs of a narrower type hold are rounded to it.
std::vector<Array> weights_for(const graph::Graph& graph) {
  std::vector<Array> weights{};
  for (const auto& parameter : graph.parameters)
    weights.push_back(twill::test::detail::random_array(parameter.shape.evaluate({}), {-1, 1}, random_source));
  for (Array& weight : weights)
    for (double& element : weight.elements) element = rounded(element, DType::bfloat16); // exact in every type
  return weights;
}

graph::Graph traced(const LayerRow& row, const Dims& shape, DType dtype) {
  graph::Graph graph{dtype};
  graph.outputs.push_back(row.layer({graph, graph.add_input(dtype, graph::extents_of(shape))}).id());
  return graph;
}

const LayerRow layers[]{
    {"linear", {Dims(3, 4), Dims(1, 1), Dims(0, 5)}, [](Value x) { return nn::linear(x, 3, "layer"); }},
    {"layer_norm", {Dims(2, 3, 3), Dims(1, 1, 17)}, [](Value x) { return nn::layer_norm(x, "layer", {.axes = 2}); }},
    {"rms_norm", {Dims(2, 7), Dims(0, 5)}, [](Value x) { return nn::rms_norm(x, "layer"); }},
    {"group_norm", {Dims(2, 4, 3), Dims(1, 2, 9)}, [](Value x) { return nn::group_norm(x, 2, "layer"); }},
    {"batch_norm",
     {Dims(3, 2), Dims(2, 2, 3), Dims(2, 1, 1, 2)},
     [](Value x) { return nn::batch_norm(x, "layer", {.has_running_statistics = false}); }},
    {"batch_norm without weights",
     {Dims(3, 2), Dims(1, 2, 5)},
     [](Value x) { return nn::batch_norm(x, "layer", {.is_affine = false, .has_running_statistics = false}); }},
    {"conv1d",
     {Dims(2, 2, 5), Dims(0, 4, 3)},
     [](Value x) { return nn::conv1d(x, 4, "layer", {.kernel = 3, .padding = 1, .groups = 2}); }},
    {"conv2d",
     {Dims(1, 2, 4, 3), Dims(1, 1, 1, 2)},
     [](Value x) { return nn::conv2d(x, 3, "layer", {.kernel = 2, .stride = 2, .padding = 1}); }},
    {"conv_transpose1d",
     {Dims(2, 2, 3), Dims(1, 1, 1)},
     [](Value x) { return nn::conv_transpose1d(x, 3, "layer", {.kernel = 2, .stride = 2}); }},
    {"conv_transpose2d",
     {Dims(1, 2, 2, 3), Dims(0, 1, 2, 2)},
     [](Value x) { return nn::conv_transpose2d(x, 2, "layer", {.kernel = 3, .padding = 1}); }},
    {"multi_head_attention",
     {Dims(2, 3, 4), Dims(1, 1, 2), Dims(0, 3, 2)},
     [](Value x) { return nn::multi_head_attention(x, x, x, 2, "layer", {.is_causal = true}); }},
    {"multi_head_attention of other widths",
     {Dims(2, 3, 4), Dims(1, 1, 2)},
     [](Value x) {
       const Value keys = graph::concatenate({x, x * x}, 2);
       return nn::multi_head_attention(x, keys, graph::narrow(keys, 2, 0, 1), 2, "layer");
     }},
    {"multi_head_attention_with_weights",
     {Dims(2, 3, 4), Dims(1, 1, 2)},
     [](Value x) {
       const auto [y, weights] = nn::multi_head_attention_with_weights(x, x, x * x, 2, "layer");
       return graph::concatenate({y, weights}, 2);
     }},
    {"multi_head_attention_with_weights of each head",
     {Dims(2, 3, 4), Dims(1, 1, 2)},
     [](Value x) {
       const auto [y, weights] =
           nn::multi_head_attention_with_weights(x, x, x * x, 2, "layer", {.averages_heads = false});
       return graph::concatenate({y, graph::reshape(weights, {x.shape()[0], x.shape()[1], {-1, 0}})}, 2);
     }},
    {"transformer_encoder_layer",
     {Dims(2, 3, 4), Dims(1, 1, 2)},
     [](Value x) {
       x.graph().training = false;
       return nn::transformer_encoder_layer(x, 2, "layer",
                                            {.feed_forward = 3, .function = nn::FeedForwardFunction::gelu});
     }},
    {"transformer_decoder_layer",
     {Dims(2, 3, 4), Dims(1, 1, 2)},
     [](Value x) {
       x.graph().training = false;
       return nn::transformer_decoder_layer(
           x, x * x, 2, "layer",
           {.feed_forward = 3, .function = nn::FeedForwardFunction::gelu, .norm_first = true, .is_causal = true});
     }},
    {"rnn_cell", {Dims(3, 4), Dims(1, 1), Dims(0, 2)}, [](Value x) { return nn::rnn_cell(x, x * x, "layer"); }},
    {"lstm_cell",
     {Dims(3, 4), Dims(1, 1), Dims(0, 2)},
     [](Value x) {
       const auto [hidden, cell] = nn::lstm_cell(x, {x * x, x + 1.0}, "layer");
       return graph::concatenate({hidden, cell}, 1);
     }},
    {"gru_cell", {Dims(3, 4), Dims(1, 1), Dims(0, 2)}, [](Value x) { return nn::gru_cell(x, x * x, "layer"); }},
    {"instance_norm",
     {Dims(2, 3, 4), Dims(1, 2, 3, 3)},
     [](Value x) { return nn::instance_norm(x, "layer", {.is_affine = true}); }},
    {"prelu",
     {Dims(2, 3, 2), Dims(1, 1, 1), Dims(0, 2)},
     [](Value x) { return nn::prelu(x, "layer", {.parameters = x.size(1)}); }},
    {"conv2d with reflected margins",
     {Dims(1, 2, 4, 3)},
     [](Value x) {
       return nn::conv2d(x, 2, "layer", {.kernel = 3, .padding = 1, .padding_mode = nn::PaddingMode::reflect});
     }},
    {"weight_norm",
     {Dims(3, 4), Dims(1, 1)},
     [](Value x) {
       return nn::linear(x, nn::weight_norm(x.graph(), "layer", {3, x.size(1)}, nn::initialise::ones()));
     }},
    {"mixture_of_experts",
     {Dims(1, 4, 3)},
     [](Value x) { return nn::mixture_of_experts(x, 2, 2, "layer", {.balance_weight = 0, .router_z_weight = 0}); }},
    {"conv1d that keeps the size",
     {Dims(2, 2, 5)},
     [](Value x) {
       return nn::conv1d(x, 3, "layer", {.kernel = 4, .padding_mode = nn::PaddingMode::circular, .keeps_size = true});
     }},
};

} // namespace

TEST_CASE("layers compute in every floating type what they do in float64", "[nn][TRAIN-2]") {
  for (const LayerRow& row : layers)
    for (const Dims& shape : row.shapes) {
      const graph::Graph wide = traced(row, shape, DType::float64);
      REQUIRE(!wide.fault.any());
      Array x = twill::test::detail::random_array(shape, {-2, 2}, random_source);
      for (double& element : x.elements) element = rounded(element, DType::bfloat16);
      const std::vector<Array> weights = weights_for(wide);
      const Array expected = evaluate(wide, {{}, {x}, weights, {}}, &run_by_kernel).outputs[0];
      for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32}) {
        INFO(row.name << " of " << name(dtype) << " on " << to_string(shape));
        const graph::Graph narrow = traced(row, shape, dtype);
        CHECK(narrow.node(narrow.outputs[0]).dtype == dtype);
        const Array got = evaluate(narrow, {{}, {x}, weights, {}}, &run_by_kernel).outputs[0];
        REQUIRE(got.shape == expected.shape);
        // The host tolerances: values of up to a few units pass through several layers' worth of roundings.
        const double tolerance = dtype == DType::float32 ? 2e-3 : dtype == DType::float16 ? 2e-2 : 1e-1;
        for (std::size_t i = 0; i < got.elements.size(); ++i)
          CHECK(std::fabs(got.elements[i] - expected.elements[i]) <= tolerance * (1 + std::fabs(expected.elements[i])));
      }
    }
}

TEST_CASE("derivatives of layers agree with finite differences on small shapes", "[nn][gradient][TRAIN-1]") {
  for (const LayerRow& row : layers)
    for (const Dims& shape : row.shapes) {
      const graph::Graph graph = derivative_graph<1>(row.layer, std::array{shape});
      REQUIRE(!graph.fault.any());
      const std::vector<Array> weights = weights_for(graph);
      const Dims result = graph.node(graph.outputs[1]).shape.evaluate({});
      check_derivatives({std::string{row.name}, {Range{}}, {shape}, result}, [&](const std::vector<Array>& inputs) {
        return evaluate(graph, {{}, inputs, weights, {}}, &run_by_kernel).outputs;
      });
    }
}

TEST_CASE("vmap of layers and of their derivatives is a loop over the examples, with shared weights", "[nn][vmap]") {
  for (const LayerRow& row : layers)
    for (const Dims& shape : row.shapes) {
      INFO(row.name << " on " << to_string(shape));
      const graph::Graph graph = derivative_graph<1>(row.layer, std::array{shape});
      const std::vector<Array> weights = weights_for(graph);
      const auto run = [&](const graph::Graph& traced, const std::vector<Array>& inputs) {
        return evaluate(traced, {{}, inputs, weights, {}}, &run_by_kernel).outputs;
      };
      check_batching<1>(row.layer, {Range{}}, {shape}, graph.node(graph.outputs[1]).shape.evaluate({}), run);
    }
}
