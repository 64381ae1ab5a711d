// SPDX-License-Identifier: Apache-2.0
//
// Context parallelism: a model whose sequence is divided over two ranks, zigzag, with ring attention, beside the same
// model on one device, and the functions that divide and join sequences.

#include <twill/nn.hpp>
#include <twill/nn/ring_attention.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/model/ring_attention_bytes.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>
#include <twill/training.hpp>

#include "tests/support/message_of.hpp"
#include "tests/support/refusal.hpp"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using graph::Value;

namespace {

constexpr std::int64_t vocabulary = 12;
constexpr std::int64_t words_each = 8;
constexpr std::int64_t model_width = 8;

using Words = InputOf<std::int64_t, Dim<"batch">, words_each>;
using Context = RankAxis<"context", 2>;
constexpr auto zigzag = nn::SequenceDivision::zigzag;

/// A block of a language model, of one device.
struct WholeModel {
  static constexpr auto forward(Words words) {
    const Value places = nn::sequence_positions<RankAxis<"context", 1>>(words.graph(), words_each);
    Value x = nn::embedding(words, vocabulary, model_width, "words") +
              nn::embedding(places, words_each, model_width, "places");
    const Value normed = nn::layer_norm(x, "norm");
    x = x + nn::multi_head_attention(normed, normed, normed, 2, "attention", {.is_causal = true});
    return nn::linear(tanh(nn::linear(x, 16, "wide")), vocabulary, "logits");
  }
};

/// The block with its sequence divided.
// region: divided
struct DividedModel {
  static constexpr auto forward(Words words) {
    const Value own = nn::sequence_part<Context>(words, 1, zigzag);
    const nn::SplitRegion<Context> part{words.graph(), 1};
    const Value places = nn::sequence_positions<Context>(words.graph(), words_each / 2, zigzag);
    Value x =
        nn::embedding(own, vocabulary, model_width, "words") + nn::embedding(places, words_each, model_width, "places");
    x = x + nn::ring_multi_head_attention<Context>(nn::layer_norm(x, "norm"), 2, "attention",
                                                   {.is_causal = true, .division = zigzag});
    return nn::linear(tanh(nn::linear(x, 16, "wide")), vocabulary, "logits");
  }
};
// end region

// region: loss
constexpr auto own_loss = nn::loss([](auto logits, auto words) {
  return nn::mean_over_ranks<Context>(nn::cross_entropy(logits, nn::sequence_part<Context>(words, 1, zigzag)));
});
// end region

// region: bytes
constexpr auto bytes = parallel::ring_attention_bytes({.batch = 32,    // heads, times the batch
                                                       .rows = 32'768, // on each of 8 ranks, 262,144 in all
                                                       .width = 128,
                                                       .value_width = 128,
                                                       .ranks = 8,
                                                       .dtype = DType::bfloat16,
                                                       .is_causal = true,
                                                       .division = nn::SequenceDivision::zigzag});
static_assert(bytes.sent_forward == 7 * (std::int64_t{512} << 20)); // keys and values of a rank: 512 MiB
static_assert(bytes.sent_backward == 7 * (std::int64_t{512} << 20) + 8 * (std::int64_t{1} << 30)); // and gradients
static_assert(bytes.kept == std::int64_t{1284} << 20); // queries, keys, values, float32 results, a number a row
// end region

} // namespace

TEST_CASE("a model with a divided sequence trains as on one device", "[parallel][PAR-7]") {
  TensorParallel<DividedModel, Context, Cpu, double> model{{Cpu{0}, Cpu{0}}, {.timeout_ms = 20'000}};
  nn::Network<WholeModel, Cpu, double> one{Cpu{0}};
  nn::load_state_dict(one, model.state_dict());
  Tensor<std::int64_t, Cpu, Shape<dyn, words_each>> x(Cpu{0}, Dims(3, words_each));
  Tensor<std::int64_t, Cpu, Shape<dyn, words_each>> y(Cpu{0}, Dims(3, words_each));
  for (std::int64_t i = 0; i < 3 * words_each; ++i) {
    x.data()[i] = i * 5 % vocabulary;
    y.data()[i] = i * 7 % vocabulary;
  }
  const auto rule = optim::MomentumSgd{{.rate = 0.1}};
  auto step = train_step(model, own_loss, rule);
  auto step_of_one = train_step(one, nn::cross_entropy, rule);
  for (int i = 0; i < 4; ++i) CHECK(step(x, y) == Approx(step_of_one(x, y).item()).epsilon(1e-12));
  const nn::StateDict divided = model.state_dict();
  const nn::StateDict of_one = nn::state_dict(one);
  for (const auto& [name, tensor] : of_one.entries()) {
    CAPTURE(name);
    const auto* const a = reinterpret_cast<const double*>(divided.find(name)->bytes.data());
    const auto* const b = reinterpret_cast<const double*>(tensor.bytes.data());
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-11).margin(1e-13));
  }
}

namespace {

using Three = RankAxis<"three", 3>;

/// What the functions of a divided sequence give from rows that all ranks have, one below the other.
struct Pieces {
  static constexpr auto forward(Input<6, 2> x) {
    const Value part = nn::sequence_part<Three>(x, 0, zigzag);
    const Value whole = nn::sequence_whole<Three>(part, 0, zigzag);
    const Value next = graph::to_next<Three>(part);
    const Value previous = graph::to_previous<Three>(part);
    const Value places = nn::sequence_positions<Three>(x.graph(), 2, zigzag);
    const Value by_x = graph::gradient(graph::sum(graph::square(whole)), x);
    const Value by_next = graph::gradient(graph::sum(next * graph::stop_gradient(part)), part);
    const Value by_previous = graph::gradient(graph::sum(previous * graph::stop_gradient(part)), part);
    const Value rank = graph::cast(graph::rank_along<Three>(x.graph()), DType::float64);
    const Value mean = graph::broadcast_to(nn::mean_over_ranks<Three>(rank), part.shape());
    const Value both = graph::broadcast_to(graph::unsqueeze(graph::cast(places, DType::float64), -1), part.shape());
    return graph::concatenate({whole, next, previous, both, by_x, by_next, by_previous, mean}, 0);
  }
};

} // namespace

TEST_CASE("rows of a zigzag division, and their gradients, go to their ranks and back", "[parallel][PAR-7]") {
  TensorParallel<Pieces, Three, Cpu, double> model{std::vector<Cpu>(3, Cpu{0}), {.timeout_ms = 20'000}};
  Tensor<double, Cpu, Shape<6, 2>> x(Cpu{0});
  for (std::int64_t i = 0; i < 12; ++i) x.data()[i] = static_cast<double>(i * i);
  std::vector<std::vector<double>> found(3);
  model.run([&](auto& network, int rank) {
    const auto y = network.infer(x);
    synchronize(network.device());
    found[static_cast<std::size_t>(rank)].assign(y.data(), y.data() + y.elements());
  });
  const auto row_of = [](int rank, int i) { return i == 0 ? rank : 5 - rank; }; // 0 5, 1 4, 2 3
  for (int rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    std::vector<double> wanted{};
    const auto add_part_of = [&](int owner) {
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wanted.push_back(x.data()[2 * row_of(owner, i) + j]);
    };
    const int before = (rank + 2) % 3;
    const int after = (rank + 1) % 3;
    wanted.assign(x.data(), x.data() + 12);
    add_part_of(before);
    add_part_of(after);
    for (int i = 0; i < 4; ++i) wanted.push_back(row_of(rank, i / 2));
    for (int i = 0; i < 12; ++i) wanted.push_back(2 * x.data()[i]);
    add_part_of(after); // a gradient travels in the other direction
    add_part_of(before);
    for (int i = 0; i < 4; ++i) wanted.push_back(1); // (0 + 1 + 2) / 3
    CHECK(found[static_cast<std::size_t>(rank)] == wanted);
  }
}

TEST_CASE("a rank that fails ends a shift round the ring everywhere", "[parallel][PAR-9]") {
  TensorParallel<Pieces, Three, Cpu, double> model{std::vector<Cpu>(3, Cpu{0}), {.timeout_ms = 20'000}};
  const Tensor<double, Cpu, Shape<6, 2>> x(Cpu{0});
  CHECK(test::message_of<ValueError>([&] {
          model.run([&](auto& network, int rank) {
            if (rank == 1) throw ValueError("no more");
            static_cast<void>(network.infer(x));
          });
        }) == "no more");
}

TEST_CASE("ring attention refuses what does not fit round the ring, and second derivatives", "[parallel][PAR-7]") {
  using test::in;
  const auto refused = [](auto call) {
    graph::Graph graph{};
    test::use(call(graph));
    return graph.fault;
  };
  const auto differing = refused([](graph::Graph& g) {
    return nn::ring_attention<Context>(in(g, {2, 6, 4}), in(g, {2, 8, 4}), in(g, {2, 8, 4}), {.is_causal = true});
  });
  CHECK(differing.problem == graph::Problem::attention_extents_differ);
  CHECK(differing.left == 6);
  CHECK(differing.right == 8);
  const auto odd = refused([](graph::Graph& g) {
    const Value x = in(g, {2, 5, 4});
    return nn::ring_attention<Context>(x, x, x, {.is_causal = true, .division = zigzag});
  });
  CHECK(odd.problem == graph::Problem::sections_do_not_divide_the_axis);
  CHECK(odd.right == 5);
  const auto types = refused([](graph::Graph& g) {
    const Value x = in(g, {2, 6, 4});
    return nn::ring_attention<Context>(x, x, in(g, {2, 6, 4}, DType::float64));
  });
  CHECK(types.problem == graph::Problem::attention_dtypes_differ);
  const auto twice = refused([](graph::Graph& g) {
    const Value x = in(g, {2, 6, 4});
    const Value once = graph::gradient(graph::sum(graph::square(nn::ring_attention<Context>(x, x, x))), x);
    return graph::gradient(graph::sum(graph::square(once)), x);
  });
  CHECK(twice.problem == graph::Problem::operation_has_no_gradient);
}
