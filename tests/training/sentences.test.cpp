// SPDX-License-Identifier: Apache-2.0
//
// Mistakes that only a running program can meet, each with the whole sentence that it is refused with: the call, the argument,
// both values.

#include <twill/compile/transforms.hpp>
#include <twill/data.hpp>
#include <twill/expr.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/data/data_parallel_step.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/tensor.hpp>
#include <twill/training.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace twill;

namespace {

struct Classifier {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 3, "output"); }
};
struct Pair {
  static constexpr auto forward(Input<Dim<"batch">, 4> x, Input<Dim<"batch">, 4> y) {
    return nn::linear(x * y, 3, "output");
  }
};
struct Tokens {
  static constexpr auto forward(InputOf<std::int64_t, Dim<"batch">> tokens) {
    return nn::embedding(tokens, 7, 4, "tokens");
  }
};
struct Normalised {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::batch_norm(x, "norm"); }
};
struct Head {
  static constexpr auto forward(Input<Dim<"batch">, 3> x) { return nn::linear(x, 2, "head"); }
};
struct SquaredDistance {
  constexpr graph::Value operator()(graph::Value a, graph::Value b) const { return sum((a - b) * (a - b)); }
};

auto rows(std::int64_t count, std::int64_t width, Cpu device = Cpu{0}) {
  return full<float, Shape<dyn, dyn>>(Dims(count, width), 1.0F, device);
}
auto numbers(std::int64_t count) { return full<float, Shape<dyn>>(Dims(count), 1.0F); }
auto labels(std::vector<std::int64_t> values, Cpu device = Cpu{0}) {
  const auto count = static_cast<std::int64_t>(values.size());
  return from_values(std::move(values), Dims(count), device);
}

/// The text of the error that a call throws.
template <class F> std::string refusal(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

} // namespace

TEST_CASE("a wrong shape is refused by model, call and argument", "[training][errors]") {
  nn::Network<Classifier> model{Cpu{0}};
  nn::Network<Pair> pair{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  auto summed = accumulated_step(model, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] { static_cast<void>(model.infer(rows(3, 12))); }) ==
        "infer(Classifier): argument 1 of forward, axis 1: the model takes 4, got 12");
  CHECK(refusal([&] { static_cast<void>(model.forward(rows(3, 12))); }) ==
        "forward(Classifier): argument 1 of forward, axis 1: the model takes 4, got 12");
  CHECK(refusal([&] {
          step(rows(3, 12), labels({0, 1, 2}));
        }) == "train_step(Classifier): argument 1 of forward, axis 1: the model takes 4, got 12");
  CHECK(
      refusal([&] {
        step(rows(3, 4), labels({0, 1}));
      }) ==
      "train_step(Classifier): target 1, axis 0 (\"batch\"): the loss takes 3, as in axis 0 of argument 1 of forward, got 2");
  CHECK(refusal([&] {
          summed.add(rows(3, 5), labels({0, 1, 2}));
        }) == "add(Classifier): argument 1 of forward, axis 1: the model takes 4, got 5");
  CHECK(
      refusal([&] { static_cast<void>(pair.infer(rows(3, 4), rows(2, 4))); }) ==
      "infer(Pair): argument 2 of forward, axis 0 (\"batch\"): the model takes 3, as in axis 0 of argument 1 of forward, got 2");
  CHECK(
      refusal([&] { step(rows(0, 4), labels({})); }) ==
      "train_step(Classifier): the batch is empty, with arguments of shapes (0, 4), (0,); a step takes at least one row");
  nn::Network<Normalised> normalised{Cpu{0}};
  CHECK(refusal([&] { static_cast<void>(normalised.forward(rows(1, 4))); }) ==
        "forward(Normalised): norm: batch_norm needs several values per channel to train, at least 2, got 1");
  nn::Network<nn::Autocast<Classifier, bfloat16>> narrow{Cpu{0}};
  CHECK(refusal([&] { static_cast<void>(narrow.infer(rows(3, 12))); }) ==
        "infer(Classifier): argument 1 of forward, axis 1: the model takes 4, got 12");
}

TEST_CASE("integers that point outside are refused by model, layer and argument", "[training][errors]") {
  nn::Network<Classifier> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] {
          step(rows(2, 4), labels({0, 3}));
        }) == "train_step(Classifier): a label has to be between 0 and 2; element 1 of target 1 is 3");
  nn::Network<Tokens> tokens{Cpu{0}};
  CHECK(
      refusal([&] {
        static_cast<void>(tokens.infer(labels({1, 7})));
      }) ==
      "infer(Tokens): tokens: an index of an embedding has to be between 0 and 6; element 1 of argument 1 of forward is 7");
}

TEST_CASE("a tensor on another device is refused by model, call and argument", "[training][errors]") {
  nn::Network<Pair> pair{Cpu{0}};
  nn::Network<Classifier> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] { static_cast<void>(pair.infer(rows(3, 4), rows(3, 4, Cpu{1}))); }) ==
        "infer(Pair): argument 2 of forward is on cpu:1, the model on cpu:0; move one with to(device)");
  CHECK(refusal([&] { static_cast<void>(model.forward(rows(3, 4, Cpu{1}))); }) ==
        "forward(Classifier): argument 1 of forward is on cpu:1, the model on cpu:0; move one with to(device)");
  CHECK(refusal([&] { step(rows(1, 4), labels({0}, Cpu{1})); }) ==
        "train_step(Classifier): target 1 is on cpu:1, the model on cpu:0; move one with to(device)");
  CHECK(refusal([&] {
          static_cast<void>(compiled(SquaredDistance{})(numbers(3), full<float, Shape<dyn>>(Dims(3), 1.0F, Cpu{1})));
        }) == "call: operands are on cpu:0 and cpu:1; move one with to(device)");
}

TEST_CASE("a wrong shape is refused by the name of a function, or where a lambda was compiled", "[training][errors]") {
  const int here = __LINE__ + 1;
  const auto distance = compiled(SquaredDistance{});
  CHECK(refusal([&] { static_cast<void>(distance(numbers(3), numbers(4))); }) ==
        "SquaredDistance (sentences.test.cpp:" + std::to_string(here) +
            "): argument 2, axis 0: the function takes 3, as in axis 0 of argument 1, got 4");
  CHECK(refusal([] { static_cast<void>(grad(SquaredDistance{})(numbers(3), numbers(4))); }) ==
        "grad(SquaredDistance): argument 2, axis 0: the function takes 3, as in axis 0 of argument 1, got 4");
  CHECK(refusal([] {
          static_cast<void>(jvp(SquaredDistance{}, std::tuple{numbers(3), numbers(3)}, numbers(4)));
        }) == "jvp(SquaredDistance): tangent 1, axis 0: the function takes 3, as in axis 0 of argument 1, got 4");
  constexpr auto add = [](auto a, auto b) { return a + b; };
  const int line = __LINE__ + 1;
  const auto added = compiled(add);
  CHECK(refusal([&] { static_cast<void>(added(numbers(3), numbers(4))); }) ==
        "compiled function (sentences.test.cpp:" + std::to_string(line) +
            "): argument 2, axis 0: the function takes 3, as in axis 0 of argument 1, got 4");
}

TEST_CASE("replicas and stages are named before the call", "[training][errors]") {
  nn::Network<Classifier> model{Cpu{0}};
  DataParallel parallel{model, {.devices = {Cpu{0}, Cpu{1}}}};
  auto step = train_step(parallel, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] {
          step(rows(4, 5), labels({0, 1, 2, 0}));
        }) == "replica 0 on cpu:0: train_step(Classifier): argument 1 of forward, axis 1: the model takes 4, got 5");
  pipeline::BasicPipeline<pipeline::GPipe, float, Cpu, Classifier, Head> stages{{Cpu{0}, Cpu{1}}};
  auto staged = train_step(stages, nn::cross_entropy, optim::Sgd{}, {.micro_batches = 2});
  CHECK(refusal([&] {
          staged(rows(4, 5), labels({0, 1, 1, 0}));
        }) == "pipeline(Classifier): argument 1 of forward, axis 1: the model takes 4, got 5");
  CHECK(refusal([&] { staged(rows(1, 4), labels({0})); }) == "train_step: 1 rows make 1 micro-batches, not 2");
  CHECK(refusal([&] {
          pipeline::BasicPipeline<pipeline::GPipe, float, Cpu, Classifier, Head> wrong{{Cpu{0}, Cpu{0}, Cpu{1}}};
        }) == "Pipeline: GPipe with 2 stages runs on 2 devices, got 3");
}

TEST_CASE("a staged run out of order is refused", "[training][errors]") {
  nn::Network<Classifier> model{Cpu{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] { static_cast<void>(model.forward(rows(3, 4)).backward()); }) ==
        "backward: the value has shape (3, 3), not one element");
  CHECK(refusal([&] { static_cast<void>(model.gradient<"output.weight">()); }) ==
        "gradient: 'output.weight' has none; call backward first");
  CHECK(refusal([&] {
          const nn::NoGrad scope{};
          sum(model.forward(rows(3, 4))).backward();
        }) == "backward: nothing was kept for it; the value was computed under NoGrad, or reset");
  CHECK(refusal([&] {
          const auto first = step(rows(1, 4), labels({0}));
          step(rows(1, 4), labels({0}));
          static_cast<void>(first.item());
        }) == "item: the loss of step 1 was overwritten by step 2; read it before the next step");
  CHECK(refusal([&] { optim::Adam rule{{.rate = 0.1, .beta1 = 1.5}}; }) ==
        "adam: beta1 must lie in [0, 1), got 1.500000");
  CHECK(refusal([&] { model.set("dropout", 0.5); }) ==
        "set: there is no run-time number 'dropout'; the model has none");
  CHECK(refusal([&] {
          model.to(std::vector<Cpu>{Cpu{0}, Cpu{1}});
        }) ==
        "network: the model puts parts into 1 device slots, 2 devices were given; give one for each slot, the same one "
        "twice if need be");
  auto summed = accumulated_step(model, nn::cross_entropy, optim::Sgd{});
  CHECK(refusal([&] { summed.finish(); }) == "finish: there is no micro-batch; call add first");
}

TEST_CASE("extents of tensors that do not fit are refused with both", "[training][errors]") {
  CHECK(refusal([] { const Tensor c = numbers(3) + numbers(4); }) == "add: shapes (3,) and (4,) do not broadcast");
  CHECK(refusal([] { const Tensor c = matmul(rows(2, 3), rows(4, 5)); }) ==
        "matmul: left has 3 columns, right has 4 rows");
  CHECK(refusal([] { const auto c = numbers(6).reshape(4, -1); }) ==
        "reshape: shape (6,) has 6 elements, which do not fill (4, -1)");
  CHECK(refusal([] { const Tensor c = concat(rows(2, 3), rows(2, 4)); }) ==
        "concat: shapes (2, 3) and (2, 4) differ beside axis 0");
  CHECK(refusal([] { const Tensor c = numbers(3) + full<float, Shape<dyn>>(Dims(3), 1.0F, Cpu{1}); }) ==
        "add: the operands are on cpu:0 and cpu:1; move one of them with to(device)");
  CHECK(refusal([] { static_cast<void>(numbers(3)(5)); }) == "index: 5 is outside axis 0 of extent 3");
  CHECK(refusal([] { static_cast<void>(numbers(3).item()); }) ==
        "item: shape (3,) has 3 elements; item reads a tensor of exactly one");
  CHECK(refusal([] { const Tensor c = numbers(3)[labels({5})]; }) == "index: 5 is outside axis 0 of extent 3");
}

TEST_CASE("a data set and a loader of sizes that do not fit are refused", "[training][errors]") {
  using data::column;
  CHECK(refusal([] { data::TensorDataset(column(std::vector<float>(3)), column(std::vector<float>(2))); }) ==
        "TensorDataset: column 0 has 3 rows, column 1 has 2");
  CHECK(refusal([] { static_cast<void>(column<Shape<4>>(std::vector<float>(6))); }) ==
        "column: 6 elements do not fill rows of shape (4,)");
  CHECK(refusal([] {
          data::DataLoader(data::TensorDataset(column(std::vector<float>(3))), data::SequentialSampler{}, Cpu{},
                           {.batch_size = 0});
        }) == "batches: a batch has at least 1 sample, got batch size 0");
  CHECK(refusal([] { static_cast<void>(from_values(std::vector<float>(3), Dims(2, 2), Cpu{0})); }) ==
        "from_values: shape (2, 2) takes 4 values, but there are 3");
}
