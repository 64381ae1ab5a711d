// SPDX-License-Identifier: Apache-2.0
//
// Parts that are computed again in the backward pass: the same bits as without, in staged runs and in planned steps, with
// dropout, and a smaller arena.

#include "tests/training/models.hpp"

#include <twill/compile/report/report.hpp>
#include <twill/graph/checkpoint_sequential.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/nn/spectral_norm.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Recompute;

namespace {

constexpr std::int64_t width = 16;

/// A norm, a product and dropout around a skip connection.
constexpr nn::Value block(nn::Value x, int number) {
  const nn::Scope scope{x.graph(), "block", number};
  const nn::Value hidden = nn::linear(nn::layer_norm(x, "norm"), width, "inner");
  return x + nn::dropout(tanh(hidden), 0.25);
}

/// Layers in equal parts.
template <int Layers, int Parts, Recompute Mode> struct Stack {
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    nn::Value y = x;
    for (int part = 0; part < Parts; ++part)
      y = checkpoint(
          [part](nn::Value value) {
            for (int layer = 0; layer < Layers / Parts; ++layer) value = block(value, part * (Layers / Parts) + layer);
            return value;
          },
          Mode)(y);
    return nn::linear(y, 3, "output");
  }
};

/// A weight that is made inside of a part and used outside as well.
template <Recompute Mode> struct Tied {
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    const auto [hidden, weight] = checkpoint(
        [](nn::Value value) {
          const nn::Value inner = nn::parameter(value.graph(), "tied", {3, width}, nn::initialise::normal(0, 1));
          return std::array{tanh(value * sum(inner)), inner};
        },
        Mode)(x);
    return nn::linear(hidden, weight);
  }
};

/// A weight that is divided by its largest singular value, whose vectors each run overwrites.
template <Recompute Mode> struct Spectral {
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    const nn::Value y = checkpoint(
        [](nn::Value value) {
          const nn::Value weight =
              nn::spectral_norm(value.graph(), "weight", {width, width}, nn::initialise::normal(0, 1));
          return tanh(nn::linear(value, weight));
        },
        Mode)(x);
    return nn::linear(y, 3, "output");
  }
};

/// A chain of recurrent layers over the rows as steps, the odd ones with both directions, and dropout.
template <int Layers, int Snapshots, Recompute Mode> struct Recurrent {
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    const auto layer = [](nn::Value steps, int number) {
      const nn::Scope scope{steps.graph(), "layer", number};
      const bool both = number % 2 == 1;
      return nn::dropout(nn::lstm(steps, both ? width / 2 : width, "lstm", {.is_bidirectional = both}).output, 0.25);
    };
    const nn::Value y = checkpoint_sequential(layer, {.parts = Layers, .snapshots = Snapshots, .recompute = Mode})(
        graph::unsqueeze(x, 1));
    return nn::linear(graph::squeeze(y, 1), 3, "output");
  }
};

// region: chain
struct Deep {
  static constexpr auto forward(Input<Dim<"batch">, width> x) {
    const nn::Value hidden = checkpoint_sequential([](nn::Value value, int layer) { return block(value, layer); },
                                                   {.parts = 12, .snapshots = 3})(x);
    return nn::linear(hidden, 3, "output");
  }
};
static_assert(extra_evaluations(12, 3) == 21); // 11 with a snapshot for each part, as in PyTorch
// end region

using Plain = Stack<4, 2, Recompute::no>;
using Again = Stack<4, 2, Recompute::yes>;

template <class Model> std::vector<double> staged_gradients(const auto& x, const auto& label) {
  manual_seed_all(7);
  nn::Network<Model, Cpu, float> model{Cpu{0}};
  auto loss = nn::cross_entropy(model.forward(x), label);
  std::vector<double> result{static_cast<double>(loss.item())};
  loss.backward();
  for (const double gradient : gradients_of(model)) result.push_back(gradient);
  return result;
}

template <class Model> std::vector<double> trained(const auto& x, const auto& label) {
  manual_seed_all(7);
  nn::Network<Model, Cpu, float> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  std::vector<double> result{};
  for (int i = 0; i < 3; ++i) result.push_back(static_cast<double>(step(x, label).item()));
  for (const double weight : weights_of(model)) result.push_back(weight);
  return result;
}

/// The source of a step.
template <class Model>
using StepOf = training::WholeStep<Model, float, std::remove_const_t<decltype(nn::cross_entropy)>, optim::Sgd,
                                   compile::Argument<std::int64_t, Shape<dyn>>>;

/// Bytes of the arena of a step on so many rows, in activations of one layer. Lowered now, so that nothing is compiled.
template <class Model> double activations_of_step(std::int64_t rows) {
  const compile::Lowered lowered = compile::lower(StepOf<Model>::trace());
  graph::SymbolValues symbols{};
  symbols.fill(rows);
  return static_cast<double>(compile::bind(compile::view_of(lowered), symbols).arena_bytes) /
         static_cast<double>(rows * width * 4);
}

} // namespace

TEST_CASE("a part that is computed again gives the same bits", "[training][TRAIN-5]") {
  const auto x = random_rows<float, width>(Cpu{0}, 37);
  const auto label = random_labels(Cpu{0}, 37, 3);
  CHECK(staged_gradients<Plain>(x, label) == staged_gradients<Again>(x, label));
  CHECK(staged_gradients<Tied<Recompute::no>>(x, label) == staged_gradients<Tied<Recompute::yes>>(x, label));
  CHECK(trained<Plain>(x, label) == trained<Again>(x, label));
}

TEST_CASE("a chain of recurrent layers that are computed again several times gives the same bits",
          "[training][TRAIN-5]") {
  const auto x = random_rows<float, width>(Cpu{0}, 11);
  const auto label = random_labels(Cpu{0}, 11, 3);
  using KeptChain = Recurrent<3, 1, Recompute::no>;
  using ChainAgain = Recurrent<3, 1, Recompute::yes>;
  CHECK(staged_gradients<KeptChain>(x, label) == staged_gradients<ChainAgain>(x, label));
  CHECK(trained<KeptChain>(x, label) == trained<ChainAgain>(x, label));
}

TEST_CASE("what a part reads of a buffer is what the forward pass read", "[training][TRAIN-5]") {
  const auto x = random_rows<float, width>(Cpu{0}, 37);
  const auto label = random_labels(Cpu{0}, 37, 3);
  CHECK(trained<Spectral<Recompute::no>>(x, label) == trained<Spectral<Recompute::yes>>(x, label));
}

TEST_CASE("n layers in k parts that are computed again keep about k + n/k activations", "[training][TRAIN-5]") {
  const double plain = activations_of_step<Stack<12, 4, Recompute::no>>(4096);
  const double again = activations_of_step<Stack<12, 4, Recompute::yes>>(4096);
  CAPTURE(plain, again);
  const double per_layer = plain / 12;
  CHECK(again < 4 + 12 / 4 * per_layer + 2); // inputs of parts, the inside of one, what is at work
  CHECK(again < 0.4 * plain);
}

TEST_CASE("a chain keeps its snapshots, and the inside or the steps of one part", "[training][TRAIN-5]") {
  const double layer = activations_of_step<Stack<12, 4, Recompute::no>>(4096) / 12;
  const double chain = activations_of_step<Deep>(4096);
  CAPTURE(layer, chain);
  CHECK(chain < 3 + layer + 3); // inputs of layers, the inside of one, what is at work
  const double plain = activations_of_step<Recurrent<6, 2, Recompute::no>>(4096);
  const double again = activations_of_step<Recurrent<6, 2, Recompute::yes>>(4096);
  CAPTURE(plain, again);
  CHECK(again < 2 + 2 * plain / 6 + 3);
}
