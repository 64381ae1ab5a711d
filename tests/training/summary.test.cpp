// SPDX-License-Identifier: Apache-2.0
#include <twill/nn.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/training/summary.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace twill;

namespace {

/// A convolution, two layers in a block, a frozen weight, and a tied one.
struct Net {
  static constexpr auto forward(Input<Dim<"batch">, 3, 8, 8> image) {
    const auto convolved = [&] {
      const nn::Scope scope{image.graph(), "conv"};
      const auto weight = nn::parameter(image.graph(), "weight", {4, 3, 3, 3}, nn::initialise::kaiming_uniform());
      const auto bias = nn::parameter(image.graph(), "bias", {4}, nn::initialise::zeros());
      return graph::conv2d(image, weight, bias, {.padding = 1});
    };
    auto x = relu(convolved());
    x = graph::flatten(x, 1);
    const nn::Scope block{x.graph(), "block", 1};
    const auto tied = nn::parameter(x.graph(), "tied", {256, 256}, nn::initialise::eye());
    x = nn::linear(nn::linear(x, tied), tied);
    x = x * nn::parameter(x.graph(), "frozen", {256}, nn::initialise::ones(), nn::Trainable::no);
    return nn::linear(nn::layer_norm(x, "norm"), 10, "head");
  }
};

const training::LayerSummary& layer(const training::Summary& summary, const std::string& name) {
  for (const training::LayerSummary& each : summary.layers)
    if (each.name == name) return each;
  FAIL("no layer " << name);
  return summary.total;
}

} // namespace

TEST_CASE("a summary counts shapes, parameters, operations and bytes of each layer", "[training][TRAIN-2]") {
  const training::Summary net = summary<Net>({{"batch", 5}});
  const auto& conv = layer(net, "conv");
  CHECK(conv.parameters == 4 * 3 * 9 + 4);
  CHECK(conv.output == Dims(5, 4, 8, 8));
  CHECK(conv.flops == 2 * 5 * 4 * 64 * 27 + 5 * 4 * 64); // products and sums, and the bias
  CHECK(conv.output_bytes == 5 * 4 * 64 * 4);
  const auto& block = layer(net, "block1");
  CHECK(block.parameters == 256 * 256 + 256);
  CHECK(block.trainable == 256 * 256);
  CHECK(block.flops == 2 * 2 * 5 * 256 * 256 + 5 * 256);
  CHECK(layer(net, "block1.norm").parameters == 512);
  CHECK(layer(net, "block1.head").parameter_bytes == (2560 + 10) * 4);
  CHECK(net.total.parameters == 112 + 65536 + 256 + 512 + 2570);
  CHECK(net.total.trainable == net.total.parameters - 256);
  CHECK(net.total.output == Dims(5, 10));
  CHECK(net.layers.back().name == "(model)"); // the relu stands in no scope
  CHECK(summary<Net, half>().total.parameter_bytes == 2 * net.total.parameters + 2 * 512); // norms stay float32
  std::int64_t flops = 0;
  for (const auto& each : net.layers) flops += each.flops;
  CHECK(flops == net.total.flops);
}

TEST_CASE("a summary prints as a table", "[training][TRAIN-2]") {
  const std::string text = to_string(summary<Net>());
  INFO(text);
  CHECK(text.find("layer        output        parameters") == 0);
  CHECK(text.find("\nblock1.head  (1, 10)  ") != std::string::npos);
  CHECK(text.find("\ntotal        (1, 10)            68986") != std::string::npos);
}
