#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The workloads of bench/expr once more as plain loops in double: what results of peers are compared with on any processor.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::plain {

/// Some row operation, row by row.
template <class F> std::vector<float> rows(const float* x, std::int64_t count, std::int64_t columns, F f) {
  std::vector<float> y(static_cast<std::size_t>(count * columns));
  std::vector<double> row(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      row[static_cast<std::size_t>(j)] = static_cast<double>(x[i * columns + j]);
    f(row);
    for (std::int64_t j = 0; j < columns; ++j)
      y[static_cast<std::size_t>(i * columns + j)] = static_cast<float>(row[static_cast<std::size_t>(j)]);
  }
  return y;
}

inline std::vector<float> softmax(const float* x, std::int64_t count, std::int64_t columns) {
  return rows(x, count, columns, [](std::vector<double>& row) {
    double sum = 0;
    for (double& value : row) sum += value = std::exp(value); // arguments are small
    for (double& value : row) value /= sum;
  });
}

inline std::vector<float> layer_norm(const float* x, const float* scale, const float* shift, std::int64_t count,
                                     std::int64_t columns) {
  return rows(x, count, columns, [&](std::vector<double>& row) {
    double mean = 0, variance = 0;
    for (const double value : row) mean += value / static_cast<double>(columns);
    for (const double value : row) variance += (value - mean) * (value - mean) / static_cast<double>(columns);
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] =
          (row[j] - mean) / std::sqrt(variance + 1e-5) * static_cast<double>(scale[j]) + static_cast<double>(shift[j]);
  });
}

inline std::vector<float> bias_gelu(const float* x, const float* bias, std::int64_t count, std::int64_t columns) {
  return rows(x, count, columns, [&](std::vector<double>& row) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      const double v = row[j] + static_cast<double>(bias[j]);
      row[j] = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    }
  });
}

} // namespace bench::plain
