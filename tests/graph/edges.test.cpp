// SPDX-License-Identifier: Apache-2.0
//
// Derivatives at kinks, in tails and at the ends of ranges beside PyTorch's: values, first and second derivatives of all
// elementwise functions and losses on one grid of points. What is meant to differ is listed with its reason. Read next:
// tests/golden/scripts/edges.py.

#include "tests/support/golden.hpp"
#include "tests/support/graph_interpreter.hpp"

#include <twill/core/text.hpp>
#include <twill/graph/gradient.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/normalisation.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::Value;

namespace {

using Doubles = std::vector<double>;

struct Unary {
  std::string_view name;
  Value (*function)(Value x);
};
struct Binary {
  std::string_view name;
  Value (*function)(Value a, Value b);
};

// In the order of tests/golden/scripts/edges.py.
const Unary unary[] = {
    {"relu", [](Value x) { return graph::relu(x); }},
    {"leaky_relu", [](Value x) { return graph::leaky_relu(x, 0.2); }},
    {"sigmoid", [](Value x) { return graph::sigmoid(x); }},
    {"silu", [](Value x) { return graph::silu(x); }},
    {"gelu", [](Value x) { return graph::gelu(x); }},
    {"gelu_tanh", [](Value x) { return graph::gelu_tanh(x); }},
    {"softplus", [](Value x) { return graph::softplus(x); }},
    {"elu", [](Value x) { return graph::elu(x); }},
    {"elu of 0.5", [](Value x) { return graph::elu(x, 0.5); }},
    {"clamp", [](Value x) { return graph::clamp(x, -1, 2); }},
    {"clamp_min", [](Value x) { return graph::clamp_min(x, 0); }},
    {"clamp_max", [](Value x) { return graph::clamp_max(x, 1); }},
    {"abs", [](Value x) { return graph::abs(x); }},
    {"exp", [](Value x) { return graph::exp(x); }},
    {"exp2", [](Value x) { return graph::exp2(x); }},
    {"expm1", [](Value x) { return graph::expm1(x); }},
    {"log", [](Value x) { return graph::log(x); }},
    {"log1p", [](Value x) { return graph::log1p(x); }},
    {"log2", [](Value x) { return graph::log2(x); }},
    {"log10", [](Value x) { return graph::log10(x); }},
    {"sqrt", [](Value x) { return graph::sqrt(x); }},
    {"rsqrt", [](Value x) { return graph::rsqrt(x); }},
    {"reciprocal", [](Value x) { return graph::reciprocal(x); }},
    {"square", [](Value x) { return graph::square(x); }},
    {"sin", [](Value x) { return graph::sin(x); }},
    {"cos", [](Value x) { return graph::cos(x); }},
    {"tan", [](Value x) { return graph::tan(x); }},
    {"asin", [](Value x) { return graph::asin(x); }},
    {"acos", [](Value x) { return graph::acos(x); }},
    {"atan", [](Value x) { return graph::atan(x); }},
    {"sinh", [](Value x) { return graph::sinh(x); }},
    {"cosh", [](Value x) { return graph::cosh(x); }},
    {"tanh", [](Value x) { return graph::tanh(x); }},
    {"asinh", [](Value x) { return graph::asinh(x); }},
    {"acosh", [](Value x) { return graph::acosh(x); }},
    {"atanh", [](Value x) { return graph::atanh(x); }},
    {"erf", [](Value x) { return graph::erf(x); }},
    {"erfc", [](Value x) { return graph::erfc(x); }},
    {"sinc", [](Value x) { return graph::sinc(x); }},
    {"power 2", [](Value x) { return graph::power(x, 2.0); }},
    {"power 3", [](Value x) { return graph::power(x, 3.0); }},
    {"power -1", [](Value x) { return graph::power(x, -1.0); }},
    {"power 0.5", [](Value x) { return graph::power(x, 0.5); }},
    {"power 0", [](Value x) { return graph::power(x, 0.0); }},
    {"power 1", [](Value x) { return graph::power(x, 1.0); }},
    {"maximum with 1", [](Value x) { return graph::clamp_min(x, 1); }},
    {"log_softmax beside 0", [](Value x) { return -graph::softplus(-x); }},
};
const Binary binary[] = {
    {"maximum", [](Value a, Value b) { return graph::maximum(a, b); }},
    {"minimum", [](Value a, Value b) { return graph::minimum(a, b); }},
    {"fmax", [](Value a, Value b) { return graph::fmax(a, b); }},
    {"fmin", [](Value a, Value b) { return graph::fmin(a, b); }},
    {"hypot", [](Value a, Value b) { return graph::hypot(a, b); }},
    {"atan2", [](Value a, Value b) { return graph::atan2(a, b); }},
    {"power", [](Value a, Value b) { return graph::power(a, b); }},
    {"logaddexp", [](Value a, Value b) { return graph::logaddexp(a, b); }},
    {"logaddexp2", [](Value a, Value b) { return graph::logaddexp2(a, b); }},
    {"xlogy", [](Value a, Value b) { return graph::xlogy(a, b); }},
    {"divide", [](Value a, Value b) { return a / b; }},
    {"clamp_min", [](Value a, Value b) { return graph::clamp_min(a, b); }},
    {"clamp_max", [](Value a, Value b) { return graph::clamp_max(a, b); }},
    {"mse", [](Value a, Value b) { return nn::mse(a, b, {.reduce = nn::Reduce::none}); }},
    {"l1", [](Value a, Value b) { return nn::l1(a, b, {.reduce = nn::Reduce::none}); }},
    {"huber", [](Value a, Value b) { return nn::huber(a, b, {.reduce = nn::Reduce::none}); }},
    {"smooth_l1", [](Value a, Value b) { return nn::smooth_l1(a, b, {.beta = 0.5, .reduce = nn::Reduce::none}); }},
    {"bce_with_logits", [](Value a, Value b) { return nn::bce_with_logits(a, b, {.reduce = nn::Reduce::none}); }},
    {"bce_with_logits of weighted positives",
     [](Value a, Value b) { return nn::bce_with_logits(a, b, {.pos_weight = 3.0, .reduce = nn::Reduce::none}); }},
};
const Binary of_probabilities[] = {
    {"bce", [](Value a, Value b) { return nn::bce(a, b, {.reduce = nn::Reduce::none}); }},
};

/// Where twill is meant to differ from PyTorch. Rows: 0 the value, then derivatives as the golden file has them.
struct Difference {
  std::string_view function;
  std::vector<std::size_t> rows;
  bool (*holds)(double a, double b);
  std::string_view reason;
};

bool is_nan(double a, double) { return std::isnan(a); }
bool is_large(double a, double) { return std::fabs(a) >= 9; }
bool is_any(double, double) { return true; }

const Difference differences[] = {
    {"relu", {1}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"abs", {1}, is_nan, "PyTorch's sign of NaN is 0"},
    {"elu", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"elu of 0.5", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"gelu", {2}, is_large, "0 is right where the density and its square overflow; PyTorch's is NaN"},
    {"gelu_tanh", {2}, is_large, "1 - tanh^2 is 0 once tanh is 1"},
    {"tanh", {1, 2}, is_large, "1 - tanh^2 takes its last digits from those of tanh, which are the C library's"},
    {"softplus",
     {2},
     is_large,
     "sigmoid's slope is y (1 - y), exact in the left tail; PyTorch's is exact in the right one"},
    {"log_softmax beside 0", {2}, is_large, "as for softplus"},
    {"sinc",
     {2},
     [](double a, double) { return std::fabs(a) < 1e-20 || std::fabs(a) > 1e20; },
     "the second derivative cancels at 0 in both; PyTorch's is NaN there, and 0 for the largest arguments"},
    {"power 0.5", {0, 1}, [](double a, double) { return std::isinf(a) && a < 0; }, "C's pow(-inf, 0.5) is inf"},
    {"hypot", {1, 2, 3, 4, 5}, [](double a, double b) { return a == 0 && b == 0; }, "0 at the kink; PyTorch's is NaN"},
    {"hypot", {3, 5}, is_any, "second derivatives cancel where one operand is small beside the other"},
    {"atan2",
     {1, 2, 3, 4, 5},
     [](double a, double b) { return a == 0 && b == 0; },
     "0 at the origin; PyTorch's is NaN"},
    {"atan2",
     {1, 2, 3, 4, 5},
     [](double a, double b) { return !(std::hypot(a, b) > 1e-150 && std::hypot(a, b) < 1e150); },
     "squares overflow and vanish in PyTorch, not here"},
    {"atan2", {4}, [](double a, double b) { return std::fabs(a) == std::fabs(b); }, "0 but for rounding"},
    {"power",
     {2, 4, 5},
     [](double a, double) { return a < 0; },
     "a negative base has no derivative by the exponent: 0, not the NaN that would spoil all weights"},
    {"power",
     {3, 4},
     [](double, double b) { return b == 0 || std::fabs(b) == 1e-200; },
     "the limit; PyTorch masks the power 0, or multiplies 0 by infinity"},
    {"power", {5}, [](double a, double b) { return a == 0 && b < 0; }, "an infinite power"},
    {"logaddexp2", {0}, [](double a, double b) { return a == b; }, "equal terms give a + 1 exactly"},
    {"xlogy", {4}, [](double a, double b) { return a == 0 && b == 0; }, "0, as the first derivative; PyTorch's is NaN"},
    {"bce_with_logits", {0}, [](double a, double) { return a < 0; }, "exact; PyTorch's loses digits for negatives"},
    {"bce_with_logits of weighted positives", {0}, [](double a, double) { return a < 0; }, "as for bce_with_logits"},
    {"bce_with_logits of weighted positives", {1}, [](double, double b) { return b == 1e-200; }, "lost beside 1"},
    {"bce", {1, 3}, is_any, "the bound 1e-12 of PyTorch's divisor is a float32"},
    {"bce", {2}, [](double a, double) { return a == 1e-300; }, "logarithms are bounded here as in the loss itself"},
};

bool is_meant(std::string_view function, std::size_t row, double a, double b) {
  return std::any_of(std::begin(differences), std::end(differences), [&](const Difference& each) {
    return each.function == function && std::find(each.rows.begin(), each.rows.end(), row) != each.rows.end() &&
           each.holds(a, b);
  });
}

/// What a function and its derivatives come to at all points: value, then derivatives as the golden rows have them.
std::vector<Doubles> derivatives(Value (*function)(Value), const Doubles& points) {
  graph::Graph graph{DType::float64};
  const Dims shape(static_cast<std::int64_t>(points.size()));
  const Value x{graph, graph.add_input(DType::float64, graph::extents_of(shape))};
  const Value y = function(x);
  const Value first = graph::gradient(graph::sum(y), x);
  const Value second = graph::gradient(graph::sum(first), x);
  for (const Value& each : {y, first, second}) graph.outputs.push_back(each.id());
  std::vector<Doubles> results{};
  for (const Array& output : evaluate(graph, {.inputs = {{shape, points}}}).outputs) results.push_back(output.elements);
  return results;
}
std::vector<Doubles> derivatives(Value (*function)(Value, Value), const Doubles& left, const Doubles& right) {
  graph::Graph graph{DType::float64};
  const Dims shape(static_cast<std::int64_t>(left.size()));
  const auto input = [&] { return Value{graph, graph.add_input(DType::float64, graph::extents_of(shape))}; };
  const Value a = input(), b = input();
  const Value y = function(a, b);
  const Value by_a = graph::gradient(graph::sum(y), a), by_b = graph::gradient(graph::sum(y), b);
  for (const Value& each : {y, by_a, by_b, graph::gradient(graph::sum(by_a), a), graph::gradient(graph::sum(by_a), b),
                            graph::gradient(graph::sum(by_b), b)})
    graph.outputs.push_back(each.id());
  std::vector<Doubles> results{};
  for (const Array& output : evaluate(graph, {.inputs = {{shape, left}, {shape, right}}}).outputs)
    results.push_back(output.elements);
  return results;
}

std::string shown(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

bool agrees(double got, double expected, double margin) {
  return got == expected || (std::isnan(got) && std::isnan(expected)) ||
         std::fabs(got - expected) <= 1e-11 * std::fabs(expected) + margin;
}

/// Compares the rows of one function with the golden file from `next` on, and moves it.
void compare(std::string_view name, const std::vector<Doubles>& got, const Doubles& golden, std::size_t& next,
             const Doubles& left, const Doubles& right, double margin = 1e-300) {
  for (std::size_t row = 0; row < got.size(); ++row)
    for (std::size_t i = 0; i < got[row].size(); ++i, ++next) {
      const double a = left.at(i), b = right.empty() ? 0 : right.at(i);
      const bool is_right = agrees(got[row][i], golden.at(next), margin) || is_meant(name, row, a, b);
      if (!is_right)
        UNSCOPED_INFO(name << ", row " << row << " at " << shown(a) << " and " << shown(b) << ": " << shown(got[row][i])
                           << ", PyTorch's is " << shown(golden.at(next)));
      CHECK(is_right);
    }
}

} // namespace

TEST_CASE("functions and their derivatives are PyTorch's at kinks, in tails and at the ends", "[graph]") {
  const Doubles points = golden("edges/points").values, expected = golden("edges/unary").values;
  std::size_t next = 0;
  for (const Unary& each : unary) compare(each.name, derivatives(each.function, points), expected, next, points, {});
  CHECK(next == expected.size());
}

TEST_CASE("functions of two and losses, with their derivatives, are PyTorch's at ties and at the ends", "[graph]") {
  const auto check = [](const char* operands, const char* results, std::span<const Binary> functions) {
    const Doubles pairs = golden(operands).values, expected = golden(results).values;
    const auto half = static_cast<std::ptrdiff_t>(pairs.size() / 2);
    const Doubles left(pairs.begin(), pairs.begin() + half), right(pairs.begin() + half, pairs.end());
    std::size_t next = 0;
    for (const Binary& each : functions)
      compare(each.name, derivatives(each.function, left, right), expected, next, left, right);
    CHECK(next == expected.size());
  };
  check("edges/pairs", "edges/binary", binary);
  check("edges/probabilities", "edges/of_probabilities", of_probabilities);
}

TEST_CASE("rows of zeros have the directions and gradients of PyTorch", "[graph]") {
  const auto others = [](graph::Graph& graph, const Value& rows) {
    return graph::broadcast_to(graph::cast(graph::iota(graph, graph::extents_of(Dims(3))), DType::float64) + 1.0,
                               rows.shape());
  };
  graph::Graph graph{DType::float64};
  const Dims shape(6, 3);
  const Value x{graph, graph.add_input(DType::float64, graph::extents_of(shape))};
  const Value unit = graph::normalize(x), cosine = graph::cosine_similarity(x, others(graph, x));
  for (const Value& each :
       {unit, graph::gradient(graph::sum(unit * others(graph, x)), x), cosine, graph::gradient(graph::sum(cosine), x)})
    graph.outputs.push_back(each.id());
  const auto outputs = evaluate(graph, {.inputs = {{shape, golden("edges/rows").values}}}).outputs;
  const auto check = [](const char* name, const std::vector<Doubles>& got) {
    std::size_t next = 0;
    const Doubles expected = golden(join_text({"edges/", name})).values;
    compare(name, got, expected, next, Doubles(expected.size()), {}, 1e-15);
  };
  check("normalize", {outputs[0].elements, outputs[1].elements});
  check("cosine", {outputs[2].elements});
  check("cosine_gradient", {outputs[3].elements});
}
