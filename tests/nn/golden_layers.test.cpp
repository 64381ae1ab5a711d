// SPDX-License-Identifier: Apache-2.0
//
// Layers with PyTorch's weights under PyTorch's names, and functions of images, beside PyTorch's results. Derivatives:
// tests/nn/table_of_layers.test.cpp.

#include "tests/support/golden.hpp"
#include "tests/support/operation_table.hpp"

#include <twill/nn/convolution3d.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/ops/patches.hpp>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using nn::PaddingMode;

namespace {

Array array_of(const std::string& name) {
  const Golden file = golden("layers/" + name);
  Dims shape{};
  for (const std::int64_t extent : file.shape) shape[shape.rank++] = extent;
  return {shape, file.values};
}

/// The first values of run-time numbers.
std::vector<double> scalars_of(const graph::Graph& graph) {
  std::vector<double> scalars{};
  for (const auto& scalar : graph.run_scalars) scalars.push_back(scalar.initial);
  return scalars;
}

/// A layer on inputs by the names of their files. A second result follows the first in `results`.
struct Case {
  std::string name;
  std::vector<std::string> inputs;
  void (*layer)(const Value* x, std::vector<Value>& results);
};

void check(const Case& row) {
  INFO(row.name);
  graph::Graph graph{DType::float64};
  std::vector<Array> inputs{};
  std::vector<Value> x{};
  for (const std::string& name : row.inputs) {
    inputs.push_back(array_of(name));
    const DType dtype = name == "index" ? DType::int64 : DType::float64;
    x.push_back({graph, graph.add_input(dtype, graph::extents_of(inputs.back().shape))});
  }
  std::vector<Value> results{};
  row.layer(x.data(), results);
  REQUIRE(!graph.fault.any());
  for (const Value& result : results) graph.outputs.push_back(result.id());
  std::vector<Array> weights{};
  for (const auto& parameter : graph.parameters) {
    const std::string name{parameter.name.view()};
    INFO(name);
    weights.push_back(array_of(row.name + "_" + name.substr(name.find('.') + 1)));
    REQUIRE(weights.back().shape == parameter.shape.evaluate({}));
  }
  const std::vector<Array> got = evaluate(graph, {{}, inputs, weights, scalars_of(graph)}, &run_by_kernel).outputs;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool is_function = graph.parameters.empty() && row.name != "instance_plain";
    const Array expected = array_of(is_function ? row.name : row.name + (i == 0 ? "_y" : "_z"));
    REQUIRE(got[i].shape == expected.shape);
    for (std::size_t k = 0; k < expected.elements.size(); ++k)
      CHECK(std::fabs(got[i].elements[k] - expected.elements[k]) <= 1e-11 * (1 + std::fabs(expected.elements[k])));
  }
}

using Outputs = std::vector<Value>;

template <PaddingMode Mode> void strided(const Value* x, Outputs& y) {
  y.push_back(nn::conv2d(x[0], 2, "layer", {.kernel = {3, 2}, .stride = 2, .padding = {2, 1}, .padding_mode = Mode}));
}
template <PaddingMode Mode> void same(const Value* x, Outputs& y) {
  y.push_back(nn::conv1d(x[0], 2, "layer",
                         {.kernel = 4, .dilation = 2, .bias = false, .padding_mode = Mode, .keeps_size = true}));
}
template <PaddingMode Mode> void volume(const Value* x, Outputs& y) {
  y.push_back(nn::conv3d(x[0], 2, "layer",
                         {.kernel = {2, 3, 2}, .stride = {1, 2, 1}, .padding = {1, 2, 1}, .padding_mode = Mode}));
}
template <PaddingMode Mode> void kept_volume(const Value* x, Outputs& y) {
  y.push_back(
      nn::conv3d(x[0], 2, "layer", {.kernel = {2, 3, 1}, .bias = false, .padding_mode = Mode, .keeps_size = true}));
}
template <nn::BagMode Mode, std::int64_t Padding> void bag(const Value* x, Outputs& y) {
  y.push_back(nn::embedding_bag(x[0], 5, 3, "layer", {.mode = Mode, .padding = Padding}));
}

} // namespace

TEST_CASE("transformer layers and attention of other widths are PyTorch's", "[nn][TRAIN-2]") {
  const std::vector<Case> cases{
      {"encoder",
       {"x"},
       [](const Value* x, Outputs& y) {
         y.push_back(nn::transformer_encoder_layer(x[0], 2, "layer", {.feed_forward = 6, .dropout = 0}));
       }},
      {"encoder_first",
       {"x"},
       [](const Value* x, Outputs& y) {
         y.push_back(nn::transformer_encoder_layer(x[0], 2, "layer",
                                                   {.feed_forward = 6,
                                                    .dropout = 0,
                                                    .function = nn::FeedForwardFunction::gelu,
                                                    .norm_first = true,
                                                    .is_causal = true}));
       }},
      {"decoder",
       {"x", "memory"},
       [](const Value* x, Outputs& y) {
         y.push_back(nn::transformer_decoder_layer(x[0], x[1], 2, "layer",
                                                   {.feed_forward = 6, .dropout = 0, .is_causal = true}));
       }},
      {"decoder_first",
       {"x", "memory"},
       [](const Value* x, Outputs& y) {
         y.push_back(nn::transformer_decoder_layer(x[0], x[1], 2, "layer",
                                                   {.feed_forward = 6, .dropout = 0, .norm_first = true}));
       }},
      {"heads",
       {"x", "key", "value"},
       [](const Value* x, Outputs& y) {
         const auto [output, weights] = nn::multi_head_attention_with_weights(x[0], x[1], x[2], 2, "layer");
         y = {output, weights};
       }},
      {"heads",
       {"x", "key", "value"},
       [](const Value* x, Outputs& y) { y.push_back(nn::multi_head_attention(x[0], x[1], x[2], 2, "layer")); }},
      {"heads_of_one",
       {"x", "memory"},
       [](const Value* x, Outputs& y) {
         const auto [output, weights] = nn::multi_head_attention_with_weights(x[0], x[1], x[1], 2, "layer");
         y = {output, weights};
       }},
      {"each_head",
       {"x", "memory"},
       [](const Value* x, Outputs& y) {
         const auto [output, weights] =
             nn::multi_head_attention_with_weights(x[0], x[1], x[1], 2, "layer", {.averages_heads = false});
         y = {output, weights};
       }},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("recurrent cells, rectifiers with slopes and instance norms are PyTorch's", "[nn][TRAIN-2]") {
  const std::vector<Case> cases{
      {"rnn", {"rows", "state"}, [](const Value* x, Outputs& y) { y.push_back(nn::rnn_cell(x[0], x[1], "layer")); }},
      {"lstm",
       {"rows", "state", "cell"},
       [](const Value* x, Outputs& y) {
         const auto [hidden, cell] = nn::lstm_cell(x[0], {x[1], x[2]}, "layer");
         y = {hidden, cell};
       }},
      {"gru",
       {"rows", "state"},
       [](const Value* x, Outputs& y) { y.push_back(nn::gru_cell(x[0], x[1], "layer", {.bias = false})); }},
      {"prelu",
       {"image"},
       [](const Value* x, Outputs& y) { y.push_back(nn::prelu(x[0], "layer", {.parameters = 4})); }},
      {"instance",
       {"image"},
       [](const Value* x, Outputs& y) { y.push_back(nn::instance_norm(x[0], "layer", {.is_affine = true})); }},
      {"instance_plain",
       {"sequence"},
       [](const Value* x, Outputs& y) { y.push_back(nn::instance_norm(x[0], "layer")); }},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("convolutions pad as PyTorch's, and can keep the size", "[nn][TRAIN-2]") {
  const std::vector<Case> cases{
      {"conv_zeros", {"image"}, strided<PaddingMode::zeros>},
      {"conv_reflect", {"image"}, strided<PaddingMode::reflect>},
      {"conv_replicate", {"image"}, strided<PaddingMode::replicate>},
      {"conv_circular", {"image"}, strided<PaddingMode::circular>},
      {"same_zeros", {"sequence"}, same<PaddingMode::zeros>},
      {"same_reflect", {"sequence"}, same<PaddingMode::reflect>},
      {"same_replicate", {"sequence"}, same<PaddingMode::replicate>},
      {"same_circular", {"sequence"}, same<PaddingMode::circular>},
      {"volume_zeros", {"volume"}, volume<PaddingMode::zeros>},
      {"volume_reflect", {"volume"}, volume<PaddingMode::reflect>},
      {"volume_replicate", {"volume"}, volume<PaddingMode::replicate>},
      {"volume_circular", {"volume"}, volume<PaddingMode::circular>},
      {"kept_zeros", {"volume"}, kept_volume<PaddingMode::zeros>},
      {"kept_reflect", {"volume"}, kept_volume<PaddingMode::reflect>},
      {"kept_replicate", {"volume"}, kept_volume<PaddingMode::replicate>},
      {"kept_circular", {"volume"}, kept_volume<PaddingMode::circular>},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("bags of embeddings are PyTorch's", "[nn][TRAIN-2]") {
  using nn::BagMode;
  const std::vector<Case> cases{
      {"bag_sum", {"index"}, bag<BagMode::sum, -1>},
      {"bag_mean", {"index"}, bag<BagMode::mean, -1>},
      {"bag_max", {"index"}, bag<BagMode::max, -1>},
      {"padded_bag_sum", {"index"}, bag<BagMode::sum, 1>},
      {"padded_bag_mean", {"index"}, bag<BagMode::mean, 1>},
      {"padded_bag_max", {"index"}, bag<BagMode::max, 1>},
      {"weighted_bag",
       {"index", "shares"},
       [](const Value* x, Outputs& y) {
         y.push_back(nn::embedding_bag(x[0], 5, 3, "layer", {.mode = BagMode::sum, .weights = x[1]}));
       }},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("patches, shuffles, margins and functions of channels are PyTorch's", "[nn][TRAIN-2]") {
  const std::vector<Case> cases{
      {"unfold",
       {"image"},
       [](const Value* x, Outputs& y) {
         y.push_back(graph::unfold(x[0], {.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}}));
       }},
      {"fold",
       {"patches"},
       [](const Value* x, Outputs& y) {
         y.push_back(graph::fold(x[0], {5, 4}, {.kernel = {3, 2}, .stride = 2, .padding = {1, 0}}));
       }},
      {"pixel_shuffle", {"image"}, [](const Value* x, Outputs& y) { y.push_back(graph::pixel_shuffle(x[0], 2)); }},
      {"pixel_unshuffle",
       {"image"},
       [](const Value* x, Outputs& y) { y.push_back(graph::pixel_unshuffle(graph::narrow(x[0], 2, 0, 4), 2)); }},
      {"response",
       {"image"},
       [](const Value* x, Outputs& y) { y.push_back(graph::local_response_norm(x[0] * 9.0, 3, {.alpha = 0.5})); }},
      {"response_of_two",
       {"sequence"},
       [](const Value* x, Outputs& y) {
         y.push_back(graph::local_response_norm(x[0], 2, {.alpha = 0.3, .beta = 0.5, .k = 2}));
       }},
      {"glu", {"image"}, [](const Value* x, Outputs& y) { y.push_back(graph::glu(x[0], 1)); }},
      {"softmin", {"image"}, [](const Value* x, Outputs& y) { y.push_back(graph::softmin(x[0], 1)); }},
      {"replicate",
       {"sequence"},
       [](const Value* x, Outputs& y) {
         y.push_back(graph::pad_replicate(x[0], 2, {2, 3}));
       }},
      {"circular",
       {"sequence"},
       [](const Value* x, Outputs& y) {
         y.push_back(graph::pad_circular(x[0], 2, {2, 3}));
       }},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("dropout of channels drops whole ones and scales the others", "[nn]") {
  const auto check_drops = [](const Dims& shape, Value (*drop)(Value)) {
    graph::Graph graph{DType::float64};
    graph.training = true;
    graph.outputs.push_back(drop({graph, graph.add_input(DType::float64, graph::extents_of(shape))}).id());
    REQUIRE(!graph.fault.any());
    const Array ones{shape, std::vector<double>(static_cast<std::size_t>(shape.elements()), 1.0)};
    const Array result = evaluate(graph, {{}, {ones}, {}, scalars_of(graph)}, &run_by_kernel).outputs[0];
    int kept = 0;
    for (std::size_t channel = 0; channel < 128; ++channel) {
      const double first = result.elements[6 * channel];
      for (std::size_t i = 0; i < 6; ++i) CHECK(result.elements[6 * channel + i] == first);
      CHECK((first == 0 || first == Approx(1 / 0.75)));
      kept += first != 0 ? 1 : 0;
    }
    CHECK(kept > 64);
    CHECK(kept < 128);
  };
  check_drops(Dims(8, 16, 6), [](Value x) { return nn::dropout1d(x, 0.25); });
  check_drops(Dims(8, 16, 3, 2), [](Value x) { return nn::dropout2d(x, 0.25); });
}
