// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers at their edges: sequences of length 0, batches without rows, and padding that holds NaN, which nobody
// reads, in values or in gradients.

#include "tests/training/models.hpp"

#include <twill/nn/network.hpp>
#include <twill/nn/recurrent_layers.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::concatenate;
using graph::narrow;
using graph::Value;

namespace {

constexpr std::int64_t steps = 5;
constexpr std::int64_t total = 7;
constexpr std::int64_t width = 3;

/// All kinds of cells, their results one behind another along the first axis.
struct Cells {
  static constexpr auto forward(Input<steps, Dim<"rows">, 4> x, InputOf<std::int64_t, Dim<"rows">> lengths,
                                Input<2, Dim<"rows">, width> initial) {
    const Value first = narrow(initial, 0, 0, 1);
    const auto a = nn::rnn(x, width, "rnn", {.lengths = lengths, .total_length = total, .hidden = first});
    const auto b =
        nn::lstm(x, width, "lstm", {.lengths = lengths, .total_length = total, .hidden = first, .cell = first});
    const auto c =
        nn::gru(x, width, "gru",
                {.layers = 1, .is_bidirectional = true, .lengths = lengths, .total_length = total, .hidden = initial});
    const Value gru = concatenate({narrow(c.output, 2, 0, width), narrow(c.output, 2, width, width), c.hidden}, 0);
    return concatenate({concatenate({a.output, a.hidden}, 0), concatenate({b.output, b.hidden, b.cell}, 0), gru}, 0);
  }
};

/// Where in the result the steps of each output begin, and which states end it.
struct Part {
  std::size_t output = 0;
  std::size_t last = 0;
  std::size_t initial = 0; ///< the first state, of two
};
constexpr std::array<Part, 5> parts{{{0, 7, 0}, {8, 15, 0}, {8, 16, 0}, {17, 31, 0}, {24, 32, 1}}};
constexpr std::int64_t result_steps = 33;

struct Run {
  std::vector<double> y{};
  std::vector<double> gradients{};
  Dims shape{};
};

/// Values and gradients of a run; `padding` stands in x behind each row's length.
Run run(const std::vector<double>& weights, const std::vector<std::int64_t>& lengths, double padding) {
  nn::Network<Cells, Cpu, double> network{Cpu{0}};
  if (!weights.empty()) set_weights(network, weights);
  const auto rows = static_cast<std::int64_t>(lengths.size());
  std::vector<double> x = random_values<double>(steps * rows * 4);
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t k = 0; k < 4; ++k)
        if (step >= lengths[static_cast<std::size_t>(row)])
          x[static_cast<std::size_t>((step * rows + row) * 4 + k)] = padding;
  const auto y = network.forward(
      from_values<Shape<steps, dyn, 4>>(x, Dims(steps, rows, 4), Cpu{0}),
      from_values<Shape<dyn>>(lengths, Dims(rows), Cpu{0}),
      from_values<Shape<2, dyn, width>>(random_values<double>(2 * rows * width, 1), Dims(2, rows, width), Cpu{0}));
  nn::apply([](Value v) { return graph::sum(graph::square(v)); }, y).backward();
  return {to_vector(y.value()), gradients_of(network), y.shape()};
}

std::vector<double> some_weights() { return weights_of(nn::Network<Cells, Cpu, double>{Cpu{0}}); }

} // namespace

TEST_CASE("a sequence of length 0 gives zeros and keeps its first state", "[nn][TRAIN-2]") {
  const std::vector<std::int64_t> lengths{0, 5, 2, 0};
  const Run got = run(some_weights(), lengths, 0.5);
  REQUIRE(got.shape == Dims(result_steps, 4, width));
  const auto initial = random_values<double>(2 * 4 * width, 1);
  const auto at = [&](std::size_t step, std::size_t row, std::size_t k) { return got.y[(step * 4 + row) * width + k]; };
  for (const Part& part : parts)
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t k = 0; k < width; ++k) {
        for (std::size_t step = 0; step < total; ++step)
          CHECK((at(part.output + step, row, k) == 0) == (static_cast<std::int64_t>(step) >= lengths[row]));
        CHECK((at(part.last, row, k) == initial[(part.initial * 4 + row) * width + k]) == (lengths[row] == 0));
      }
  for (const double gradient : got.gradients) CHECK(std::isfinite(gradient));
}

TEST_CASE("padding is not read, in values or in gradients", "[nn][TRAIN-2]") {
  const auto weights = some_weights();
  const std::vector<std::int64_t> lengths{0, 5, 2, 1};
  const Run expected = run(weights, lengths, 0);
  for (const double padding :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    const Run got = run(weights, lengths, padding);
    CHECK(got.y == expected.y);
    CHECK(got.gradients == expected.gradients);
  }
}

TEST_CASE("batches without rows, or without steps, add nothing to gradients", "[nn][TRAIN-2]") {
  const auto weights = some_weights();
  const Run empty = run(weights, {}, 0);
  CHECK(empty.shape == Dims(result_steps, 0, width));
  const std::vector<double> zeros(weights.size(), 0.0);
  CHECK(empty.gradients == zeros);
  CHECK(run(weights, {0, 0}, std::numeric_limits<double>::quiet_NaN()).gradients == zeros);
}
