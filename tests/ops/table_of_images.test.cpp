// SPDX-License-Identifier: Apache-2.0
//
// The table of operations on images, of attention, and of products with a bias: beside naive loops in every floating type, on odd, single and empty
// shapes; derivatives beside finite differences. Golden values: tests/ops/{convolution,pooling,interpolate}.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/nn/attention.hpp>
#include <twill/ops/transposed_convolution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

using namespace twill;
using namespace twill::test;
using graph::Sides;

namespace {

using Arrays = std::vector<Array>;

/// Sequences as images of height one, and back.
Array as_image(Array x) {
  if (x.shape.rank == 3) x.shape = Dims(x.shape[0], x.shape[1], 1, x.shape[2]);
  return x;
}
Array like(const Array& x, Array y) {
  if (x.shape.rank == 3) y.shape = Dims(y.shape[0], y.shape[1], y.shape[3]);
  return y;
}
Sides across(const Array& x, std::int64_t width, std::int64_t other) {
  return x.shape.rank == 3 ? Sides{other, width} : Sides{width, width};
}

Array convolved(const Arrays& given, std::int64_t s, std::int64_t p, std::int64_t d, std::int64_t groups = 1) {
  const Array x = as_image(given[0]), w = as_image(given[1]);
  const Sides stride = across(given[0], s, 1), padding = across(given[0], p, 0), dilation = across(given[0], d, 1);
  const auto extent = [](std::int64_t n, std::int64_t k, std::int64_t by, std::int64_t around, std::int64_t apart) {
    return (n + 2 * around - apart * (k - 1) - 1) / by + 1;
  };
  const Dims shape(x.shape[0], w.shape[0],
                   extent(x.shape[2], w.shape[2], stride.height, padding.height, dilation.height),
                   extent(x.shape[3], w.shape[3], stride.width, padding.width, dilation.width));
  const std::int64_t filters = w.shape[0] / groups;
  return like(given[0], array_from(shape, [&](const Dims& i) {
                double sum = given.size() > 2 ? given[2].elements[static_cast<std::size_t>(i[1])] : 0;
                for (std::int64_t c = 0; c < w.shape[1]; ++c)
                  for (std::int64_t u = 0; u < w.shape[2]; ++u)
                    for (std::int64_t v = 0; v < w.shape[3]; ++v) {
                      const std::int64_t row = i[2] * stride.height - padding.height + u * dilation.height;
                      const std::int64_t column = i[3] * stride.width - padding.width + v * dilation.width;
                      if (row < 0 || row >= x.shape[2] || column < 0 || column >= x.shape[3]) continue;
                      sum += element_of(x, Dims(i[0], i[1] / filters * w.shape[1] + c, row, column)) *
                             element_of(w, Dims(i[1], c, u, v));
                    }
                return sum;
              }));
}

/// Every input pixel adds its filter's image to the output.
Array spread(const Arrays& given, std::int64_t s, std::int64_t p, std::int64_t more) {
  const Array x = as_image(given[0]), w = as_image(given[1]);
  const Sides stride = across(given[0], s, 1), padding = across(given[0], p, 0), extra = across(given[0], more, 0);
  const Dims shape(x.shape[0], w.shape[1],
                   (x.shape[2] - 1) * stride.height - 2 * padding.height + w.shape[2] + extra.height,
                   (x.shape[3] - 1) * stride.width - 2 * padding.width + w.shape[3] + extra.width);
  return like(given[0], array_from(shape, [&](const Dims& i) {
                double sum = given.size() > 2 ? given[2].elements[static_cast<std::size_t>(i[1])] : 0;
                for (std::int64_t c = 0; c < x.shape[1]; ++c)
                  for (std::int64_t row = 0; row < x.shape[2]; ++row)
                    for (std::int64_t column = 0; column < x.shape[3]; ++column) {
                      const std::int64_t u = i[2] + padding.height - row * stride.height;
                      const std::int64_t v = i[3] + padding.width - column * stride.width;
                      if (u < 0 || u >= w.shape[2] || v < 0 || v >= w.shape[3]) continue;
                      sum += element_of(x, Dims(i[0], c, row, column)) * element_of(w, Dims(c, i[1], u, v));
                    }
                return sum;
              }));
}

/// One number from the elements of each window; `range(i, axis)` is its first and its last element but one, outside included.
template <class RangeOf, class Reduce>
Array windows(const Array& given, Sides extents, const RangeOf& range, const Reduce& reduce) {
  const Array x = as_image(given);
  return like(given, array_from(Dims(x.shape[0], x.shape[1], extents.height, extents.width), [&](const Dims& i) {
                const auto rows = range(i[2], x.shape[2]);
                const auto columns = range(i[3], x.shape[3]);
                std::vector<double> inside{};
                for (std::int64_t r = rows.first; r < rows.second; ++r)
                  for (std::int64_t c = columns.first; c < columns.second; ++c)
                    if (r >= 0 && r < x.shape[2] && c >= 0 && c < x.shape[3])
                      inside.push_back(element_of(x, Dims(i[0], i[1], r, c)));
                return reduce(inside, (rows.second - rows.first) * (columns.second - columns.first));
              }));
}
double largest(const std::vector<double>& x, std::int64_t) { return *std::max_element(x.begin(), x.end()); }
double average_inside(const std::vector<double>& x, std::int64_t) {
  double sum = 0;
  for (const double each : x) sum += each;
  return sum / static_cast<double>(x.size());
}
double average_padded(const std::vector<double>& x, std::int64_t count) {
  double sum = 0;
  for (const double each : x) sum += each;
  return sum / static_cast<double>(count);
}
using Pair = std::pair<std::int64_t, std::int64_t>;
/// Windows of three, two apart, around one element of padding; sequences have no height to slide over.
Pair sliding(std::int64_t i, std::int64_t extent) { return extent == 1 ? Pair{0, 1} : Pair{2 * i - 1, 2 * i + 2}; }
template <std::int64_t Count> Pair adaptive(std::int64_t i, std::int64_t extent) {
  const std::int64_t count = extent == 1 ? 1 : Count;
  return {i * extent / count, ((i + 1) * extent + count - 1) / count};
}

/// PyTorch's linear interpolation to other extents.
Array stretched(const Array& given, Sides size, bool align_corners) {
  const Array x = as_image(given);
  const auto source = [&](std::int64_t i, std::int64_t from, std::int64_t to) {
    const auto n = static_cast<double>(from), m = static_cast<double>(to), at = static_cast<double>(i);
    if (align_corners) return to > 1 ? at * (n - 1) / (m - 1) : 0.0;
    return std::max(0.0, (at + 0.5) * n / m - 0.5);
  };
  return like(given, array_from(Dims(x.shape[0], x.shape[1], size.height, size.width), [&](const Dims& i) {
                const double row = source(i[2], x.shape[2], size.height), column = source(i[3], x.shape[3], size.width);
                double sum = 0;
                for (std::int64_t r = 0; r < x.shape[2]; ++r)
                  for (std::int64_t c = 0; c < x.shape[3]; ++c) {
                    const auto share = [](double at, std::int64_t pixel,
                                          std::int64_t last) { // past the last pixel it is repeated
                      return std::max(
                          0.0, 1 - std::fabs(std::min(at, static_cast<double>(last)) - static_cast<double>(pixel)));
                    };
                    sum += share(row, r, x.shape[2] - 1) * share(column, c, x.shape[3] - 1) *
                           element_of(x, Dims(i[0], i[1], r, c));
                  }
                return sum;
              }));
}

/// softmax(scale Q K^T) V of batches of matrices.
Array attended(const Arrays& x, double scale, bool is_causal) {
  const Dims q = x[0].shape, v = x[2].shape;
  return array_from(Dims(q[0], q[1], v[2]), [&](const Dims& i) {
    double total = 0, sum = 0;
    for (std::int64_t key = 0; key < (is_causal ? std::min(i[1] + 1, v[1]) : v[1]); ++key) {
      double score = 0;
      for (std::int64_t k = 0; k < q[2]; ++k)
        score += element_of(x[0], Dims(i[0], i[1], k)) * element_of(x[1], Dims(i[0], key, k));
      total += std::exp(scale * score);
      sum += std::exp(scale * score) * element_of(x[2], Dims(i[0], key, i[2]));
    }
    return sum / total;
  });
}

const std::vector<std::vector<Dims>> images{
    {Dims(1, 2, 4, 5)}, {Dims(2, 1, 3, 3)}, {Dims(0, 3, 4, 4)}, {Dims(2, 17, 7, 6)}};
const std::vector<std::vector<Dims>> sequences{{Dims(2, 2, 5)}, {Dims(1, 1, 3)}, {Dims(0, 2, 4)}, {Dims(3, 17, 8)}};
const std::vector<std::vector<Dims>> attentions{{Dims(2, 3, 2), Dims(2, 3, 2), Dims(2, 3, 3)},
                                                {Dims(1, 1, 1), Dims(1, 1, 1), Dims(1, 1, 1)},
                                                {Dims(0, 3, 2), Dims(0, 4, 2), Dims(0, 4, 1)},
                                                {Dims(2, 5, 7), Dims(2, 17, 7), Dims(2, 17, 3)}};

const std::vector<std::vector<Dims>> layers{{Dims(3, 4), Dims(4, 2), Dims(2)},
                                            {Dims(1, 1), Dims(1, 1), Dims(1)},
                                            {Dims(0, 3), Dims(3, 2), Dims(2)},
                                            {Dims(5, 17), Dims(17, 3), Dims(3)}};

double relu_of(double x) { return std::max(x, 0.0); }
double gelu_of(double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))); }

/// activation(x[0] x[1] + x[2]), then x[3] and x[4] likewise, without an activation.
Array layered(const Arrays& x, double (*activation)(double)) {
  Array result = x[0];
  for (std::size_t layer = 0; 2 * layer + 1 < x.size(); ++layer) {
    const Array &w = x[2 * layer + 1], &bias = x[2 * layer + 2];
    const Array from = result;
    result = array_from(Dims(from.shape[0], w.shape[1]), [&](const Dims& i) {
      double sum = element_of(bias, Dims(i[1]));
      for (std::int64_t k = 0; k < w.shape[0]; ++k)
        sum += element_of(from, Dims(i[0], k)) * element_of(w, Dims(k, i[1]));
      return layer == 0 && activation != nullptr ? activation(sum) : sum;
    });
  }
  return result;
}

std::int64_t halved(std::int64_t extent) { return extent == 1 ? 1 : (extent - 1) / 2 + 1; }

// clang-format off
const OperationRow rows[]{
    {"conv2d", {{Dims(1, 2, 3, 4), Dims(2, 2, 3, 2)}, {Dims(1, 1, 1, 1), Dims(1, 1, 1, 1)}, {Dims(0, 2, 5, 5), Dims(3, 2, 3, 3)}, {Dims(3, 5, 7, 6), Dims(17, 5, 3, 3)}},
     [](const Value* x) { return graph::conv2d(x[0], x[1], {.stride = 2, .padding = 1}); }, [](const Arrays& x) { return convolved(x, 2, 1, 1); }, RowTypes::floating, {-1, 1}},
    {"conv2d with a bias, dilated, in groups", {{Dims(1, 2, 4, 4), Dims(2, 1, 2, 2), Dims(2)}, {Dims(0, 4, 3, 3), Dims(2, 2, 1, 1), Dims(2)}, {Dims(2, 6, 7, 5), Dims(4, 3, 2, 2), Dims(4)}},
     [](const Value* x) { return graph::conv2d(x[0], x[1], x[2], {.dilation = 2, .groups = 2}); }, [](const Arrays& x) { return convolved(x, 1, 0, 2, 2); }, RowTypes::floating, {-1, 1}},
    {"conv1d", {{Dims(2, 2, 5), Dims(3, 2, 3)}, {Dims(1, 1, 1), Dims(1, 1, 1)}, {Dims(0, 2, 5), Dims(3, 2, 3)}, {Dims(2, 5, 17), Dims(7, 5, 4)}},
     [](const Value* x) { return graph::conv1d(x[0], x[1], {.stride = 2, .padding = 1}); }, [](const Arrays& x) { return convolved(x, 2, 1, 1); }, RowTypes::floating, {-1, 1}},
    {"conv1d with a bias", {{Dims(2, 2, 5), Dims(3, 2, 3), Dims(3)}, {Dims(0, 1, 3), Dims(1, 1, 2), Dims(1)}},
     [](const Value* x) { return graph::conv1d(x[0], x[1], x[2]); }, [](const Arrays& x) { return convolved(x, 1, 0, 1); }, RowTypes::floating, {-1, 1}},
    {"conv_transpose2d", {{Dims(1, 2, 2, 3), Dims(2, 2, 3, 2)}, {Dims(1, 1, 1, 1), Dims(1, 1, 3, 3)}, {Dims(0, 2, 3, 3), Dims(2, 1, 3, 3)}, {Dims(2, 5, 4, 3), Dims(5, 7, 3, 3)}},
     [](const Value* x) { return graph::conv_transpose2d(x[0], x[1], {.stride = 2, .padding = 1, .output_padding = 1}); }, [](const Arrays& x) { return spread(x, 2, 1, 1); }, RowTypes::floating, {-1, 1}},
    {"conv_transpose2d with a bias", {{Dims(1, 2, 2, 2), Dims(2, 1, 2, 2), Dims(1)}, {Dims(0, 1, 2, 2), Dims(1, 2, 1, 1), Dims(2)}},
     [](const Value* x) { return graph::conv_transpose2d(x[0], x[1], x[2]); }, [](const Arrays& x) { return spread(x, 1, 0, 0); }, RowTypes::floating, {-1, 1}},
    {"conv_transpose1d", {{Dims(2, 2, 3), Dims(2, 3, 3)}, {Dims(1, 1, 1), Dims(1, 1, 3)}, {Dims(0, 2, 3), Dims(2, 1, 3)}, {Dims(2, 5, 9), Dims(5, 7, 4)}},
     [](const Value* x) { return graph::conv_transpose1d(x[0], x[1], {.stride = 2, .padding = 1, .output_padding = 1}); }, [](const Arrays& x) { return spread(x, 2, 1, 1); }, RowTypes::floating, {-1, 1}},
    {"conv_transpose1d with a bias", {{Dims(2, 2, 3), Dims(2, 3, 2), Dims(3)}, {Dims(0, 1, 2), Dims(1, 2, 1), Dims(2)}},
     [](const Value* x) { return graph::conv_transpose1d(x[0], x[1], x[2]); }, [](const Arrays& x) { return spread(x, 1, 0, 0); }, RowTypes::floating, {-1, 1}},
    {"max_pool2d", images, [](const Value* x) { return graph::max_pool2d(x[0], {.window = 3, .stride = 2, .padding = 1}); },
     [](const Arrays& x) { return windows(x[0], {halved(x[0].shape[2]), halved(x[0].shape[3])}, sliding, largest); }},
    {"max_pool1d", sequences, [](const Value* x) { return graph::max_pool1d(x[0], {.window = 3, .stride = 2, .padding = 1}); },
     [](const Arrays& x) { return windows(x[0], {1, halved(x[0].shape[2])}, sliding, largest); }},
    {"avg_pool2d", images, [](const Value* x) { return graph::avg_pool2d(x[0], {.window = 3, .stride = 2, .padding = 1}); },
     [](const Arrays& x) { return windows(x[0], {halved(x[0].shape[2]), halved(x[0].shape[3])}, sliding, average_padded); }},
    {"avg_pool2d without its padding", images, [](const Value* x) { return graph::avg_pool2d(x[0], {.window = 3, .stride = 2, .padding = 1, .count_padding = graph::CountPadding::no}); },
     [](const Arrays& x) { return windows(x[0], {halved(x[0].shape[2]), halved(x[0].shape[3])}, sliding, average_inside); }},
    {"avg_pool1d", sequences, [](const Value* x) { return graph::avg_pool1d(x[0], {.window = 3, .stride = 2, .padding = 1}); },
     [](const Arrays& x) { return windows(x[0], {1, halved(x[0].shape[2])}, sliding, average_padded); }},
    {"adaptive_avg_pool2d", images, [](const Value* x) { return graph::adaptive_avg_pool2d(x[0], {2, 2}); },
     [](const Arrays& x) { return windows(x[0], {2, 2}, adaptive<2>, average_inside); }},
    {"adaptive_avg_pool2d to one", images, [](const Value* x) { return graph::adaptive_avg_pool2d(x[0], 1); },
     [](const Arrays& x) { return windows(x[0], {1, 1}, adaptive<1>, average_inside); }},
    {"adaptive_avg_pool1d", sequences, [](const Value* x) { return graph::adaptive_avg_pool1d(x[0], 3); },
     [](const Arrays& x) { return windows(x[0], {1, 3}, adaptive<3>, average_inside); }},
    {"adaptive_max_pool2d", images, [](const Value* x) { return graph::adaptive_max_pool2d(x[0], {2, 2}); },
     [](const Arrays& x) { return windows(x[0], {2, 2}, adaptive<2>, largest); }},
    {"adaptive_max_pool1d", sequences, [](const Value* x) { return graph::adaptive_max_pool1d(x[0], 3); },
     [](const Arrays& x) { return windows(x[0], {1, 3}, adaptive<3>, largest); }},
    {"interpolate to the nearest", images, [](const Value* x) { return graph::interpolate(x[0], {.size = {5, 3}}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], s[1], 5, 3), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1], i[2] * s[2] / 5, i[3] * s[3] / 3)); }); }},
    {"interpolate", images, [](const Value* x) { return graph::interpolate(x[0], {.size = {5, 3}, .mode = graph::Interpolation::linear}); },
     [](const Arrays& x) { return stretched(x[0], {5, 3}, false); }},
    {"interpolate with aligned corners", images, [](const Value* x) { return graph::interpolate(x[0], {.size = {2, 7}, .mode = graph::Interpolation::linear, .align_corners = graph::AlignCorners::yes}); },
     [](const Arrays& x) { return stretched(x[0], {2, 7}, true); }},
    {"interpolate sequences", sequences, [](const Value* x) { return graph::interpolate(x[0], {.size = {1, 4}, .mode = graph::Interpolation::linear}); },
     [](const Arrays& x) { return stretched(x[0], {1, 4}, false); }},
    {"streamed_attention", attentions, [](const Value* x) { return graph::streamed_attention(x[0], x[1], x[2], {.scale = 0.7}); },
     [](const Arrays& x) { return attended(x, 0.7, false); }, RowTypes::wide, {-1, 1}},
    {"streamed_attention, causal", attentions, [](const Value* x) { return graph::streamed_attention(x[0], x[1], x[2], {.scale = 0.7, .is_causal = true}); },
     [](const Arrays& x) { return attended(x, 0.7, true); }, RowTypes::wide, {-1, 1}},
    {"composed_attention", attentions, [](const Value* x) { return nn::composed_attention(x[0], x[1], x[2], {.scale = 0.7}); },
     [](const Arrays& x) { return attended(x, 0.7, false); }, RowTypes::floating, {-1, 1}},
    {"scaled_dot_product_attention, causal", attentions, [](const Value* x) { return nn::scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = true, .scale = 0.7}); },
     [](const Arrays& x) { return attended(x, 0.7, true); }, RowTypes::floating, {-1, 1}},
    {"biased_product", layers, [](const Value* x) { return graph::biased_product(x[0], x[1], x[2]); },
     [](const Arrays& x) { return layered(x, nullptr); }, RowTypes::floating, {-1, 1}},
    {"biased_product, relu", layers, [](const Value* x) { return graph::biased_product(x[0], x[1], x[2], graph::Activation::relu); },
     [](const Arrays& x) { return layered(x, &relu_of); }, RowTypes::floating, {-1, 1}},
    {"biased_product of a transposed weight, gelu", {{Dims(3, 4), Dims(4, 2), Dims(2)}, {Dims(2, 9), Dims(9, 5), Dims(5)}},
     [](const Value* x) { return graph::biased_product(x[0], graph::transpose(graph::transpose(x[1]) * 1.0), x[2], graph::Activation::gelu_tanh); },
     [](const Arrays& x) { return layered(x, &gelu_of); }, RowTypes::floating, {-1, 1}},
    {"biased_product behind gelu", {{Dims(3, 4), Dims(4, 2), Dims(2), Dims(2, 3), Dims(3)}, {Dims(0, 1), Dims(1, 2), Dims(2), Dims(2, 1), Dims(1)}},
     [](const Value* x) { return graph::biased_product(graph::biased_product(x[0], x[1], x[2], graph::Activation::gelu_tanh), x[3], x[4]); },
     [](const Arrays& x) { return layered(x, &gelu_of); }, RowTypes::wide, {-1, 1}},
};
// clang-format on

} // namespace

TEST_CASE("operations on images and attention are naive loops in every floating type, on odd and empty shapes",
          "[ops][TRAIN-1]") {
  for (const OperationRow& row : rows) check_forward(row);
}

TEST_CASE("derivatives of operations on images agree with finite differences on all small shapes",
          "[ops][gradient][TRAIN-1]") {
  for (const OperationRow& row : rows) check_both_derivatives(row);
}
