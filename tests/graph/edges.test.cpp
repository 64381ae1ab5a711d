// SPDX-License-Identifier: Apache-2.0
//
// Derivatives at kinks, in tails and at the ends of ranges beside PyTorch's: values, first and second derivatives of all
// elementwise functions and losses on one grid of points. What is meant to differ is listed with its reason. Read next:
// tests/golden/scripts/edges.py.

#include "tests/support/edge_functions.hpp"
#include "tests/support/golden.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
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

bool is_nan(double a, double) { return std::isnan(a); }
bool is_large(double a, double) { return std::fabs(a) >= 6; }
bool is_any(double, double) { return true; }

/// Where twill is meant to differ from PyTorch.
const EdgeException differences[] = {
    {"relu", {1}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"abs", {1}, is_nan, "PyTorch's sign of NaN is 0"},
    {"elu", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"elu of 0.5", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"celu of 0.5", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope 1"},
    {"selu", {1, 2}, is_nan, "PyTorch's mask gives NaN the slope of positives"},
    {"mish", {2}, is_large, "1 - tanh^2 is 0 once tanh is 1; PyTorch's is NaN for large arguments"},
    {"gelu", {2}, is_large, "0 is right where the density and its square overflow; PyTorch's is NaN"},
    {"gelu_tanh", {2}, is_large, "1 - tanh^2 is 0 once tanh is 1"},
    {"tanh_accurate", {1, 2}, is_large, "as for tanh"},
    {"tanhshrink", {2}, is_large, "as for tanh"},
    {"softsign",
     {1, 2},
     [](double a, double) { return std::fabs(a) > 1e20; },
     "exact; PyTorch's is a difference that cancels, and NaN at infinities"},
    {"hardshrink", {1}, is_nan, "PyTorch's mask gives NaN the slope 0"},
    {"sign", {0}, is_nan, "PyTorch's sign of NaN is 0"},
    {"copysign", {3}, [](double a, double) { return a == 0; }, "0, as the first derivative; PyTorch's is NaN"},
    {"remainder", {0}, [](double a, double b) { return a == 1e200 && b == 1e-200; }, "exact; PyTorch's is NaN"},
    {"fmod", {0}, [](double a, double b) { return a == 1e200 && b == 1e-200; }, "exact; PyTorch's is NaN"},
    {"tanh", {1, 2}, is_large, "1 - tanh^2 takes its last digits from those of tanh, which are the C library's"},
    {"softplus",
     {2},
     is_large,
     "sigmoid's slope is y (1 - y), exact in the left tail; PyTorch's is exact in the right one"},
    {"logsigmoid", {2}, is_large, "as for softplus"},
    {"sinc",
     {2},
     [](double a, double) { return std::fabs(a) < 1e-20 || std::fabs(a) > 1e20; },
     "the second derivative cancels at 0 in both; PyTorch's is NaN there, and 0 for the largest arguments"},
    {"power 0.5", {0, 1}, [](double a, double) { return std::isinf(a) && a < 0; }, "C's pow(-inf, 0.5) is inf"},
    {"power 0.5", {1}, [](double a, double) { return a == 0; }, "C's pow(-0, -0.5) is inf"},
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
    {"power", {2, 5}, [](double a, double b) { return a == 0 && b < 0; }, "0 beside an infinite power"},
    {"logaddexp",
     {3, 4, 5},
     [](double a, double b) { return std::fabs(a - b) > 709; },
     "0; PyTorch multiplies 0 by an infinite exponential"},
    {"logaddexp2",
     {3, 4, 5},
     [](double a, double b) { return std::fabs(a - b) > 500; },
     "exact; PyTorch squares 2^|a - b|"},
    {"logaddexp2", {0}, [](double a, double b) { return a == b; }, "equal terms give a + 1 exactly"},
    {"xlogy", {4}, [](double a, double b) { return a == 0 && b == 0; }, "0, as the first derivative; PyTorch's is NaN"},
    {"bce_with_logits", {0}, [](double a, double) { return a < 0; }, "exact; PyTorch's loses digits for negatives"},
    {"bce_with_logits of weighted positives", {0}, [](double a, double) { return a < 0; }, "as for bce_with_logits"},
    {"bce_with_logits of weighted positives", {1}, [](double, double b) { return b == 1e-200; }, "lost beside 1"},
    {"bce", {1, 3}, is_any, "the bound 1e-12 of PyTorch's divisor is a float32"},
    {"bce",
     {2},
     [](double a, double) { return a == 0 || a == 1e-300 || a == 1; },
     "logarithms are bounded here as in the loss itself"},
};

std::string shown(double number) {
  std::ostringstream text;
  text << number;
  return text.str();
}

/// Compares the rows of one function with the golden file from `next` on, and moves it.
void compare(std::string_view name, const std::vector<Doubles>& got, const Doubles& golden, std::size_t& next,
             const Doubles& left, const Doubles& right) {
  for (std::size_t row = 0; row < got.size(); ++row)
    for (std::size_t i = 0; i < got[row].size(); ++i, ++next) {
      const double a = left.at(i), b = right.empty() ? 0 : right.at(i);
      const bool is_right = agrees(got[row][i], golden.at(next), 1e-11 * std::fabs(golden.at(next)) + 1e-300) ||
                            is_listed(differences, name, row, a, b);
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
  for (const EdgeUnary& each : edge_unary)
    compare(each.name, edge_reference(each, Dims(static_cast<std::int64_t>(points.size())), points), expected, next,
            points, {});
  CHECK(next == expected.size());
}

TEST_CASE("functions of two and losses, with their derivatives, are PyTorch's at ties and at the ends", "[graph]") {
  const auto check = [](const char* operands, const char* results, std::span<const EdgeBinary> functions) {
    const Doubles pairs = golden(operands).values, expected = golden(results).values;
    const auto half = static_cast<std::ptrdiff_t>(pairs.size() / 2);
    const Doubles left(pairs.begin(), pairs.begin() + half), right(pairs.begin() + half, pairs.end());
    std::size_t next = 0;
    for (const EdgeBinary& each : functions)
      compare(each.name, edge_reference(each, Dims(half), left, right), expected, next, left, right);
    CHECK(next == expected.size());
  };
  check("edges/pairs", "edges/binary", edge_binary);
  check("edges/probabilities", "edges/of_probabilities", edge_of_probabilities);
}
