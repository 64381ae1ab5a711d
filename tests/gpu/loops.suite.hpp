#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Loops traced once, recurrent layers and parts that are computed again, on a GPU against the host: plain runs first, then
// captured ones, in which the launches of all steps are one graph.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/graph/checkpoint.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <cstdint>
#include <vector>

namespace twill::test { namespace loops_suite {

using D = TestedDevice;

/// A GRU over 4 steps, whose states go through a part that is computed again, with dropout.
struct Reader {
  static constexpr auto forward(Input<Dim<"batch">, 4, 3> x) {
    const auto result = nn::gru(x, 5, "gru", {.batch_first = true});
    const auto states = graph::reshape(result.hidden, state_shape(x));
    const auto seen =
        checkpoint([](nn::Value v) { return tanh(nn::dropout(nn::linear(v, 6, "inner"), 0.25)); })(states);
    return nn::linear(seen, 3, "output");
  }
  static constexpr graph::Extents state_shape(nn::Value x) {
    graph::Extents shape{};
    shape.append(x.shape()[0]);
    shape.append({5, 0});
    return shape;
  }
};

template <class Device> std::vector<double> trained(Device device) {
  manual_seed_all(4);
  nn::Network<Reader, Device, double> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  std::vector<double> numbers{};
  const auto x = from_values<Shape<dyn, 4, 3>>(random_values<double>(84, 3), Dims(7, 4, 3), device);
  for (std::uint64_t i = 0; i < 5; ++i) numbers.push_back(step(x, random_labels(device, 7, 3, i)).item());
  for (double weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}
inline void recurrent_training() {
  const auto there = trained(D{0});
  const auto here = trained(Cpu{0});
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-11);
  require_equal(trained(D{0}), there);
}
const Case recurrent_case{"a recurrent layer with a part computed again trains on a GPU as on the host",
                          &recurrent_training};

/// What every step draws and keeps, and its gradient, in a loop from the last step to the first.
template <class Device> std::vector<double> drawn(Device device) {
  struct Thinned {
    constexpr auto operator()(graph::Value x) const {
      const graph::Value start = graph::constant(x.graph(), DType::float64, 0);
      const auto result = graph::scan(std::array{start}, std::array{x},
                                      [](graph::Value total, graph::Value element) {
                                        const graph::Value draws =
                                            graph::random_uniform(element.graph(), element.shape());
                                        const graph::Value kept = where(draws < 0.5, 0.0, element);
                                        return graph::Step<1, 1>{{total + sum(kept * kept)}, {kept}};
                                      },
                                      {.reversed = true});
      return std::array{result.results[0], graph::gradient(result.carry[0], x)};
    }
  };
  manual_seed_all(9);
  const auto x = from_values<Shape<dyn, 6>>(random_values<double>(30, 5), Dims(5, 6), device);
  const auto [kept, gradient] = compiled(Thinned{})(x);
  std::vector<double> numbers{};
  for (double value : to_vector(kept)) numbers.push_back(value);
  for (double value : to_vector(gradient)) numbers.push_back(value);
  return numbers;
}
inline void draws_of_steps() { require_equal(drawn(D{0}), drawn(Cpu{0})); }
const Case draws_case{"the steps of a loop draw the same numbers on a GPU as on the host", &draws_of_steps};

/// What the steps of a loop in a loop see and draw, and the gradient: the inner one goes back and reads the outer state.
template <class Device> std::vector<double> nested(Device device) {
  struct Nested {
    constexpr auto operator()(graph::Value h, graph::Value x) const {
      const auto outer_step = [](graph::Value state, graph::Value rows) {
        const auto inner_step = [state](graph::Value t, graph::Value row) {
          const graph::Value draws = graph::random_uniform(row.graph(), row.shape());
          const graph::Value next = tanh(t + where(draws < 0.5, 0.0, row) * state);
          return graph::Step<1, 1>{{next}, {next * row}};
        };
        const auto inner = graph::scan(std::array{0.5 * state}, std::array{rows}, inner_step, {.reversed = true});
        return graph::Step<1, 1>{{inner.carry[0] + 0.1 * state}, {inner.results[0]}};
      };
      const auto outer = graph::scan(std::array{h}, std::array{x}, outer_step);
      const auto loss = sum(outer.carry[0] * outer.carry[0]) + sum(outer.results[0]);
      const auto [by_h, by_x] = graph::gradients(loss, std::array{h, x});
      return std::array{outer.results[0], by_h, by_x};
    }
  };
  manual_seed_all(11);
  const auto h = from_values<Shape<6>>(random_values<double>(6, 2), Dims(6), device);
  const auto x = from_values<Shape<dyn, dyn, 6>>(random_values<double>(72, 5), Dims(3, 4, 6), device);
  const auto [seen, by_h, by_x] = compiled(Nested{})(h, x);
  std::vector<double> numbers = to_vector(seen);
  for (double value : to_vector(by_h)) numbers.push_back(value);
  for (double value : to_vector(by_x)) numbers.push_back(value);
  return numbers;
}
inline void loops_in_loops() {
  const auto there = nested(D{0});
  const auto here = nested(Cpu{0});
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-11);
}
const Case nested_case{"a loop in a loop runs on a GPU as on the host", &loops_in_loops};

}} // namespace twill::test::loops_suite
