// SPDX-License-Identifier: Apache-2.0
//
// Parts inside of parts that are computed again, and the binomial schedule of a chain of parts: products that are run, bytes of the
// plan, and the bits of a chain of which everything is kept. Programs are lowered and interpreted, so that nothing is compiled.

#include "tests/support/table_interpreter.hpp"

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/transforms.hpp>
#include <twill/compile/vmap.hpp>
#include <twill/graph.hpp>
#include <twill/graph/checkpoint_sequential.hpp>
#include <twill/ops/matmul.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Recompute;
using graph::Value;

namespace {

constexpr std::int64_t rows = 64;
constexpr std::int64_t width = 4;
constexpr std::int64_t state_bytes = rows * width * 8;

/// The weights of a chain, one for each part.
using Weights = std::vector<Value>;

/// One part: a product, and a function whose result the next part reads.
Value part(Value x, const Weights& w, int number) {
  return tanh(matmul(x, w[static_cast<std::size_t>(number)]) + 0.125 * number);
}

/// The program of the outputs that f makes of a batch of rows and of so many square weights.
template <class F> compile::Lowered lowered(int weights, const F& f) {
  graph::Graph graph{DType::float64};
  const auto input = [&](std::int64_t height) {
    return Value{graph, graph.add_input(DType::float64, graph::extents_of(Dims(height, width)))};
  };
  const Value x = input(rows);
  Weights w{};
  for (int i = 0; i < weights; ++i) w.push_back(input(width));
  for (const Value& output : f(x, w)) graph.outputs.push_back(output.id());
  REQUIRE(!graph.fault.any());
  return compile::lower(graph);
}

/// The gradients of a value by the batch and all weights.
Weights gradients_of(Value result, Value x, const Weights& w) {
  List<int> variables{x.id()};
  for (const Value& weight : w) variables.push_back(weight.id());
  const Value one = graph::constant(x.graph(), DType::float64, 1);
  Weights found{};
  for (const int id : graph::gradients(x.graph(), {{result.id(), one.id()}}, variables))
    found.push_back({x.graph(), id});
  return found;
}

/// The loss of a function of the batch and the weights, and its gradients.
template <class F> compile::Lowered with_gradients(int weights, const F& f) {
  return lowered(weights, [&](Value x, const Weights& w) {
    const Value loss = sum(square(f(x, w)));
    Weights found = gradients_of(loss, x, w);
    found.push_back(loss);
    return found;
  });
}

int products(const compile::Lowered& program) {
  int count = 0;
  for (const auto& instruction : program.instructions)
    count += program.kernels[static_cast<std::size_t>(instruction.kernel)].operation == "matmul" ? 1 : 0;
  return count;
}

std::int64_t arena_bytes(const compile::Lowered& program) {
  return compile::bind(compile::view_of(program), {}).arena_bytes;
}

std::vector<double> run(int weights, const compile::Lowered& program) {
  std::vector<Array> inputs{{Dims(rows, width), {}}};
  for (int i = 0; i < rows * width; ++i) inputs[0].elements.push_back(std::sin(1.7 * i + 0.3));
  for (int k = 0; k < weights; ++k) {
    inputs.push_back({Dims(width, width), {}});
    for (int i = 0; i < width * width; ++i) inputs.back().elements.push_back(0.6 * std::cos(2.9 * i + 0.7 * k));
  }
  std::vector<double> numbers{};
  for (const Array& output : interpret(program, {{}, inputs, {}, {}}).outputs)
    numbers.insert(numbers.end(), output.elements.begin(), output.elements.end());
  return numbers;
}

constexpr auto plain(int parts) {
  return [parts](Value x, const Weights& w) {
    for (int i = 0; i < parts; ++i) x = part(x, w, i);
    return x;
  };
}
constexpr auto chain(int parts, int snapshots, Recompute mode = Recompute::yes) {
  return [=](Value x, const Weights& w) {
    return checkpoint_sequential([&](Value v, int i) { return part(v, w, i); },
                                 {.parts = parts, .snapshots = snapshots, .recompute = mode})(x);
  };
}

/// The fewest steps forward of all schedules: after m of them a snapshot, then the rest, then the m before it.
std::vector<std::vector<std::int64_t>> fewest_steps(int parts, int snapshots) {
  std::vector<std::vector<std::int64_t>> fewest(static_cast<std::size_t>(snapshots) + 1);
  for (std::size_t s = 0; s < fewest.size(); ++s)
    for (std::size_t l = 0; l <= static_cast<std::size_t>(parts); ++l) {
      std::int64_t best = l <= 1 ? 0 : 1'000'000;
      for (std::size_t m = 1; m < l && s > 0; ++m)
        best = std::min(best, static_cast<std::int64_t>(m) + fewest[s][m] + fewest[s - 1][l - m]);
      fewest[s].push_back(best);
    }
  return fewest;
}

/// A chain of scans over the rows of a matrix.
constexpr auto scans(int parts, int snapshots) {
  return [=](Value x) {
    const auto products = [](Value v, int) {
      return graph::scan(std::array{sum(v, {0})}, std::array{v},
                         [](Value product, Value row) {
                           const Value next = tanh(product * row);
                           return graph::Step<1, 1>{{next}, {next}};
                         })
          .results[0];
    };
    return checkpoint_sequential(products, {.parts = parts, .snapshots = snapshots})(x);
  };
}

/// The loops of a function and of its gradient, in the compiler, which finds every access out of bounds.
constexpr std::size_t loops_of(const auto& f, const Dims& shape) {
  graph::Graph graph{DType::float64};
  const Value x{graph, graph.add_input(DType::float64, graph::extents_of(shape))};
  static_cast<void>(graph::gradient(sum(f(x)), x));
  return graph.fault.any() ? 0 : graph.loops.size();
}
static_assert(loops_of(scans(4, 1), Dims(3, 4)) == 4 + 6 + 4); // forwards, again, backwards
static_assert(loops_of(scans(4, 3), Dims(3, 4)) == 4 + 3 + 4);
static_assert(loops_of([](Value x) { return vmap(scans(4, 1))(x); }, Dims(2, 3, 4)) == 4 + 4 + 6 + 4); // of one, of all

} // namespace

TEST_CASE("the extra evaluations of a chain are those of Griewank and Walther's formula, and the fewest",
          "[graph][TRAIN-5]") {
  STATIC_REQUIRE(extra_evaluations(10, 3) == 15); // 2 * 10 - C(5, 1)
  STATIC_REQUIRE(extra_evaluations(12, 1) == 66); // n (n - 1) / 2
  STATIC_REQUIRE(extra_evaluations(12, graph::CheckpointSequentialOptions::one_for_each_part) == 11);
  const auto fewest = fewest_steps(64, 8);
  for (int s = 1; s <= 8; ++s)
    for (int n = 1; n <= 64; ++n) {
      CAPTURE(n, s);
      CHECK(extra_evaluations(n, s) == fewest[static_cast<std::size_t>(s)][static_cast<std::size_t>(n)]);
    }
}

TEST_CASE("a chain of parts runs the formula's evaluations, and has the bits of one that keeps everything",
          "[graph][TRAIN-5]") {
  for (const int n : {1, 2, 5, 10, 21}) {
    const compile::Lowered kept = with_gradients(n, plain(n));
    const std::vector<double> expected = run(n, kept);
    REQUIRE(products(kept) == 3 * n);
    CHECK(products(with_gradients(n, chain(n, 2, Recompute::no))) == 3 * n);
    for (const int s : {1, 2, 3, 4, 7, n}) {
      CAPTURE(n, s);
      const compile::Lowered again = with_gradients(n, chain(n, s));
      CHECK(products(again) == 3 * n + extra_evaluations(n, s));
      CHECK(run(n, again) == expected);
    }
  }
}

TEST_CASE("the peak of a chain is that of its snapshots, whatever its length", "[graph][TRAIN-5]") {
  const auto states = [](int n, const auto& f) {
    return static_cast<double>(arena_bytes(with_gradients(n, f))) / static_cast<double>(state_bytes);
  };
  for (const int n : {10, 20, 40}) {
    CHECK(states(n, plain(n)) > n);
    for (const int s : {1, 2, 3, 4, 5, 6, 8}) {
      CAPTURE(n, s);
      CHECK(states(n, chain(n, s)) == s + 3); // one of the snapshots is the program's input, four states are at work
    }
  }
}

TEST_CASE("a part inside of a part is kept only while the outer one is computed again", "[graph][TRAIN-5]") {
  const auto part_of = [](const Weights& w, int i) { return [&w, i](Value v) { return part(v, w, i); }; };
  const auto nested = [&](Recompute outer, Recompute inner) {
    return with_gradients(2, [=](Value x, const Weights& w) {
      return checkpoint([&](Value v) { return checkpoint(part_of(w, 1), inner)(checkpoint(part_of(w, 0), inner)(v)); },
                        outer)(x);
    });
  };
  const std::vector<double> expected = run(2, with_gradients(2, plain(2)));
  const auto extra = [&](const compile::Lowered& program) {
    CHECK(run(2, program) == expected);
    return products(program) - 6;
  };
  CHECK(extra(nested(Recompute::no, Recompute::no)) == 0);
  CHECK(extra(nested(Recompute::no, Recompute::yes)) == 2);
  CHECK(extra(nested(Recompute::yes, Recompute::no)) == 2);
  CHECK(extra(nested(Recompute::yes, Recompute::yes)) ==
        3); // the first part for the second, then each for its gradient
  // A part that is all of another one is computed again once.
  const auto twice = [&](Value x, const Weights& w) { return checkpoint(checkpoint(part_of(w, 0)))(x); };
  CHECK(products(with_gradients(1, twice)) == 4);
}

TEST_CASE("chains of parts nest with grad, jvp and vmap, and parts may differentiate", "[graph][TRAIN-5]") {
  constexpr int n = 5;
  const auto check_close = [](const auto& f, const auto& g) {
    const std::vector<double> expected = run(n, lowered(n, f));
    const std::vector<double> got = run(n, lowered(n, g));
    REQUIRE(expected.size() == got.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-12).margin(1e-12));
  };
  const auto loss_of = [](const auto& f, const Weights& w) { return [&](Value x) { return sum(square(f(x, w))); }; };
  const auto gradient_of = [](const auto& f) { return [&](Value x) { return graph::gradient(f(x), x); }; };
  const auto tangent = [](Value x) { return sin(3.0 * x); };
  const auto forward = [&](const auto& f) {
    return [&](Value x, const Weights& w) {
      const auto [y, t] = jvp(loss_of(f, w), x, tangent(x));
      return std::array{y, t};
    };
  };
  const auto forward_over_reverse = [&](const auto& f) {
    return [&](Value x, const Weights& w) {
      const auto loss = loss_of(f, w);
      const auto [y, t] = jvp(gradient_of(loss), x, tangent(x));
      return std::array{y, t};
    };
  };
  const auto reverse_over_reverse = [&](const auto& f) {
    return [&](Value x, const Weights& w) {
      const Value fixed = graph::stop_gradient(tangent(x));
      return gradients_of(sum(gradient_of(loss_of(f, w))(x) * fixed), x, w);
    };
  };
  const auto of_rows = [&](const auto& f) {
    return [&](Value x, const Weights& w) {
      const auto of_one = [&](Value row) { return sum(square(f(graph::unsqueeze(row, 0), w))); };
      Weights found = gradients_of(sum(vmap(of_one)(x)), x, w);
      found.push_back(vmap(gradient_of(of_one))(x));
      return found;
    };
  };
  const auto kept = plain(n);
  const auto again = chain(n, 2);
  check_close(forward(kept), forward(again));
  check_close(forward_over_reverse(kept), forward_over_reverse(again));
  check_close(reverse_over_reverse(kept), reverse_over_reverse(again));
  check_close(of_rows(kept), of_rows(again));
  // Each part goes down an energy, which is that of a chain of its own.
  const auto descents = [&](const auto& f, Recompute mode) {
    return [&f, &loss_of, &gradient_of, mode](Value x, const Weights& w) {
      const auto loss = loss_of(f, w);
      const auto descent = [&](Value v, int i) { return v - gradient_of(loss)(v) * (0.0625 * (i + 1)); };
      const Value y = checkpoint_sequential(descent, {.parts = 4, .snapshots = 2, .recompute = mode})(x);
      return gradients_of(sum(square(y)), x, w);
    };
  };
  check_close(descents(kept, Recompute::no), descents(again, Recompute::yes));
}

TEST_CASE("the states of a chain may be several values", "[graph][TRAIN-5]") {
  // Leapfrog steps of a position and a velocity.
  const auto step = [](Value position, Value velocity, Value w) {
    const Value next = velocity - 0.25 * matmul(position, w);
    return std::array{position + 0.25 * next, next};
  };
  const auto energy = [](const std::array<Value, 2>& state) { return sum(square(state[0])) + sum(square(state[1])); };
  const compile::Lowered kept = lowered(1, [&](Value x, const Weights& w) {
    std::array<Value, 2> state{x, x * 0.5};
    for (int i = 0; i < 6; ++i) state = step(state[0], state[1], w[0]);
    return gradients_of(energy(state), x, w);
  });
  const compile::Lowered again = lowered(1, [&](Value x, const Weights& w) {
    const auto f = [&](Value position, Value velocity, int) { return step(position, velocity, w[0]); };
    return gradients_of(energy(checkpoint_sequential(f, {.parts = 6, .snapshots = 2})(x, x * 0.5)), x, w);
  });
  CHECK(run(1, kept) == run(1, again));
  CHECK(products(again) > products(kept));
}

TEST_CASE("a chain without parts or without a snapshot is refused", "[graph][TRAIN-5]") {
  const auto fault = [](int parts, int snapshots) {
    graph::Graph graph{DType::float64};
    const Value x{graph, graph.add_input(DType::float64, graph::extents_of(Dims(2, 2)))};
    static_cast<void>(
        checkpoint_sequential([](Value v, int) { return tanh(v); }, {.parts = parts, .snapshots = snapshots})(x));
    return graph.fault.problem;
  };
  constexpr auto refused = graph::Problem::checkpoint_sequential_needs_at_least_one_part_and_one_snapshot;
  CHECK(fault(0, 3) == refused);
  CHECK(fault(3, 0) == refused);
  CHECK(fault(1, 1) == graph::Problem::none);
}
