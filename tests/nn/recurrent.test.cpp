// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers against PyTorch's numbers (tests/golden/scripts/recurrent.py): all results and the gradients of all
// weights, for whole batches and for rows of different lengths.

#include "tests/support/golden.hpp"
#include "tests/support/numbers.hpp"

#include <twill/nn/network.hpp>
#include <twill/nn/projected_lstm.hpp>
#include <twill/tensor/create.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr Value flat(Value x) { return graph::flatten(x, 0); }

/// Everything a layer returns, one behind another.
constexpr Value all_of(const nn::Recurrent& result) {
  if (result.cell.id() < 0) return graph::concatenate({flat(result.output), flat(result.hidden)}, 0);
  return graph::concatenate({flat(result.output), flat(result.hidden), flat(result.cell)}, 0);
}

struct Packed {
  static constexpr auto forward(Input<5, 3, 4> x, InputOf<std::int64_t, 3> lengths) {
    return all_of(nn::lstm(x, 3, "lstm", {.lengths = lengths}));
  }
};
struct PackedRowsFirst {
  static constexpr auto forward(Input<3, 5, 4> x, InputOf<std::int64_t, 3> lengths) {
    return all_of(
        nn::gru(x, 3, "gru", {.is_bidirectional = true, .batch_first = true, .lengths = lengths, .total_length = 7}));
  }
};
struct TwoLayersBothWays {
  static constexpr auto forward(Input<5, 3, 4> x, Input<4, 3, 3> hidden) {
    return all_of(nn::rnn(x, 3, "rnn", {.layers = 2, .is_bidirectional = true, .hidden = hidden}));
  }
};
struct Rectified {
  static constexpr auto forward(Input<5, 3, 4> x) {
    return all_of(nn::rnn(x, 3, "relu", {.bias = false, .function = nn::RnnFunction::relu}));
  }
};
struct Projected {
  static constexpr auto forward(Input<5, 3, 4> x, InputOf<std::int64_t, 3> lengths, Input<4, 3, 2> hidden,
                                Input<4, 3, 3> cell) {
    return all_of(nn::projected_lstm(
        x, 3, 2, "projected",
        {.layers = 2, .is_bidirectional = true, .lengths = lengths, .hidden = hidden, .cell = cell}));
  }
};

constexpr auto sum_of_squares = [](Value y) { return graph::sum(graph::square(y)); };

void check(const std::vector<double>& got, const std::string& name) {
  const std::vector<double> expected = golden("recurrent/" + name).values;
  INFO(name);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-10).margin(1e-12));
}

template <class Model, class... Inputs> void check_layer(const std::string& name, const Inputs&... inputs) {
  nn::Network<Model, Cpu, double> model{Cpu{0}};
  const auto golden_name = [&](std::string_view key, const std::string& what) {
    return name + what + std::string{key.substr(key.find('.') + 1)};
  };
  for (auto& view : model.parameters()) {
    const std::vector<double> values = golden("recurrent/" + golden_name(view.name, "_")).values;
    REQUIRE(static_cast<std::int64_t>(values.size()) == view.shape.elements());
    std::copy(values.begin(), values.end(), static_cast<double*>(view.buffer.data()));
  }
  auto y = model.forward(inputs...);
  check(numbers(y.value()), name + "_y");
  nn::apply(sum_of_squares, y).backward();
  for (auto& view : model.parameters()) {
    const auto* data = static_cast<const double*>(view.gradient.data());
    check({data, data + view.shape.elements()}, golden_name(view.name, "_grad_"));
  }
}

template <class S> Tensor<double, Cpu, S> golden_tensor(const std::string& name) {
  return from_values<S>(golden("recurrent/" + name).values, S::dims(), Cpu{0});
}
Tensor<std::int64_t, Cpu, Shape<3>> golden_lengths() {
  std::vector<std::int64_t> lengths{};
  for (const double length : golden("recurrent/lengths").values) lengths.push_back(static_cast<std::int64_t>(length));
  return from_values<Shape<3>>(lengths, Dims(3), Cpu{0});
}

} // namespace

TEST_CASE("rows of different lengths are those of PyTorch's packed sequences", "[nn][TRAIN-2]") {
  const auto x = golden_tensor<Shape<5, 3, 4>>("x");
  check_layer<Packed>("lstm", x, golden_lengths());
  check_layer<PackedRowsFirst>("gru", Tensor<double, Cpu, Shape<3, 5, 4>>(x.permute<1, 0, 2>().clone()),
                               golden_lengths());
}

TEST_CASE("plain recurrent layers, deep and in both directions, are PyTorch's", "[nn][TRAIN-2]") {
  const auto x = golden_tensor<Shape<5, 3, 4>>("x");
  check_layer<TwoLayersBothWays>("rnn", x, golden_tensor<Shape<4, 3, 3>>("hidden"));
  check_layer<Rectified>("relu", x);
}

TEST_CASE("projected outputs of an LSTM, deep, in both directions and of different lengths, are PyTorch's",
          "[nn][TRAIN-2]") {
  check_layer<Projected>("projected", golden_tensor<Shape<5, 3, 4>>("x"), golden_lengths(),
                         golden_tensor<Shape<4, 3, 2>>("projected_hidden"), golden_tensor<Shape<4, 3, 3>>("hidden"));
}

TEST_CASE("an LSTM refuses to project its outputs to no features, and states of other widths", "[nn]") {
  const auto problem = [](std::int64_t projection, std::int64_t width) {
    graph::Graph graph{DType::float32};
    const Value x{graph, graph.add_input(DType::float32, {{5, 0}, {2, 0}, {4, 0}})};
    const Value state{graph, graph.add_input(DType::float32, {{1, 0}, {2, 0}, {width, 0}})};
    static_cast<void>(nn::projected_lstm(x, 3, projection, "lstm", {.hidden = state}));
    return graph.fault.problem;
  };
  CHECK(problem(2, 2) == graph::Problem::none);
  CHECK(problem(0, 2) == graph::Problem::recurrent_layer_has_no_hidden_features);
  CHECK(problem(2, 3) == graph::Problem::recurrent_state_has_another_shape_than_layers_rows_hidden);
}
