// SPDX-License-Identifier: Apache-2.0
//
// The table of resampling and of sampling by grids: beside naive loops in every floating type, on odd, single and empty
// shapes, and for batches by vmap; derivatives of both orders beside finite differences. PyTorch's values:
// tests/ops/sampling.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/ops/grid_sample.hpp>
#include <twill/ops/resample.hpp>

#include <algorithm>
#include <cmath>

using namespace twill;
using namespace twill::test;
using graph::Resampling;

namespace {

using Arrays = std::vector<Array>;

/// The last two axes of x with other extents: y[r, c] = the sum of weight(h, r) weight(v, c) x[h, v].
template <class F> Array resampled(const Array& x, std::int64_t rows, std::int64_t columns, const F& weight) {
  Dims shape = x.shape;
  shape[2] = rows;
  shape[3] = columns;
  return array_from(shape, [&](Dims i) {
    const std::int64_t row = i[2], column = i[3];
    double sum = 0;
    for (i[2] = 0; i[2] < x.shape[2]; ++i[2])
      for (i[3] = 0; i[3] < x.shape[3]; ++i[3])
        sum += weight(i[2], row, x.shape[2], rows) * weight(i[3], column, x.shape[3], columns) * element_of(x, i);
    return sum;
  });
}

/// Of input h of n in output r of m: Keys' kernel, edges repeated.
double cubic(std::int64_t h, std::int64_t r, std::int64_t n, std::int64_t m) {
  const double source = (double(r) + 0.5) * double(n) / double(m) - 0.5, a = -0.75;
  double sum = 0;
  for (std::int64_t tap = std::int64_t(std::floor(source)) - 1; tap <= std::int64_t(std::floor(source)) + 2; ++tap) {
    const double x = std::fabs(source - double(tap));
    if (std::clamp<std::int64_t>(tap, 0, n - 1) == h)
      sum += x <= 1 ? (a + 2) * x * x * x - (a + 3) * x * x + 1 : a * (x * x * x - 5 * x * x + 8 * x - 4);
  }
  return sum;
}
/// The share of the hat around the centre of output r, as wide as n / m inputs or 1, that is over input h.
double hat(std::int64_t h, std::int64_t r, std::int64_t n, std::int64_t m) {
  const double scale = double(n) / double(m), width = std::max(scale, 1.0);
  const auto at = [&](std::int64_t k) {
    return std::max(0.0, 1 - std::fabs(double(k) + 0.5 - (double(r) + 0.5) * scale) / width);
  };
  double total = 0;
  for (std::int64_t k = 0; k < n; ++k) total += at(k);
  return at(h) / total;
}
double mean_over(std::int64_t h, std::int64_t r, std::int64_t n, std::int64_t m) {
  const std::int64_t first = r * n / m, end = ((r + 1) * n + m - 1) / m;
  return h < first || h >= end ? 0 : 1 / double(end - first);
}

/// A pixel, 0 outside of the image.
double pixel(const Array& x, std::int64_t image, std::int64_t channel, double row, double column) {
  const bool inside = row >= 0 && column >= 0 && row < double(x.shape[2]) && column < double(x.shape[3]);
  return inside ? element_of(x, Dims(image, channel, std::int64_t(row), std::int64_t(column))) : 0;
}
double between(const Array& x, const Array& grid, const Dims& i) {
  const double column = ((element_of(grid, Dims(i[0], i[2], i[3], 0)) + 1) * double(x.shape[3]) - 1) / 2;
  const double row = ((element_of(grid, Dims(i[0], i[2], i[3], 1)) + 1) * double(x.shape[2]) - 1) / 2;
  double sum = 0;
  for (const double h : {std::floor(row), std::floor(row) + 1})
    for (const double v : {std::floor(column), std::floor(column) + 1})
      sum += (1 - std::fabs(row - h)) * (1 - std::fabs(column - v)) * pixel(x, i[0], i[1], h, v);
  return sum;
}
double cubic_share(double d) {
  d = std::fabs(d);
  if (d <= 1) return (1.25 * d - 2.25) * d * d + 1;
  return d < 2 ? ((-0.75 * d + 3.75) * d - 6) * d + 3 : 0;
}
/// The sum over all pixels by their distance from a place, corners of pixels being the ends of the image.
Array sampled_cubic(const Arrays& x) {
  return array_from(Dims(x[0].shape[0], x[0].shape[1], x[1].shape[1], x[1].shape[2]), [&](const Dims& i) {
    const double column = (element_of(x[1], Dims(i[0], i[2], i[3], 0)) + 1) * double(x[0].shape[3] - 1) / 2;
    const double row = (element_of(x[1], Dims(i[0], i[2], i[3], 1)) + 1) * double(x[0].shape[2] - 1) / 2;
    double sum = 0;
    for (std::int64_t h = 0; h < x[0].shape[2]; ++h)
      for (std::int64_t v = 0; v < x[0].shape[3]; ++v)
        sum +=
            cubic_share(row - double(h)) * cubic_share(column - double(v)) * element_of(x[0], Dims(i[0], i[1], h, v));
    return sum;
  });
}
Array sampled(const Arrays& x) {
  return array_from(Dims(x[0].shape[0], x[0].shape[1], x[1].shape[1], x[1].shape[2]),
                    [&](const Dims& i) { return between(x[0], x[1], i); });
}
Array affine(const Arrays& x) {
  return array_from(Dims(x[0].shape[0], 2, 3, 2), [&](const Dims& i) {
    const double across = (2 * double(i[2]) + 1) / 3 - 1, down = (2 * double(i[1]) + 1) / 2 - 1;
    const auto theta = [&](std::int64_t k) { return element_of(x[0], Dims(i[0], i[3], k)); };
    return theta(0) * across + theta(1) * down + theta(2);
  });
}

const std::vector<std::vector<Dims>> images{
    {Dims(1, 2, 3, 5)}, {Dims(1, 1, 1, 1)}, {Dims(0, 2, 3, 2)}, {Dims(2, 1, 9, 17)}};
const std::vector<std::vector<Dims>> grids{{Dims(1, 2, 2, 3), Dims(1, 1, 4, 2)},
                                           {Dims(1, 1, 1, 1), Dims(1, 1, 1, 2)},
                                           {Dims(0, 2, 3, 2), Dims(0, 2, 2, 2)},
                                           {Dims(2, 3, 5, 9), Dims(2, 7, 1, 2)}};

const OperationRow functions[]{
    {"resample", images,
     [](const Value* x) {
       return graph::resample(x[0], {.size = {4, 2}, .mode = Resampling::cubic});
     },
     [](const Arrays& x) { return resampled(x[0], 4, 2, cubic); }},
    {"resample antialiased", images,
     [](const Value* x) {
       return graph::resample(x[0], {.size = {5, 2}, .mode = Resampling::linear, .antialias = graph::Antialias::yes});
     },
     [](const Arrays& x) { return resampled(x[0], 5, 2, hat); }},
    {"resample by area", images,
     [](const Value* x) { return graph::resample(x[0], {.size = 2, .mode = Resampling::area}); },
     [](const Arrays& x) { return resampled(x[0], 2, 2, mean_over); }},
    {"resample nearest", images,
     [](const Value* x) {
       return graph::resample(x[0], {.size = {4, 2}});
     },
     [](const Arrays& x) {
       return resampled(x[0], 4, 2, [](std::int64_t h, std::int64_t r, std::int64_t n, std::int64_t m) {
         return h == r * n / m ? 1.0 : 0.0;
       });
     }},
    {"grid_sample", grids, [](const Value* x) { return graph::grid_sample(x[0], x[1]); }, sampled},
    {"grid_sample by cubic shares", grids,
     [](const Value* x) {
       return graph::grid_sample(x[0], x[1],
                                 {.mode = graph::Interpolation::cubic, .align_corners = graph::AlignCorners::yes});
     },
     sampled_cubic},
    {"affine_grid",
     {{Dims(2, 2, 3)}, {Dims(1, 2, 3)}, {Dims(0, 2, 3)}},
     [](const Value* x) {
       return graph::affine_grid(x[0], {2, 3});
     },
     affine},
};

} // namespace

TEST_CASE("resampling and sampling are naive loops in every type, on odd and empty shapes", "[ops][interpolate]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of resampling and sampling agree with finite differences", "[ops][gradient][interpolate]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}
