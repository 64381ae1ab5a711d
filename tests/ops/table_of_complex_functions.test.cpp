// SPDX-License-Identifier: Apache-2.0
//
// The table of functions of complex numbers in models: beside those of std::complex, in both wide types, and for batches by vmap;
// derivatives of both orders beside finite differences of the real and the imaginary parts.

#include "tests/support/operation_table.hpp"

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/ops/complex_functions.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using graph::ComplexValue;
using graph::view_as_complex;
using ComplexNumber = std::complex<double>;

/// A function of each number of pairs along the last axis.
template <class F> Array of_complex_numbers(const std::vector<Array>& x, const F& function) {
  Array result = x[0];
  for (std::size_t i = 0; i + 1 < result.elements.size(); i += 2) {
    const ComplexNumber y = function(ComplexNumber{x[0].elements[i], x[0].elements[i + 1]});
    result.elements[i] = y.real();
    result.elements[i + 1] = y.imag();
  }
  return result;
}

/// A row of a function of one complex number and its reference.
template <class F, class G> OperationRow complex_row(std::string_view name, F, G, Range range = {}) {
  return {name,
          {{Dims(7, 2)}, {Dims(2, 3, 2)}, {Dims(2)}, {Dims(0, 2)}},
          [](const Value* x) { return view_as_real(F{}(view_as_complex(x[0]))); },
          [](const std::vector<Array>& x) { return of_complex_numbers(x, G{}); },
          RowTypes::wide,
          range};
}

/// Numbers along axis 1 of (m, n, 2) as rows.
std::vector<std::vector<ComplexNumber>> complex_rows(const Array& x) {
  const std::int64_t n = x.shape[1];
  std::vector<std::vector<ComplexNumber>> result(static_cast<std::size_t>(x.shape[0]));
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::size_t at = 2 * (i * static_cast<std::size_t>(n) + static_cast<std::size_t>(j));
      result[i].emplace_back(x.elements[at], x.elements[at + 1]);
    }
  return result;
}

std::vector<OperationRow> complex_function_rows() {
  using Z = ComplexNumber;
  std::vector<OperationRow> rows{
      complex_row(
          "sqrt", [](const ComplexValue& z) { return sqrt(z); }, [](Z z) { return std::sqrt(z); }),
      complex_row(
          "sin", [](const ComplexValue& z) { return sin(z); }, [](Z z) { return std::sin(z); }),
      complex_row(
          "cos", [](const ComplexValue& z) { return cos(z); }, [](Z z) { return std::cos(z); }),
      complex_row(
          "tan", [](const ComplexValue& z) { return tan(z); }, [](Z z) { return std::tan(z); }),
      complex_row(
          "sinh", [](const ComplexValue& z) { return sinh(z); }, [](Z z) { return std::sinh(z); }),
      complex_row(
          "cosh", [](const ComplexValue& z) { return cosh(z); }, [](Z z) { return std::cosh(z); }),
      complex_row(
          "tanh", [](const ComplexValue& z) { return tanh(z); }, [](Z z) { return std::tanh(z); }),
      complex_row(
          "asin", [](const ComplexValue& z) { return asin(z); }, [](Z z) { return std::asin(z); }),
      complex_row(
          "acos", [](const ComplexValue& z) { return acos(z); }, [](Z z) { return std::acos(z); }),
      complex_row(
          "atan", [](const ComplexValue& z) { return atan(z); }, [](Z z) { return std::atan(z); }),
      complex_row(
          "asinh", [](const ComplexValue& z) { return asinh(z); }, [](Z z) { return std::asinh(z); }),
      complex_row(
          "acosh", [](const ComplexValue& z) { return acosh(z); }, [](Z z) { return std::acosh(z); }),
      complex_row(
          "atanh", [](const ComplexValue& z) { return atanh(z); }, [](Z z) { return std::atanh(z); }),
      complex_row(
          "log", [](const ComplexValue& z) { return log(z); }, [](Z z) { return std::log(z); }),
      complex_row(
          "log10", [](const ComplexValue& z) { return log10(z); }, [](Z z) { return std::log10(z); }),
      complex_row(
          "square", [](const ComplexValue& z) { return square(z); }, [](Z z) { return z * z; }),
      complex_row(
          "reciprocal", [](const ComplexValue& z) { return reciprocal(z); }, [](Z z) { return 1.0 / z; }),
      complex_row(
          "rsqrt", [](const ComplexValue& z) { return rsqrt(z); }, [](Z z) { return 1.0 / std::sqrt(z); }),
      complex_row(
          "exp2", [](const ComplexValue& z) { return exp2(z); }, [](Z z) { return std::pow(2.0, z); }),
      complex_row(
          "expm1", [](const ComplexValue& z) { return expm1(z); }, [](Z z) { return std::exp(z) - 1.0; }),
      complex_row(
          "log2", [](const ComplexValue& z) { return log2(z); }, [](Z z) { return std::log(z) / std::log(2.0); }),
      complex_row(
          "log1p", [](const ComplexValue& z) { return log1p(z); }, [](Z z) { return std::log(z + 1.0); }),
      complex_row(
          "sign", [](const ComplexValue& z) { return sign(z); }, [](Z z) { return z / std::abs(z); }),
      complex_row(
          "sigmoid", [](const ComplexValue& z) { return sigmoid(z); }, [](Z z) { return 1.0 / (1.0 + std::exp(-z)); }),
      complex_row(
          "a real power", [](const ComplexValue& z) { return pow(z, -1.5); }, [](Z z) { return std::pow(z, -1.5); }),
  };
  rows.push_back({"a complex power",
                  {{Dims(5, 2), Dims(5, 2)}, {Dims(2, 3, 2), Dims(1, 2)}},
                  [](const Value* x) { return view_as_real(pow(view_as_complex(x[0]), view_as_complex(x[1]))); },
                  [](const std::vector<Array>& x) {
                    Array result = x[0];
                    const std::size_t count = x[1].elements.size();
                    for (std::size_t i = 0; i < result.elements.size(); i += 2) {
                      const Z w{x[1].elements[i % count], x[1].elements[i % count + 1]};
                      const Z y = std::pow(Z{x[0].elements[i], x[0].elements[i + 1]}, w);
                      result.elements[i] = y.real();
                      result.elements[i + 1] = y.imag();
                    }
                    return result;
                  },
                  RowTypes::wide,
                  {0.25, 1.75}});
  rows.push_back({"the variance of complex numbers",
                  {{Dims(3, 5, 2)}, {Dims(2, 2, 2)}},
                  [](const Value* x) { return var(view_as_complex(x[0]), {1}, 1); },
                  [](const std::vector<Array>& x) {
                    Array result{Dims(x[0].shape[0]), {}};
                    for (const auto& row : complex_rows(x[0])) {
                      Z mean{};
                      for (const Z z : row) mean += z / static_cast<double>(row.size());
                      double sum = 0;
                      for (const Z z : row) sum += std::norm(z - mean);
                      result.elements.push_back(sum / static_cast<double>(row.size() - 1));
                    }
                    return result;
                  },
                  RowTypes::wide});
  rows.push_back({"the product of complex numbers",
                  {{Dims(3, 5, 2)}, {Dims(2, 1, 2)}, {Dims(2, 4, 2)}},
                  [](const Value* x) { return view_as_real(prod(view_as_complex(x[0]), 1)); },
                  [](const std::vector<Array>& x) {
                    Array result{Dims(x[0].shape[0], 2), {}};
                    for (const auto& row : complex_rows(x[0])) {
                      Z product{1};
                      for (const Z z : row) product *= z;
                      result.elements.push_back(product.real());
                      result.elements.push_back(product.imag());
                    }
                    return result;
                  },
                  RowTypes::wide});
  rows.push_back({"running products of complex numbers",
                  {{Dims(2, 5, 2)}, {Dims(2, 1, 2)}, {Dims(1, 4, 2)}},
                  [](const Value* x) { return view_as_real(cumprod(view_as_complex(x[0]), 1)); },
                  [](const std::vector<Array>& x) {
                    Array result{x[0].shape, {}};
                    for (const auto& row : complex_rows(x[0])) {
                      Z product{1};
                      for (const Z z : row) {
                        product *= z;
                        result.elements.push_back(product.real());
                        result.elements.push_back(product.imag());
                      }
                    }
                    return result;
                  },
                  RowTypes::wide});
  return rows;
}

/// Results and gradients of sum(re) + 2 sum(im) at points, pairs along the last axis.
template <class F> std::vector<Array> complex_slopes(const std::vector<double>& points, const F& function) {
  graph::Graph graph{DType::float64};
  const Array pairs{Dims(static_cast<std::int64_t>(points.size() / 2), 2), points};
  const ComplexValue z = view_as_complex({graph, graph.add_input(DType::float64, graph::extents_of(pairs.shape))});
  const ComplexValue y = function(z);
  const ComplexValue slope = gradient(sum(y.re) + sum(y.im) * 2, z);
  for (const Value& output : {view_as_real(y), view_as_real(slope)}) graph.outputs.push_back(output.id());
  REQUIRE(!graph.fault.any());
  return evaluate(graph, {{}, {pairs}, {}, {}}, &run_by_kernel).outputs;
}

} // namespace

TEST_CASE("functions of complex numbers in models agree with std::complex", "[ops]") {
  for (const OperationRow& row : complex_function_rows()) check_forward(row);
}

TEST_CASE("both derivatives of functions of complex numbers are those of differences", "[ops][gradient]") {
  for (const OperationRow& row : complex_function_rows()) check_both_derivatives(row);
}

TEST_CASE("gradients of complex functions follow PyTorch's convention where formulas would divide by zero",
          "[ops][gradient]") {
  const auto near = [](const Array& found, const std::vector<double>& wanted) {
    REQUIRE(found.elements.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(found.elements[i] == Approx(wanted[i]).margin(1e-15));
  };
  // g = 1 + 2i times the conjugate of the derivative
  near(complex_slopes({0, 0}, [](const ComplexValue& z) { return asin(z); })[1], {1, 2});
  near(complex_slopes({0, 0}, [](const ComplexValue& z) { return atanh(z); })[1], {1, 2});
  near(complex_slopes({0, 0}, [](const ComplexValue& z) { return log1p(z); })[1], {1, 2});
  near(complex_slopes({4, 0}, [](const ComplexValue& z) { return sqrt(z); })[1], {0.25, 0.5});
  near(complex_slopes({-4, 0}, [](const ComplexValue& z) { return sqrt(z); })[1], {-0.5, 0.25});
  near(complex_slopes({0, 0}, [](const ComplexValue& z) { return sign(z); })[1], {0, 0});
  near(complex_slopes({0, 0, 3, 4}, [](const ComplexValue& z) { return pow(z, 2); })[1], {0, 0, 22, 4});
  near(complex_slopes({0, 0}, [](const ComplexValue& z) { return pow(z, 0); })[1], {0, 0});
  const auto far = complex_slopes({-800, 1, 800, 1}, [](const ComplexValue& z) { return sigmoid(z); });
  near(far[0], {0, 0, 1, 0});
  near(far[1], {0, 0, 0, 0});
}

TEST_CASE("logarithms of complex numbers beside the unit circle are precise", "[ops]") {
  using Z = std::complex<double>;
  constexpr double step = 2 * std::numeric_limits<double>::epsilon();
  const std::vector<double> points{1,        1e-9, 0x1p-30, -1,  -1,   0x1p-26,       1 + 0x1p-52, 0,
                                   -0x1p-52, 1,    0.6,     0.8, -0.8, 0.6 + 0x1p-40, 3e200,       4e200};
  const auto found = complex_slopes(points, [](const ComplexValue& z) { return log(z); });
  for (std::size_t i = 0; i < points.size(); i += 2) {
    const double x = points[i], y = points[i + 1];
    const auto large = static_cast<long double>(std::max(std::abs(x), std::abs(y)));
    const auto small = static_cast<long double>(std::min(std::abs(x), std::abs(y)));
    const auto size = static_cast<double>(large > 2 ? std::log(std::hypot(large, small))
                                                    : std::log1p((large - 1) * (large + 1) + small * small) / 2);
    const Z z{found[0].elements[i], found[0].elements[i + 1]};
    CHECK(std::abs(z - Z{size, std::atan2(y, x)}) <= step * std::abs(z));
    if (small < 1e-6) CHECK(std::abs(z.real() - size) <= step * std::abs(size)); // relative to a part of 1e-19
    const Z slope = Z{1, 2} * std::conj(1.0 / Z{x, y});
    CHECK(std::abs(Z{found[1].elements[i], found[1].elements[i + 1]} - slope) <= 2 * step * std::abs(slope));
  }
}

TEST_CASE("compiled functions of complex numbers are those of tensors", "[ops]") {
  constexpr auto function = [](Value x) {
    const ComplexValue z = view_as_complex(x);
    return view_as_real(asin(z) * pow(z, 1.5) + sigmoid(z));
  };
  const auto pairs = from_values<Shape<3, 2>>(std::vector<double>{0.5, 2, -1.5, 0.25, 3, -0.75});
  const Tensor z = view_as_complex(pairs);
  const std::vector<double> expected = to_vector(view_as_real(eval(asin(z) * pow(z, 1.5) + sigmoid(z))));
  const std::vector<double> found = to_vector(compiled(function)(pairs));
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-14));
}

TEST_CASE("classes of complex numbers in models, and products along axes that are not there", "[ops]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  graph::Graph graph{DType::float64};
  const Array pairs{Dims(4, 2), {1, 2, nan, 1, 0, infinity, infinity, nan}};
  const ComplexValue z = view_as_complex({graph, graph.add_input(DType::float64, graph::extents_of(pairs.shape))});
  for (const Value& output : {isnan(z), isinf(z), isfinite(z)}) graph.outputs.push_back(output.id());
  const auto found = evaluate(graph, {{}, {pairs}, {}, {}}, &run_by_kernel).outputs;
  CHECK(found[0].elements == std::vector<double>{0, 1, 0, 1});
  CHECK(found[1].elements == std::vector<double>{0, 0, 1, 1});
  CHECK(found[2].elements == std::vector<double>{1, 0, 0, 0});
  static_cast<void>(prod(z, 3));
  CHECK(graph.fault.problem == graph::Problem::axis_is_outside_the_rank);
}
