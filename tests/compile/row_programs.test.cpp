// SPDX-License-Identifier: Apache-2.0
//
// Chains of reductions along the rows, known ones and invented ones, are one kernel in the graph, which reads each tensor
// once and writes one; and so are their gradients. The compiler asserts it; values agree with naive loops and gradients with
// finite differences.

#include "tests/support/compiled_rows.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/compile/report/report.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/normalisation.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace twill;
using namespace twill::graph;
using twill::test::Array;

namespace {

inline constexpr int rows = 5;
inline constexpr int columns = 13;

using Numbers = std::vector<double>;

/// A chain, how many matrices and row vectors it takes, and what it makes of one row.
template <class F> struct Chain {
  const char* name;
  int matrices;
  int vectors;
  F function;
  Numbers (*naive)(const Numbers& x, const Numbers& y);
};
template <class F>
constexpr Chain<F> chain(const char* name, int matrices, int vectors, F function,
                         Numbers (*naive)(const Numbers&, const Numbers&)) {
  return {name, matrices, vectors, function, naive};
}

double total(const Numbers& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}
double greatest(const Numbers& row) {
  double result = row[0];
  for (const double x : row) result = std::max(result, x);
  return result;
}
double average(const Numbers& row) { return total(row) / columns; }
template <class F> Numbers each(const Numbers& row, F f) {
  Numbers result;
  for (const double x : row) result.push_back(f(x));
  return result;
}
template <class F> Numbers both(const Numbers& a, const Numbers& b, F f) {
  Numbers result;
  for (std::size_t i = 0; i < a.size(); ++i) result.push_back(f(a[i], b[i]));
  return result;
}
double times(double a, double b) { return a * b; }
Numbers soft(const Numbers& row) {
  const Numbers e = each(row, [](double x) { return std::exp(x); });
  return each(e, [&](double x) { return x / total(e); });
}
Numbers centred(const Numbers& row) {
  return each(row, [&](double x) { return x - average(row); });
}
Numbers layer(const Numbers& row) {
  const Numbers c = centred(row);
  return each(c, [&](double x) { return x / std::sqrt(average(both(c, c, times)) + 1e-5); });
}
double length(const Numbers& row) { return std::sqrt(total(both(row, row, times))); }

constexpr Value peak(Value x) { return max(x, {-1}, KeepDims::yes); }
constexpr Value sums(Value x) { return sum(x, {-1}, KeepDims::yes); }
constexpr Value means(Value x) { return mean(x, {-1}, KeepDims::yes); }

// clang-format off
constexpr std::tuple chains{
    // known ones
    chain("softmax", 1, 0, [](Value x) { return softmax(x); },
          [](const Numbers& x, const Numbers&) { return soft(x); }),
    chain("log_softmax", 1, 0, [](Value x) { return log_softmax(x); },
          [](const Numbers& x, const Numbers&) { return each(soft(x), [](double v) { return std::log(v); }); }),
    chain("layer_norm", 1, 0, [](Value x) { return layer_norm(x); },
          [](const Numbers& x, const Numbers&) { return layer(x); }),
    chain("rms_norm", 1, 0, [](Value x) { return rms_norm(x); },
          [](const Numbers& x, const Numbers&) { return each(x, [&](double v) { return v / std::sqrt(average(both(x, x, times)) + 1e-5); }); }),
    chain("normalize", 1, 0, [](Value x) { return normalize(x); },
          [](const Numbers& x, const Numbers&) { return each(x, [&](double v) { return v / length(x); }); }),
    chain("variance", 1, 0, [](Value x) { return var(x, {-1}); },
          [](const Numbers& x, const Numbers&) { return Numbers{average(both(centred(x), centred(x), times))}; }),
    chain("cosine_similarity", 2, 0, [](Value x, Value y) { return cosine_similarity(x, y); },
          [](const Numbers& x, const Numbers& y) { return Numbers{total(both(x, y, times)) / (length(x) * length(y))}; }),
    chain("cross entropy", 1, 0, [](Value x) {
            Extents each_row{};
            each_row.append(x.shape()[0]);
            const Value label = unsqueeze(iota(x.graph(), each_row), -1); // 0, 1, 2, ...
            Extents classes{};
            classes.append(x.shape()[1]);
            const Value picked = where(equal(label, iota(x.graph(), classes)), x, 0);
            return logsumexp(x, -1, KeepDims::yes) - sums(picked);
          }, nullptr),
    // invented ones
    chain("entropy of exponentials", 1, 0, [](Value x) { return sum(exp(x - peak(x)) * (x - peak(x)), {-1}); },
          [](const Numbers& x, const Numbers&) { return Numbers{total(each(x, [&](double v) { return std::exp(v - greatest(x)) * (v - greatest(x)); }))}; }),
    chain("three reductions deep", 1, 0, [](Value x) {
            const Value a = x - means(x);
            const Value b = a / (sums(abs(a)) + 1);
            return exp(b - peak(b));
          },
          [](const Numbers& x, const Numbers&) {
            const double spread = total(each(centred(x), [](double v) { return std::abs(v); })) + 1;
            const Numbers b = each(centred(x), [&](double v) { return v / spread; });
            return each(b, [&](double v) { return std::exp(v - greatest(b)); });
          }),
    chain("attention of two inputs", 2, 0, [](Value x, Value y) { return softmax(x * y) * y; },
          [](const Numbers& x, const Numbers& y) { return both(soft(both(x, y, times)), y, times); }),
    chain("masked softmax", 2, 0, [](Value x, Value y) { return softmax(where(y > 0, x, -1e9)); },
          [](const Numbers& x, const Numbers& y) { return soft(both(x, y, [](double v, double m) { return m > 0 ? v : -1e9; })); }),
    chain("totals of each on the other", 2, 0, [](Value x, Value y) { return sums(x) * y + means(y) * x; },
          [](const Numbers& x, const Numbers& y) { return both(x, y, [&](double v, double w) { return total(x) * w + average(y) * v; }); }),
    chain("gate by the mean", 1, 0, [](Value x) { return sigmoid(means(x)) * tanh(x) + x; },
          [](const Numbers& x, const Numbers&) { return each(x, [&](double v) { return std::tanh(v) / (1 + std::exp(-average(x))) + v; }); }),
    chain("softmax of a layer norm", 1, 0, [](Value x) { return log_softmax(layer_norm(x)); },
          [](const Numbers& x, const Numbers&) { return each(soft(layer(x)), [](double v) { return std::log(v); }); }),
    chain("range of squares", 1, 0, [](Value x) { return (x * x - min(x * x, {-1}, KeepDims::yes)) / (peak(x * x) + 1); },
          [](const Numbers& x, const Numbers&) {
            const Numbers s = both(x, x, times);
            const double least = -greatest(each(s, [](double v) { return -v; }));
            return each(s, [&](double v) { return (v - least) / (greatest(s) + 1); });
          }),
    chain("a row vector among rows", 1, 1, [](Value x, Value y) { return x * y * rsqrt(sums(x * y * x * y) + 1); },
          [](const Numbers& x, const Numbers& y) {
            const Numbers z = both(x, y, times);
            return each(z, [&](double v) { return v / std::sqrt(total(both(z, z, times)) + 1); });
          }),
    chain("layer norm, scaled", 1, 1, [](Value x, Value y) { return layer_norm(x) * y; },
          [](const Numbers& x, const Numbers& y) { return both(layer(x), y, times); }),
};
// clang-format on
inline constexpr std::size_t chain_count = std::tuple_size_v<decltype(chains)>;

enum class Part { forward, backward, everything };

/// Inputs: those of the chain, then the cotangent of its value, where that is needed.
template <std::size_t I, Part Wanted> struct Traced {
  static constexpr const auto& own = std::get<I>(chains);
  static constexpr int inputs = own.matrices + own.vectors;

  static constexpr Graph trace() {
    Graph graph{DType::float64};
    std::array<Value, 2> x{};
    for (int k = 0; k < inputs; ++k) {
      const Dims shape = k < own.matrices ? Dims(rows, columns) : Dims(columns);
      x[static_cast<std::size_t>(k)] = {graph, graph.add_input(DType::float64, extents_of(shape))};
    }
    const Value value = [&] {
      if constexpr (inputs == 2)
        return own.function(x[0], x[1]);
      else
        return own.function(x[0]);
    }();
    if (Wanted == Part::forward) {
      graph.outputs.push_back(value.id());
      return graph;
    }
    const Value cotangent{graph, graph.add_input(DType::float64, value.shape())};
    const Value loss = sum(value * cotangent);
    if (Wanted == Part::everything) {
      graph.outputs.push_back(loss.id());
      graph.outputs.push_back(value.id());
    }
    List<int> variables{};
    for (int k = 0; k < inputs; ++k) variables.push_back(x[static_cast<std::size_t>(k)].id());
    const Value one = constant(graph, DType::float64, 1);
    for (const int gradient : gradients(graph, {{loss.id(), one.id()}}, variables))
      if (gradient >= 0) graph.outputs.push_back(gradient);
    return graph;
  }
};

/// One kernel, which reads each input once and writes once; and one for the gradients, or two more where a row vector's
/// gradient is a sum down the columns: no loop reduces rows and columns, and an output that is a vector is copied out of it.
template <std::size_t I> constexpr bool is_one_pass() {
  constexpr const auto& own = std::get<I>(chains);
  constexpr compile::Report forward = compile::plan<Traced<I, Part::forward>>();
  constexpr compile::Report backward = compile::plan<Traced<I, Part::backward>>();
  static_assert(forward.launches == 1 && forward.row_launches == 1);
  static_assert(forward.tensors_read == own.matrices + own.vectors && forward.tensors_written == 1);
  static_assert(compile::most_reads_of_one_tensor(compile::Compiled<Traced<I, Part::forward>>::view()) == 1);
  static_assert(backward.row_launches == 1 && backward.column_launches == own.vectors);
  static_assert(backward.launches == 1 + 2 * own.vectors);
  static_assert(own.vectors > 0 || backward.tensors_read <= own.matrices + 1);
  static_assert(compile::most_reads_of_one_tensor(compile::Compiled<Traced<I, Part::backward>>::view()) == 1);
  return true;
}
template <std::size_t... I> constexpr bool are_one_pass(std::index_sequence<I...>) { return (is_one_pass<I>() && ...); }
static_assert(are_one_pass(std::make_index_sequence<chain_count>{}));

template <std::size_t I> void check_chain() {
  constexpr const auto& own = std::get<I>(chains);
  using Source = Traced<I, Part::everything>;
  const std::uint64_t seed = twill::test::test_seed();
  INFO(own.name << ", seed " << seed);
  std::mt19937_64 random{seed};
  compile::Executor<Cpu> executor{Cpu{}, compile::Compiled<Source>::view(), compile::kernels<Source>,
                                  compile::Arena::kept};
  std::vector<Array> inputs;
  for (int k = 0; k < Source::inputs; ++k)
    inputs.push_back(
        test::detail::random_array(k < own.matrices ? Dims(rows, columns) : Dims(columns), {-2, 2}, random));
  const Graph traced = Source::trace();
  const Dims result = traced.node(traced.outputs[1]).shape.evaluate({});
  inputs.push_back(test::detail::random_array(result, {0.5, 1.5}, random));
  const std::vector<Array> outputs = test::run_compiled(executor, inputs);

  if (own.naive != nullptr) {
    for (int row = 0; row < rows; ++row) {
      const auto row_of = [&](const Array& array) {
        const std::ptrdiff_t start = array.shape.rank == 2 ? row * columns : 0;
        return Numbers(array.elements.begin() + start, array.elements.begin() + start + columns);
      };
      const Numbers expected = own.naive(row_of(inputs[0]), row_of(inputs[Source::inputs == 2 ? 1 : 0]));
      for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK(outputs[1].elements[static_cast<std::size_t>(row) * expected.size() + k] ==
              Approx(expected[k]).epsilon(1e-11).margin(1e-13));
    }
  }
  std::size_t output = 2;
  for (std::size_t k = 0; k < static_cast<std::size_t>(Source::inputs) && output < outputs.size(); ++k, ++output)
    for (std::size_t i = 0; i < inputs[k].elements.size(); ++i) {
      const auto loss_at = [&](double step) {
        std::vector<Array> moved = inputs;
        moved[k].elements[i] += step;
        return test::run_compiled(executor, moved)[0].elements[0];
      };
      const double slope = (loss_at(1e-6) - loss_at(-1e-6)) / 2e-6;
      CHECK(test::detail::agree(slope, outputs[output].elements[i]));
    }
}

} // namespace

TEST_CASE("chains of row reductions and their gradients agree with loops and finite differences",
          "[compile][gradient]") {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (check_chain<I>(), ...); }
  (std::make_index_sequence<chain_count>{});
}
