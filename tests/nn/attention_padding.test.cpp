// SPDX-License-Identifier: Apache-2.0
//
// Keys that are padding, in both forms of multi-head attention: what they hold changes nothing, alone and beside a mask of the
// scores; a sample of padding alone passes on the projection's bias; training steps of both forms agree.

#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/network.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

constexpr std::int64_t rows = 5;
constexpr std::int64_t width = 8;

enum class Beside { nothing, bool_mask, added_mask };

template <nn::AttentionForm Form, Beside beside> struct Padded {
  static constexpr auto forward(Input<Dim<"batch">, rows, width> x, InputOf<bool, Dim<"batch">, rows> padding,
                                Input<rows, rows> mask) {
    nn::AttentionOptions options{.key_padding_mask = padding, .form = Form};
    if (beside == Beside::bool_mask) options.mask = mask > -0.5;
    if (beside == Beside::added_mask) options.mask = mask;
    const Value y = nn::multi_head_attention(x, x, x, 2, "heads", options);
    return beside == Beside::nothing ? y + graph::sum(mask) * 0.0 : y;
  }
};

using Images = Tensor<double, Cpu, Shape<dyn, rows, width>>;
using Padding = Tensor<bool, Cpu, Shape<dyn, rows>>;

/// Three samples: no padding, two rows of it, and nothing else.
Padding paddings() {
  const std::vector<std::int64_t> values{0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1};
  return eval(from_values<Shape<dyn, rows>>(values, Dims(3, rows), Cpu{0}) > 0);
}

Images images(const std::vector<double>& values) {
  return from_values<Shape<dyn, rows, width>>(values, Dims(3, rows, width), Cpu{0});
}

constexpr auto sum_of_squares = [](Value y) { return graph::sum(graph::square(y)); };

/// What the model gives, then every gradient.
template <class Model>
std::vector<double> results(Model& model, const Images& x, const Tensor<double, Cpu, Shape<rows, rows>>& mask) {
  auto y = model.forward(x, paddings(), mask);
  std::vector<double> all = numbers(y.value());
  nn::apply(sum_of_squares, y).backward();
  for (auto& view : model.parameters()) {
    const auto* data = static_cast<const double*>(view.gradient.data());
    all.insert(all.end(), data, data + view.shape.elements());
  }
  return all;
}

template <Beside beside> void check() {
  nn::Network<Padded<nn::AttentionForm::composed, beside>, Cpu, double> composed{Cpu{0}};
  nn::Network<Padded<nn::AttentionForm::streamed, beside>, Cpu, double> streamed{Cpu{0}};
  auto from = composed.parameters();
  auto to = streamed.parameters();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto* data = static_cast<const double*>(from[i].buffer.data());
    std::copy(data, data + from[i].shape.elements(), static_cast<double*>(to[i].buffer.data()));
  }
  const auto mask = randn<double, Shape<rows, rows>>(Cpu{0});
  std::vector<double> values = numbers(randn<double, Shape<dyn, rows, width>>(Dims(3, rows, width), Cpu{0}));
  const std::vector<double> expected = results(composed, images(values), mask);
  const std::vector<double> got = results(streamed, images(values), mask);
  REQUIRE(largest_difference(got, expected) < 1e-10);

  // The padding of the second sample holds something else: its other queries see the same.
  std::vector<double> others = values;
  constexpr std::size_t sample = rows * width;
  const std::size_t padded[2] = {sample + 2 * width, sample + 4 * width};
  for (std::size_t first : padded)
    for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) others[first + i] += 1 + static_cast<double>(i);
  const auto check_rows = [&](auto& model) {
    const std::vector<double> before = numbers(model.forward(images(values), paddings(), mask).value());
    const std::vector<double> after = numbers(model.forward(images(others), paddings(), mask).value());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t row = i / static_cast<std::size_t>(width);
      if (row != padded[0] / width && row != padded[1] / width) CHECK(before[i] == after[i]);
      if (row >= 2 * static_cast<std::size_t>(rows)) CHECK(before[i] == 0); // the bias, which starts as zeros
    }
    const std::size_t changed = padded[0];
    CHECK(before[changed] != after[changed]);
  };
  check_rows(composed);
  check_rows(streamed);
}

} // namespace

TEST_CASE("keys that are padding change nothing in either form of attention", "[nn][TRAIN-2]") {
  check<Beside::nothing>();
  check<Beside::bool_mask>();
  check<Beside::added_mask>();
}
