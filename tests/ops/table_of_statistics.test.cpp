// SPDX-License-Identifier: Apache-2.0
//
// The table of diagonals, quantiles, statistics and functions of samples: beside naive loops in every type, on odd, single and
// empty shapes, and for batches by vmap; derivatives of both orders beside finite differences. PyTorch's values:
// tests/ops/statistics.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/ops/value_diagonals.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/ops/value_samples.hpp>
#include <twill/ops/value_statistics.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using Numbers = std::vector<double>;

constexpr double nan_number = std::numeric_limits<double>::quiet_NaN();

/// x with NaN at the elements 1, 4, 7, ... of each row of a matrix.
Value with_gaps(Value x) {
  graph::Extents row{};
  row.append(x.shape()[1]);
  return where(equal(graph::iota(x.graph(), row) % 3, 1), nan_number, x);
}
/// What is left of row i of a matrix with gaps.
Numbers numbers_of(const Array& x, std::int64_t i) {
  Numbers numbers{};
  for (std::int64_t k = 0; k < x.shape[1]; ++k)
    if (k % 3 != 1) numbers.push_back(element_of(x, Dims(i, k)));
  return numbers;
}
/// A function of what is left of each row.
template <double (*F)(const Numbers&)> Array of_numbers(const Arrays& x) {
  return array_from(Dims(x[0].shape[0]), [&](const Dims& i) { return F(numbers_of(x[0], i[0])); });
}

double sum_of(const Numbers& x) {
  double sum = 0;
  for (const double number : x) sum += number;
  return sum;
}
double mean_of(const Numbers& x) { return sum_of(x) / static_cast<double>(x.size()); }
double product_of(const Numbers& x) {
  double product = 1;
  for (const double number : x) product *= number;
  return product;
}
double greatest_of(const Numbers& x) { return *std::max_element(x.begin(), x.end()); }
double least_of(const Numbers& x) { return *std::min_element(x.begin(), x.end()); }
double variance_of(const Numbers& x) {
  double sum = 0;
  for (const double number : x) sum += (number - mean_of(x)) * (number - mean_of(x));
  return sum / static_cast<double>(x.size() - 1);
}
double deviation_of(const Numbers& x) { return std::sqrt(variance_of(x)); }
double quantile_of(Numbers x, double q) {
  if (x.empty()) return nan_number;
  std::sort(x.begin(), x.end());
  const double place = q * static_cast<double>(x.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double first = x[below], second = x[std::min(below + 1, x.size() - 1)];
  return first + (second - first) * (place - static_cast<double>(below));
}
/// The quantiles of blocks (a, b, c) over axes 0 and 2.
Array of_outer_axes(const Array& x, double q) {
  return array_from(Dims(x.shape[1]), [&](const Dims& i) {
    Numbers numbers{};
    for (std::int64_t a = 0; a < x.shape[0]; ++a)
      for (std::int64_t c = 0; c < x.shape[2]; ++c) numbers.push_back(element_of(x, Dims(a, i[0], c)));
    return quantile_of(numbers, q);
  });
}
Numbers row_of(const Array& x, std::int64_t i) {
  Numbers numbers{};
  for (std::int64_t k = 0; k < x.shape[1]; ++k) numbers.push_back(element_of(x, Dims(i, k)));
  return numbers;
}
double covariance_of(const Numbers& a, const Numbers& b, double divisor) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - mean_of(a)) * (b[k] - mean_of(b));
  return sum / divisor;
}
Array cov_reference(const Arrays& x) {
  const std::int64_t n = x[0].shape[0];
  return array_from(Dims(n, n), [&](const Dims& i) {
    return covariance_of(row_of(x[0], i[0]), row_of(x[0], i[1]), static_cast<double>(x[0].shape[1] - 1));
  });
}
Array corrcoef_reference(const Arrays& x) {
  const Array cov = cov_reference(x);
  return array_from(cov.shape, [&](const Dims& i) {
    return element_of(cov, i) / std::sqrt(element_of(cov, Dims(i[0], i[0])) * element_of(cov, Dims(i[1], i[1])));
  });
}

const std::vector<std::vector<Dims>> gapped{{Dims(2, 5)}, {Dims(3, 4)}, {Dims(0, 3)}, {Dims(1, 17)}};

const OperationRow functions[] = {
    {"diagonal",
     {{Dims(3, 2, 4)}, {Dims(3, 1, 3)}, {Dims(1, 2, 5)}, {Dims(3, 2, 1)}, {Dims(0, 2, 2)}},
     [](const Value* x) { return graph::diagonal<2, 0>(x[0], -1); },
     [](const Arrays& x) {
       const std::int64_t length = std::max<std::int64_t>(std::min(x[0].shape[2] - 1, x[0].shape[0]), 0);
       return array_from(Dims(x[0].shape[1], length),
                         [&](const Dims& i) { return element_of(x[0], Dims(i[1], i[0], i[1] + 1)); });
     },
     RowTypes::numbers},
    {"trace",
     {{Dims(3, 3)}, {Dims(2, 5)}, {Dims(4, 1)}, {Dims(0, 2)}},
     [](const Value* x) { return graph::trace(x[0]); },
     [](const Arrays& x) {
       double sum = 0;
       for (std::int64_t i = 0; i < std::min(x[0].shape[0], x[0].shape[1]); ++i) sum += element_of(x[0], Dims(i, i));
       return Array{Dims{}, {sum}};
     },
     RowTypes::numbers},
    {"diag of a vector",
     {{Dims(3)}, {Dims(1)}, {Dims(0)}},
     [](const Value* x) { return graph::diag(x[0], -1); },
     [](const Arrays& x) {
       const std::int64_t side = x[0].shape[0] + 1;
       return array_from(Dims(side, side),
                         [&](const Dims& i) { return i[0] == i[1] + 1 ? element_of(x[0], Dims(i[1])) : 0; });
     },
     RowTypes::numbers},
    {"diag_embed",
     {{Dims(2, 3)}, {Dims(1, 1)}, {Dims(2, 0)}},
     [](const Value* x) { return graph::diag_embed(x[0]); },
     [](const Arrays& x) {
       const std::int64_t n = x[0].shape[1];
       return array_from(Dims(x[0].shape[0], n, n),
                         [&](const Dims& i) { return i[1] == i[2] ? element_of(x[0], Dims(i[0], i[1])) : 0; });
     },
     RowTypes::numbers},
    {"rot90",
     {{Dims(2, 3)}, {Dims(1, 4)}, {Dims(0, 2)}},
     [](const Value* x) { return graph::rot90(x[0]); },
     [](const Arrays& x) {
       const std::int64_t columns = x[0].shape[1];
       return array_from(Dims(columns, x[0].shape[0]),
                         [&](const Dims& i) { return element_of(x[0], Dims(i[1], columns - 1 - i[0])); });
     },
     RowTypes::numbers},
    {"quantile",
     {{Dims(2, 2, 3)}, {Dims(1, 3, 1)}, {Dims(5, 2, 1)}, {Dims(0, 2, 2)}},
     [](const Value* x) { return graph::quantile<0, 2>(x[0], 0.3) * graph::quantile<2, 0>(x[0], 1); },
     [](const Arrays& x) {
       const Array first = of_outer_axes(x[0], 0.3), second = of_outer_axes(x[0], 1);
       return array_from(first.shape, [&](const Dims& i) { return element_of(first, i) * element_of(second, i); });
     }},
    {"percentile",
     {{Dims(2, 5)}, {Dims(1, 1)}, {Dims(3, 4)}},
     [](const Value* x) { return graph::percentile<1>(x[0], 75, keepdims); },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[0], 1), [&](const Dims& i) { return quantile_of(row_of(x[0], i[0]), 0.75); });
     }},
    {"median",
     {{Dims(2, 3)}, {Dims(1, 4)}, {Dims(1, 1)}},
     [](const Value* x) { return square(graph::median(x[0])); },
     [](const Arrays& x) {
       const double median = quantile_of(x[0].elements, 0.5);
       return Array{Dims{}, {median * median}};
     }},
    {"nanquantile", gapped, [](const Value* x) { return graph::nanquantile<1>(with_gaps(x[0]), 0.4); },
     &of_numbers<[](const Numbers& x) { return quantile_of(x, 0.4); }>},
    {"nanpercentile", gapped, [](const Value* x) { return graph::nanpercentile<-1>(with_gaps(x[0]), 90); },
     &of_numbers<[](const Numbers& x) { return quantile_of(x, 0.9); }>},
    {"nanmedian", gapped, [](const Value* x) { return graph::nanmedian<1>(with_gaps(x[0])); },
     &of_numbers<[](const Numbers& x) { return quantile_of(x, 0.5); }>},
    {"nansum", gapped, [](const Value* x) { return graph::nansum<1>(with_gaps(x[0])); }, &of_numbers<&sum_of>},
    {"nanprod", gapped, [](const Value* x) { return graph::nanprod<1>(with_gaps(x[0])); }, &of_numbers<&product_of>},
    {"nanmean", gapped, [](const Value* x) { return graph::nanmean<1>(with_gaps(x[0])); }, &of_numbers<&mean_of>},
    {"nanmax", gapped, [](const Value* x) { return graph::nanmax<1>(with_gaps(x[0])); }, &of_numbers<&greatest_of>},
    {"nanmin", gapped, [](const Value* x) { return graph::nanmin<1>(with_gaps(x[0])); }, &of_numbers<&least_of>},
    {"nanvar", gapped, [](const Value* x) { return graph::nanvar<1>(with_gaps(x[0]), correction<1>); },
     &of_numbers<&variance_of>},
    {"nanstd", gapped, [](const Value* x) { return graph::nanstd<1>(with_gaps(x[0]), correction<1>); },
     &of_numbers<&deviation_of>, RowTypes::wide},
    {"average",
     {{Dims(3, 4), Dims(3)}, {Dims(1, 3), Dims(1)}, {Dims(2, 0), Dims(2)}},
     [](const Value* x) { return graph::average<0>(x[0], x[1]); },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[1]), [&](const Dims& i) {
         double sum = 0;
         for (std::int64_t k = 0; k < x[0].shape[0]; ++k)
           sum += element_of(x[0], Dims(k, i[0])) * element_of(x[1], Dims(k));
         return sum / sum_of(x[1].elements);
       });
     },
     RowTypes::floating,
     {0.3, 2}},
    {"cov",
     {{Dims(2, 5)}, {Dims(3, 3)}, {Dims(1, 2)}},
     [](const Value* x) { return graph::cov(x[0]); },
     &cov_reference,
     RowTypes::wide},
    {"corrcoef",
     {{Dims(2, 5)}, {Dims(3, 7)}},
     [](const Value* x) { return graph::corrcoef(x[0]) * 2; },
     [](const Arrays& x) {
       Array y = corrcoef_reference(x);
       for (double& element : y.elements) element *= 2;
       return y;
     },
     RowTypes::wide},
    {"logcumsumexp",
     {{Dims(2, 5)}, {Dims(1, 1)}, {Dims(3, 0)}, {Dims(2, 17)}},
     [](const Value* x) { return graph::logcumsumexp<1>(x[0]); },
     [](const Arrays& x) {
       return array_from(x[0].shape, [&](const Dims& i) {
         double sum = 0;
         for (std::int64_t k = 0; k <= i[1]; ++k) sum += std::exp(element_of(x[0], Dims(i[0], k)));
         return std::log(sum);
       });
     }},
    {"trapezoid",
     {{Dims(3, 2)}, {Dims(1, 2)}, {Dims(0, 2)}, {Dims(5, 1)}},
     [](const Value* x) { return square(graph::trapezoid<0>(x[0], 0.5)); },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[1]), [&](const Dims& i) {
         double sum = 0;
         for (std::int64_t k = 1; k < x[0].shape[0]; ++k)
           sum += element_of(x[0], Dims(k, i[0])) + element_of(x[0], Dims(k - 1, i[0]));
         return sum * sum / 16;
       });
     },
     RowTypes::wide},
    {"trapezoid at places",
     {{Dims(2, 5), Dims(5)}, {Dims(3, 2), Dims(2)}, {Dims(2, 1), Dims(1)}},
     [](const Value* x) { return graph::trapezoid(x[0], x[1]); },
     [](const Arrays& x) {
       return array_from(Dims(x[0].shape[0]), [&](const Dims& i) {
         double sum = 0;
         for (std::int64_t k = 1; k < x[0].shape[1]; ++k)
           sum += (element_of(x[0], Dims(i[0], k)) + element_of(x[0], Dims(i[0], k - 1))) / 2 *
                  (element_of(x[1], Dims(k)) - element_of(x[1], Dims(k - 1)));
         return sum;
       });
     },
     RowTypes::wide},
    {"vdot",
     {{Dims(2, 3), Dims(2, 3)}, {Dims(1), Dims(1)}, {Dims(0), Dims(0)}},
     [](const Value* x) { return graph::vdot(x[0], x[1]); },
     [](const Arrays& x) {
       double sum = 0;
       for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum += x[0].elements[i] * x[1].elements[i];
       return Array{Dims{}, {sum}};
     },
     RowTypes::wide},
    {"nan_to_num", gapped, [](const Value* x) { return graph::nan_to_num(with_gaps(x[0]), {.nan = 3}) * x[0]; },
     [](const Arrays& x) {
       return array_from(
           x[0].shape, [&](const Dims& i) { return element_of(x[0], i) * (i[1] % 3 == 1 ? 3 : element_of(x[0], i)); });
     }},
    {"masked_fill",
     {{Dims(2, 3), Dims(3)}, {Dims(1, 1), Dims(1)}, {Dims(0, 2), Dims(2)}},
     [](const Value* x) { return graph::masked_fill(x[0], x[1] > 0, 2); },
     [](const Arrays& x) {
       return array_from(x[0].shape,
                         [&](const Dims& i) { return element_of(x[1], Dims(i[1])) > 0 ? 2 : element_of(x[0], i); });
     },
     RowTypes::numbers},
};

} // namespace

TEST_CASE("statistics and diagonals in models are naive loops in every type, on odd and empty shapes", "[ops]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of statistics and diagonals in models agree with finite differences", "[ops][gradient]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}
