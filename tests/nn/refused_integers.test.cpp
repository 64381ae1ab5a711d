// SPDX-License-Identifier: Apache-2.0
//
// Tokens outside of an embedding, lengths beyond the steps and labels that are no classes are refused by layer and value, in
// every form of a run, before anything has changed.

#include "tests/training/models.hpp"

#include <twill/nn.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/training/train_step.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;
using Catch::Contains;

namespace {

/// Rows of three tokens, some shorter, and what class each is.
struct Reader {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"batch">, 3> tokens,
                                InputOf<std::int64_t, Dim<"batch">> lengths) {
    const nn::Scope scope{tokens.graph(), "reader"};
    const auto x = nn::embedding(tokens, 7, 4, "tokens");
    const auto states = nn::rnn(x, 5, "cells", {.batch_first = true, .lengths = lengths}).hidden;
    return nn::linear(graph::select(states, 0, 0), 2, "classes");
  }
};

Tensor<std::int64_t, Cpu, Shape<dyn, 3>> tokens_with(std::int64_t last) {
  return from_values<Shape<dyn, 3>>(std::vector<std::int64_t>{0, 1, 6, 3, 2, last}, Dims(2, 3), Cpu{0});
}
Tensor<std::int64_t, Cpu, Shape<dyn>> pair_with(std::int64_t last) {
  return from_values(std::vector<std::int64_t>{1, last}, Dims(2), Cpu{0});
}

} // namespace

TEST_CASE("what points outside is refused by layer and value, and changes nothing", "[nn][TRAIN-2]") {
  nn::Network<Reader> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto good = tokens_with(5);
  const auto lengths = pair_with(3);
  const auto labels = pair_with(0);
  static_cast<void>(step(good, lengths, labels).item());
  const auto before = weights_of(model);
  const std::string wrong_token =
      "reader.tokens: an index of an embedding has to be between 0 and 6; element 5 of argument 1 of forward is 7";
  CHECK_THROWS_WITH(step(tokens_with(7), lengths, labels), Contains(wrong_token));
  CHECK_THROWS_AS(step(tokens_with(-1), lengths, labels), IndexError);
  CHECK_THROWS_WITH(step(good, pair_with(4), labels),
                    Contains("reader.cells: a length has to be between 0 and 3") && Contains("is 4"));
  CHECK_THROWS_WITH(step(good, lengths, pair_with(2)),
                    Contains("a label has to be between 0 and 1") && Contains("is 2"));
  CHECK_THROWS_AS(step.checked(good, lengths, pair_with(-1)), IndexError);
  CHECK(weights_of(model) == before);
  CHECK(step.steps() == 1);
  static_cast<void>(step(good, lengths, labels).item()); // and it can go on

  CHECK_THROWS_WITH(model.forward(tokens_with(7), lengths), Contains(wrong_token));
  CHECK_THROWS_WITH(model.infer(tokens_with(7), lengths), Contains(wrong_token));
  CHECK_THROWS_AS(nn::cross_entropy(model.forward(good, lengths), pair_with(9)), IndexError);
}

TEST_CASE("a replica refuses what points outside, and its peers end", "[nn][parallel][PAR-1]") {
  nn::Network<Reader> model{Cpu{0}};
  DataParallel parallel{model, {.devices = {Cpu{0}, Cpu{1}}}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  CHECK_THROWS_WITH(step(tokens_with(7), pair_with(3), pair_with(0)), Contains("cpu:1") && Contains("is 7"));
}
