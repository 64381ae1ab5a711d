// SPDX-License-Identifier: Apache-2.0
//
// Loops in the bodies of loops against the same steps traced one after another: values, gradients, tangents, second
// derivatives and batches.

#include "tests/support/loop_forms.hpp"
#include "tests/support/traced_run.hpp"

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/memory_use.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Step;
using graph::Value;

namespace {

// ---- functions of (h, w, x): a state (2, 3), weights (3, 3), sequences (3, 4, 2, 3) --------------------------------------

constexpr std::array<Given, 0> none{};

/// The inner loop reads the outer state and elements, and the outer step what every inner one showed.
template <class L> struct Recurrent {
  constexpr std::array<Value, 2> operator()(Value h, Value w, Value x) const {
    const auto outer = L{}(std::array{h}, std::array{x}, [&](Value state, Value rows) {
      const auto inner = L{}(std::array{0.5 * state}, std::array{rows}, [&](Value t, Value row) {
        const Value next = tanh(matmul(t, w) + row * exp(0.1 * h) + 0.25 * state);
        return Step<1, 1>{{next}, {sum(next * t, {-1})}};
      });
      return Step<1, 1>{{inner.carry[0] + 0.1 * state}, {inner.results[0] * sum(rows)}};
    });
    return {outer.carry[0], outer.results[0]};
  }
};

/// Both backwards; three levels, of which the innermost counts steps and exchanges its two states.
template <class L> struct ThreeLevels {
  constexpr std::array<Value, 2> operator()(Value h, Value w, Value x) const {
    const auto inmost = [](Value a, Value b) { return Step<2, 0>{{b * 0.9, a + 0.1 * b * b}, {}}; };
    const auto outer =
        L{}(std::array{h}, std::array{x},
            [&](Value state, Value rows) {
              const auto middle =
                  L{}(std::array{state, h}, std::array{rows},
                      [&](Value s, Value t, Value row) {
                        const auto end = L{}(std::array{s, t * row}, std::array<Value, 0>{}, inmost, {.count = {3, 0}});
                        return Step<2, 1>{{sin(matmul(end.carry[0], w)), end.carry[1] * state}, {end.carry[0] * s}};
                      },
                      {.reversed = true});
              return Step<1, 1>{{middle.carry[0]}, {middle.carry[1] + sum(middle.results[0], {0})}};
            },
            {.reversed = true});
    return {outer.carry[0], outer.results[0]};
  }
};

/// An inner loop of which no node depends on the outer step, and one of which only results do.
template <class L> struct Apart {
  constexpr std::array<Value, 2> operator()(Value h, Value w, Value x) const {
    const auto outer = L{}(std::array{h}, std::array{x}, [&](Value state, Value rows) {
      const auto alone = L{}(std::array{w}, std::array{w}, [&](Value product, Value row) {
        return Step<1, 0>{{tanh(matmul(product, w) + row)}, {}};
      });
      const auto beside = L{}(std::array{h}, std::array{w}, [&](Value t, Value row) {
        const Value next = t * 0.8 + row;
        return Step<1, 2>{{next}, {next * state, state}};
      });
      const Value seen = sum(beside.results[0] + beside.results[1], {0});
      return Step<1, 1>{{tanh(matmul(state, alone.carry[0]) + sum(rows, {0}))}, {seen}};
    });
    return {outer.carry[0], outer.results[0]};
  }
};

/// Two inner loops, the second over what the first has shown, with a part that is computed again around or inside.
template <class L, bool Around, bool Inside> struct InParts {
  constexpr std::array<Value, 2> operator()(Value h, Value w, Value x) const {
    const auto step = [&](Value state, Value rows) {
      const auto part = [&](Value from, Value over) {
        const auto first = L{}(std::array{from}, std::array{over}, [&](Value t, Value row) {
          const Value next = tanh(matmul(t, w) * row);
          return Step<1, 1>{{next}, {next + row}};
        });
        const auto second = L{}(std::array{first.carry[0]}, std::array{first.results[0]}, [](Value t, Value row) {
          return Step<1, 0>{{sin(t + row)}, {}};
        });
        return second.carry[0];
      };
      const Value next = Inside ? checkpoint(part)(state, rows) : part(state, rows);
      return Step<1, 1>{{next}, {next * state}};
    };
    const auto all = [&](Value from, Value over) {
      const auto outer = L{}(std::array{from}, std::array{over}, step);
      return std::array{outer.carry[0], outer.results[0]};
    };
    if constexpr (Around)
      return checkpoint(all)(h, x);
    else
      return all(h, x);
  }
};

/// Steps down the slope of a loss that has a loop, along tangents, and over batches.
template <class L> struct Differentiating {
  constexpr std::array<Value, 2> operator()(Value h, Value w, Value x) const {
    const auto outer = L{}(std::array{h}, std::array{x}, [&](Value state, Value rows) {
      const auto loop = [&](Value from) {
        return L{}(std::array{from}, std::array{rows},
                   [&](Value t, Value row) {
                     return Step<1, 0>{{tanh(matmul(t, w) + row)}, {}};
                   })
            .carry[0];
      };
      const auto loss = [&](Value from) { return sum(square(loop(from))); };
      const Value slope = graph::transforms::value_and_gradients<1>(loss, std::array{state}, CallSite::here())[1];
      const Value tangent = jvp(loop, state, h).second;
      const Value from_each_row = vmap([&](Value row) { return loop(row + 0.5 * state); })(state);
      return Step<1, 1>{{state - 0.1 * slope}, {tangent + sum(from_each_row, {0})}};
    });
    return {outer.carry[0], outer.results[0]};
  }
};

// ---- derivatives of them --------------------------------------------------------------------------------------------

template <class F> struct LossOf {
  constexpr Value operator()(Value h, Value w, Value x) const {
    const auto [last, seen] = F{}(h, w, x);
    return sum(last * last) + 0.5 * sum(sin(seen));
  }
};
template <class F> struct GradientOf {
  constexpr auto operator()(Value h, Value w, Value x) const { return grad(LossOf<F>{})(h, w, x); }
};
/// Forward over reverse.
template <class F> struct CurvatureOf {
  constexpr auto operator()(Value h, Value w, Value x) const {
    return hvp(LossOf<F>{}, std::array{h, w, x}, std::array{h * 0.3, w * w, 0.2 * x}).second;
  }
};
/// Reverse over reverse.
template <class F> struct SlopeOfGradient {
  constexpr Value operator()(Value h, Value w, Value x) const {
    const auto [by_h, by_w, by_x] = grad(LossOf<F>{})(h, w, x);
    return sum(by_h * h) + sum(by_w * by_w) + sum(sin(by_x));
  }
};
template <class F> struct TangentOf {
  constexpr auto operator()(Value h, Value w, Value x) const {
    return jvp(F{}, std::array{h, w, x}, std::array{h * 0.3, w * w, 0.2 * x}).second;
  }
};

std::array<Given, 3> arguments_of_models() {
  return {random_given(Dims(2, 3)), random_given(Dims(3, 3)), random_given(Dims(3, 4, 2, 3))};
}

/// Compares a function of loops with that of their steps, to second derivatives.
template <class F, class Reference> void check_all(const std::array<Given, 3>& at) {
  check_same(results_of(Reference{}, at), results_of(F{}, at));
  check_same(results_of(GradientOf<Reference>{}, at), results_of(GradientOf<F>{}, at));
  check_same(results_of(TangentOf<Reference>{}, at), results_of(TangentOf<F>{}, at));
  check_same(results_of(CurvatureOf<Reference>{}, at), results_of(CurvatureOf<F>{}, at), 1e-9);
  const auto second = [](auto f) { return [f](Value h, Value w, Value x) { return grad(f)(h, w, x); }; };
  check_same(results_of(second(SlopeOfGradient<Reference>{}), at), results_of(second(SlopeOfGradient<F>{}), at), 1e-9);
}

/// Batches of an argument against a call for each example.
template <class F> void check_batches(const std::array<Given, 3>& at) {
  for (std::size_t which = 0; which < 3; ++which) {
    std::array<Given, 3> batched = at;
    Dims shape{};
    shape.rank = at[which].shape.rank + 1;
    shape[0] = 2;
    for (int axis = 1; axis < shape.rank; ++axis) shape[axis] = at[which].shape[axis - 1];
    batched[which] = random_given(shape);
    std::vector<Numbers> expected{};
    for (std::size_t example = 0; example < 2; ++example) {
      std::array<Given, 3> one = at;
      const std::size_t elements = one[which].elements.size();
      const auto* const first = batched[which].elements.data() + example * elements;
      one[which].elements.assign(first, first + elements);
      const std::vector<Numbers> results = results_of(F{}, one);
      expected.resize(results.size());
      for (std::size_t k = 0; k < results.size(); ++k)
        expected[k].insert(expected[k].end(), results[k].begin(), results[k].end());
    }
    const auto over_batch = [which](Value h, Value w, Value x) {
      if (which == 0) return graph::transforms::values_of(vmap<0, unbatched, unbatched>(F{})(h, w, x));
      if (which == 1) return graph::transforms::values_of(vmap<unbatched, 0, unbatched>(F{})(h, w, x));
      return graph::transforms::values_of(vmap<unbatched, unbatched, 0>(F{})(h, w, x));
    };
    check_same(expected, results_of(over_batch, batched), 1e-10);
  }
}

} // namespace

TEST_CASE("a scan in a scan is its steps one after another, with derivatives of the second order", "[nn][scan]") {
  const auto at = arguments_of_models();
  check_all<Recurrent<Loop>, Recurrent<OneByOne>>(at);
  check_all<ThreeLevels<Loop>, ThreeLevels<OneByOne>>(at);
}

TEST_CASE("what does not depend on the outer step runs once, and a loop of which a part does runs in it",
          "[nn][scan]") {
  const auto at = arguments_of_models();
  check_all<Apart<Loop>, Apart<OneByOne>>(at);
}

TEST_CASE("a scan in a part that is computed again in a scan has the same derivatives", "[nn][scan]") {
  const auto at = arguments_of_models();
  check_all<InParts<Loop, false, true>, InParts<OneByOne, false, false>>(at);
  check_all<InParts<Loop, true, false>, InParts<OneByOne, false, false>>(at);
  check_all<InParts<Loop, true, true>, InParts<OneByOne, false, false>>(at);
}

TEST_CASE("the steps of a scan take gradients, tangents and batches of scans", "[nn][scan]") {
  const auto at = arguments_of_models();
  check_all<Differentiating<Loop>, Differentiating<OneByOne>>(at);
}

TEST_CASE("vmap of a scan in a scan is a loop over the examples", "[nn][scan][vmap]") {
  const auto at = arguments_of_models();
  check_batches<Recurrent<Loop>>(at);
  check_batches<ThreeLevels<Loop>>(at);
  check_batches<Apart<Loop>>(at);
  check_batches<InParts<Loop, true, true>>(at);
  check_batches<GradientOf<Recurrent<Loop>>>(at);
  check_batches<GradientOf<Apart<Loop>>>(at);
  check_batches<TangentOf<ThreeLevels<Loop>>>(at);
}

TEST_CASE("the gradient of a scan in a scan reads what the inner one has kept", "[nn][scan]") {
  const auto at = arguments_of_models();
  std::size_t loops = 0;
  static_cast<void>(results_of(LossOf<Recurrent<Loop>>{}, at, &loops));
  CHECK(loops == 2);
  static_cast<void>(results_of(GradientOf<Recurrent<Loop>>{}, at, &loops));
  CHECK(loops == 4); // two forwards, two backwards: the inner one is not run a second time
}

TEST_CASE("every step of an inner scan draws its own numbers, and the backward pass draws them again", "[nn][scan]") {
  const auto noisy = [](Value x) {
    const auto row = [](Value total, Value element) {
      const Value kept = where(graph::random_uniform(element.graph(), element.shape()) < 0.5, 0.0, element);
      return Step<1, 1>{{total + sum(kept * kept)}, {kept}};
    };
    const Value zero = graph::constant(x.graph(), DType::float64, 0);
    const auto outer = graph::scan(std::array{zero}, std::array{x}, [&](Value total, Value rows) {
      const auto inner = graph::scan(std::array{total}, std::array{rows}, row);
      return Step<1, 1>{{inner.carry[0]}, {inner.results[0]}};
    });
    return std::array{outer.results[0], graph::gradient(outer.carry[0], x)};
  };
  const auto results = results_of(noisy, std::array{Given{Dims(3, 4, 64), Numbers(3 * 4 * 64, 1.0)}});
  for (std::size_t i = 0; i < results[0].size(); ++i) REQUIRE(results[1][i] == 2 * results[0][i]);
  for (std::size_t a = 0; a < 12; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      int same = 0;
      for (std::size_t i = 0; i < 64; ++i) same += results[0][a * 64 + i] == results[0][b * 64 + i] ? 1 : 0;
      CHECK(same < 56); // of 64, half of them by chance
    }
}

TEST_CASE("a part in the body of a scan that is computed again keeps nothing of its steps", "[nn][scan][TRAIN-5]") {
  const auto arena_of = [](const auto& f) {
    graph::Graph graph{DType::float64};
    const auto input = [&](const Dims& shape) {
      return Value{graph, graph.add_input(DType::float64, graph::extents_of(shape))};
    };
    const auto gradients = f(input(Dims(2, 3)), input(Dims(3, 3)), input(Dims(64, 16, 2, 3)));
    for (const Value& gradient : gradients) graph.outputs.push_back(gradient.id());
    const compile::Lowered lowered = compile::lower(graph);
    return compile::memory_use(compile::view_of(lowered), {}).arena;
  };
  const std::int64_t kept = arena_of(GradientOf<InParts<Loop, false, false>>{});
  const std::int64_t again = arena_of(GradientOf<InParts<Loop, false, true>>{});
  CHECK(4 * again < kept); // one outer step's values instead of those of 64
}
