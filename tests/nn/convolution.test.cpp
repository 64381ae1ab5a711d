// SPDX-License-Identifier: Apache-2.0
//
// Convolutional layers: names and shapes of their weights, what these start from, and that ResNets have the state
// dictionaries of torchvision. Models are traced, not compiled.

#include "examples/models/resnet.hpp"
#include "tests/support/tests_folder.hpp"

#include <twill/nn/convolution.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace twill;

namespace {

/// A line for each stored tensor: its name and its extents.
std::string dictionary_of(const graph::Graph& graph) {
  std::ostringstream lines;
  for (const graph::ParameterInfo& info : graph.parameters) {
    lines << info.name.view();
    for (int axis = 0; axis < info.shape.rank; ++axis) lines << ' ' << info.shape[axis].factor;
    lines << '\n';
  }
  return lines.str();
}

template <class Model> graph::Graph traced() {
  constexpr std::int64_t extent = 64;
  graph::Graph graph{};
  const auto image = twill::Input<Dim<"batch">, 3, extent, extent>::declare(graph);
  graph.outputs.push_back(Model::forward(image).id());
  REQUIRE(!graph.fault.any());
  return graph;
}

std::int64_t weights_of(const graph::Graph& graph) {
  std::int64_t count = 0;
  for (const graph::ParameterInfo& info : graph.parameters)
    if (info.role == graph::Role::weight) count += info.shape.elements().factor;
  return count;
}

/// The lines of tests/golden/resnet/<name>.txt, in any order.
std::multiset<std::string> lines_of(std::istream&& text) {
  std::multiset<std::string> lines{};
  for (std::string line; std::getline(text, line);) lines.insert(line);
  return lines;
}
std::multiset<std::string> golden_lines(const std::string& name) {
  return lines_of(std::ifstream{test::tests_folder() + "golden/resnet/" + name + ".txt"});
}

} // namespace

TEST_CASE("ResNets have the state dictionaries of torchvision", "[nn][resnet]") {
  const graph::Graph small = traced<models::ResNet18<64>>();
  CHECK(weights_of(small) == 11'689'512);
  CHECK(lines_of(std::istringstream{dictionary_of(small)}) == golden_lines("resnet18"));
  const graph::Graph large = traced<models::ResNet50<64>>();
  CHECK(weights_of(large) == 25'557'032);
  CHECK(lines_of(std::istringstream{dictionary_of(large)}) == golden_lines("resnet50"));
}

TEST_CASE("convolutional layers have PyTorch's weights", "[nn][convolution]") {
  graph::Graph graph{};
  const auto x = twill::Input<Dim<"batch">, 6, 9, 8>::declare(graph);
  const auto y = nn::conv2d(x, 4, "a", {.kernel = {3, 2}, .stride = 2, .padding = 1, .groups = 2});
  const auto z =
      nn::conv_transpose2d(y, 6, "b", {.kernel = 3, .stride = {2, 1}, .output_padding = {1, 0}, .groups = 2});
  CHECK(y.size(1) == 4);
  CHECK(y.size(2) == 5);
  CHECK(y.size(3) == 5);
  CHECK(z.size(1) == 6);
  CHECK(z.size(2) == 12);
  CHECK(z.size(3) == 7);
  const auto flat = twill::Input<Dim<"batch">, 6, 9>::declare(graph);
  CHECK(nn::conv1d(flat, 5, "c", {.kernel = 3, .bias = false}).size(2) == 7);
  CHECK(nn::conv_transpose1d(flat, 5, "d", {.kernel = 3}).size(2) == 11);
  CHECK(!graph.fault.any());
  CHECK(dictionary_of(graph) == "a.weight 4 3 3 2\na.bias 4\nb.weight 4 3 3 3\nb.bias 6\nc.weight 5 6 3\n"
                                "d.weight 6 5 3\nd.bias 5\n");
  // between -1/sqrt(k) and 1/sqrt(k) for k = second extent times area
  for (const auto& [number, fan_in] : {std::pair{0, 18.0}, {1, 18.0}, {2, 27.0}, {3, 27.0}, {4, 18.0}, {6, 15.0}}) {
    const graph::Initialiser& how = graph.parameters[static_cast<std::size_t>(number)].initialiser;
    CHECK(how.kind == graph::Initialiser::Kind::uniform_fan_in);
    CHECK(how.a == fan_in);
    CHECK(how.b == 1);
  }
}

TEST_CASE("layers refuse what makes no sense", "[nn][convolution]") {
  const auto problem = [](auto f) {
    graph::Graph graph{};
    const auto x = twill::Input<Dim<"batch">, 6, 9, 8>::declare(graph);
    static_cast<void>(f(x));
    return graph.fault.problem;
  };
  using enum graph::Problem;
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.kernel = 3, .groups = 4}); }) ==
        convolution_groups_do_not_divide_the_input_channels);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.kernel = 3, .groups = 3}); }) ==
        convolution_groups_do_not_divide_the_output_channels);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.kernel = 10}); }) ==
        convolution_kernel_is_larger_than_the_padded_input);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.kernel = 0}); }) == convolution_kernel_is_not_positive);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.stride = 0}); }) == convolution_stride_is_not_positive);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.dilation = 0}); }) == convolution_dilation_is_not_positive);
  CHECK(problem([](auto x) { return nn::conv2d(x, 4, "a", {.padding = -1}); }) == convolution_padding_is_negative);
  CHECK(problem([](auto x) { return nn::conv1d(x, 4, "a", {.kernel = 1}); }) == convolution_input_has_the_wrong_rank);
  CHECK(problem([](auto x) { return nn::conv_transpose2d(x, 4, "a", {.stride = 2, .output_padding = 2}); }) ==
        output_padding_is_not_less_than_the_stride);
  CHECK(problem([](auto x) { return nn::max_pool2d(x, {.window = 12}); }) ==
        pooling_window_is_larger_than_the_padded_input);
  CHECK(problem([](auto x) { return nn::adaptive_max_pool1d(x, 2); }) == pooling_input_has_the_wrong_rank);
}
