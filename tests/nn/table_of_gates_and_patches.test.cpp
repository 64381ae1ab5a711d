// SPDX-License-Identifier: Apache-2.0
//
// The table of gates, patches, margins, local norms and of margin losses and likelihoods: beside naive loops, on odd, single
// and empty shapes; derivatives beside finite differences. PyTorch's values: tests/nn/golden_layers.test.cpp and
// tests/nn/margin_losses.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/nn/embedding.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/losses/likelihood.hpp>
#include <twill/nn/losses/margin.hpp>
#include <twill/ops/patches.hpp>

#include <algorithm>
#include <cmath>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using Line = std::vector<double>;
const std::vector<std::vector<Dims>> threes{{Dims(2, 5, 4)}, {Dims(1, 5, 2)}, {Dims(0, 5, 2)}, {Dims(3, 5, 18)}};
const std::vector<std::vector<Dims>> pairs{
    {Dims(3, 4), Dims(3, 4)}, {Dims(1, 1), Dims(1, 1)}, {Dims(5, 7), Dims(5, 7)}};
const std::vector<std::vector<Dims>> triples{{Dims(3, 4), Dims(3, 4), Dims(3, 4)},
                                             {Dims(1, 1), Dims(1, 1), Dims(1, 1)}};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
/// x with other places of its last axis, of `extent` elements.
template <class F> Array along_last(const Array& x, std::int64_t extent, const F& source) {
  Dims shape = x.shape;
  const int last = shape.rank - 1;
  shape[last] = extent;
  return array_from(shape, [&](Dims index) {
    index[last] = source(index[last], x.shape[last]);
    return element_of(x, index);
  });
}
/// The mean of something of two elements.
template <class F> Array mean_of(const Arrays& x, const F& f) {
  double sum = 0;
  for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum += f(x[0].elements[i], x[1].elements[i]);
  return {Dims{}, {sum / static_cast<double>(x[0].elements.size())}};
}
Line row_of(const Array& x, std::int64_t row) {
  const auto first = x.elements.begin() + row * x.shape[1];
  return Line(first, first + x.shape[1]);
}
/// The mean of something of each row of all operands.
template <class F> Array mean_of_rows(const Arrays& x, const F& f) {
  double sum = 0;
  for (std::int64_t row = 0; row < x[0].shape[0]; ++row) {
    std::vector<Line> lines{};
    for (const Array& each : x) lines.push_back(row_of(each, row));
    sum += f(lines, row);
  }
  return {Dims{}, {sum / static_cast<double>(x[0].shape[0])}};
}
double product(const Line& a, const Line& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double distance(const Line& a, const Line& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i] + 1e-6) * (a[i] - b[i] + 1e-6);
  return std::sqrt(sum);
}
/// 1 and -1 in turns, in the shape of x without its last axes.
Value signs(Value x, int rank) {
  graph::Extents shape{};
  for (int axis = 0; axis < rank; ++axis) shape.append(x.shape()[axis]);
  return 1 - graph::iota(x.graph(), shape) % 2 * 2;
}
Value labels(Value x) {
  graph::Extents rows{};
  rows.append(x.shape()[0]);
  return graph::iota(x.graph(), rows) % x.size(1);
}
/// Two labels in each row, where there is place, then -1.
Value several_labels(Value x) {
  const Value place = graph::iota(x.graph(), x.shape());
  return graph::where(place % x.size(1) < 2, place % 7 % x.size(1), -1);
}
double several_hinges(const Line& x, std::int64_t row) {
  const auto classes = static_cast<std::int64_t>(x.size());
  std::vector<std::size_t> labels{};
  for (std::int64_t k = 0; k < std::min<std::int64_t>(classes, 2); ++k)
    labels.push_back(static_cast<std::size_t>((row * classes + k) % 7 % classes));
  double sum = 0;
  for (const std::size_t label : labels)
    for (std::size_t k = 0; k < x.size(); ++k)
      if (std::find(labels.begin(), labels.end(), k) == labels.end()) sum += std::max(0.0, 1 - x[label] + x[k]);
  return sum / static_cast<double>(classes);
}
Value indices(Value x) {
  graph::Extents shape{};
  shape.append({3, 0});
  shape.append({2, 0});
  return graph::iota(x.graph(), shape) % 4;
}

// clang-format off
const OperationRow functions[]{
    {"glu", threes, [](const Value* x) { return graph::glu(x[0]); },
     [](const Arrays& x) { Dims s = x[0].shape; s[2] /= 2; return array_from(s, [&](const Dims& i) { return element_of(x[0], i) * logistic(element_of(x[0], Dims(i[0], i[1], i[2] + s[2]))); }); }},
    {"prelu", {{Dims(2, 3, 4), Dims(3)}, {Dims(1, 1), Dims(1)}, {Dims(0, 3), Dims(3)}}, [](const Value* x) { return graph::prelu(x[0], x[1]); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](const Dims& i) { const double e = element_of(x[0], i); return e > 0 ? e : e * x[1].elements[static_cast<std::size_t>(x[1].shape[0] == 1 ? 0 : i[1])]; }); }},
    {"pad_replicate", threes, [](const Value* x) { return graph::pad_replicate(x[0], -1, {2, 1}); }, [](const Arrays& x) { return along_last(x[0], x[0].shape[2] + 3, [](std::int64_t i, std::int64_t n) { return std::clamp(i - 2, std::int64_t{0}, n - 1); }); }, RowTypes::numbers},
    {"pad_circular", threes, [](const Value* x) { return graph::pad_circular(x[0], -1, {2, 1}); }, [](const Arrays& x) { return along_last(x[0], x[0].shape[2] + 3, [](std::int64_t i, std::int64_t n) { return (i - 2 + n) % n; }); }, RowTypes::numbers},
    {"local_response_norm", threes, [](const Value* x) { return graph::local_response_norm(x[0], 3, {.alpha = 0.5, .beta = 0.6, .k = 2}); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](const Dims& i) { double sum = 0; for (std::int64_t c = std::max<std::int64_t>(i[1] - 1, 0); c <= std::min(i[1] + 1, x[0].shape[1] - 1); ++c) { const double e = element_of(x[0], Dims(i[0], c, i[2])); sum += e * e; } return element_of(x[0], i) / std::pow(2 + 0.5 * sum / 3, 0.6); }); }},
    {"unfold", {{Dims(2, 2, 4, 5)}, {Dims(1, 1, 2, 2)}, {Dims(0, 1, 3, 3)}}, [](const Value* x) { return graph::unfold(x[0], {.kernel = 2, .stride = {1, 2}, .padding = {0, 1}}); },
     [](const Arrays& x) { const Dims s = x[0].shape; const std::int64_t rows = s[2] - 1, columns = s[3] / 2 + 1; return array_from(Dims(s[0], 4 * s[1], rows * columns), [&](const Dims& i) { const std::int64_t h = i[2] / columns + i[1] % 4 / 2, w = i[2] % columns * 2 + i[1] % 2 - 1; return w < 0 || w >= s[3] ? 0.0 : element_of(x[0], Dims(i[0], i[1] / 4, h, w)); }); }, RowTypes::numbers},
    {"fold", {{Dims(2, 8, 6)}, {Dims(1, 4, 6)}, {Dims(0, 4, 6)}}, [](const Value* x) { return graph::fold(x[0], {3, 4}, {.kernel = 2}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], s[1] / 4, 3, 4), [&](const Dims& i) { double sum = 0; for (std::int64_t k = 0; k < 4; ++k) { const std::int64_t row = i[2] - k / 2, column = i[3] - k % 2; if (row >= 0 && row < 2 && column >= 0 && column < 3) sum += element_of(x[0], Dims(i[0], 4 * i[1] + k, 3 * row + column)); } return sum; }); }},
    {"pixel_shuffle", {{Dims(2, 8, 3, 2)}, {Dims(1, 4, 1, 1)}, {Dims(0, 4, 2, 2)}}, [](const Value* x) { return graph::pixel_shuffle(x[0], 2); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], s[1] / 4, 2 * s[2], 2 * s[3]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], 4 * i[1] + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2)); }); }, RowTypes::numbers},
    {"pixel_unshuffle", {{Dims(2, 2, 4, 6)}, {Dims(1, 1, 2, 2)}, {Dims(0, 1, 2, 4)}}, [](const Value* x) { return graph::pixel_unshuffle(x[0], 2); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], 4 * s[1], s[2] / 2, s[3] / 2), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] / 4, 2 * i[2] + i[1] % 4 / 2, 2 * i[3] + i[1] % 2)); }); }, RowTypes::numbers},
    {"embedding_bag", {{Dims(4, 3)}, {Dims(4, 1)}, {Dims(4, 0)}}, [](const Value* x) { return nn::embedding_bag(indices(x[0]), x[0]); },
     [](const Arrays& x) { return array_from(Dims(3, x[0].shape[1]), [&](const Dims& i) { return (element_of(x[0], Dims(2 * i[0] % 4, i[1])) + element_of(x[0], Dims((2 * i[0] + 1) % 4, i[1]))) / 2; }); }},
    {"hinge_embedding", {{Dims(3, 4)}, {Dims(1, 1)}, {Dims(5, 7)}}, [](const Value* x) { return nn::hinge_embedding(x[0], signs(x[0], 2)); },
     [](const Arrays& x) { double sum = 0; for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum += i % 2 == 0 ? x[0].elements[i] : std::max(0.0, 1 - x[0].elements[i]); return Array{Dims{}, {sum / static_cast<double>(x[0].elements.size())}}; }},
    {"margin_ranking", pairs, [](const Value* x) { return nn::margin_ranking(x[0], x[1], signs(x[0], 2), {.margin = 0.3}); },
     [](const Arrays& x) { double sum = 0; for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum += std::max(0.0, (i % 2 == 0 ? -1 : 1) * (x[0].elements[i] - x[1].elements[i]) + 0.3); return Array{Dims{}, {sum / static_cast<double>(x[0].elements.size())}}; }},
    {"cosine_embedding", pairs, [](const Value* x) { return nn::cosine_embedding(x[0], x[1], signs(x[0], 1), {.margin = 0.1}); },
     [](const Arrays& x) { return mean_of_rows(x, [](const std::vector<Line>& l, std::int64_t row) { const double c = product(l[0], l[1]) / std::sqrt((product(l[0], l[0]) + 1e-12) * (product(l[1], l[1]) + 1e-12)); return row % 2 == 0 ? 1 - c : std::max(0.0, c - 0.1); }); }, RowTypes::wide, {0.4, 2}},
    {"triplet_margin", triples, [](const Value* x) { return nn::triplet_margin(x[0], x[1], x[2], {.margin = 3}); },
     [](const Arrays& x) { return mean_of_rows(x, [](const std::vector<Line>& l, std::int64_t) { return std::max(0.0, distance(l[0], l[1]) - distance(l[0], l[2]) + 3); }); }, RowTypes::wide},
    {"multi_margin", {{Dims(3, 4)}, {Dims(1, 1)}, {Dims(5, 17)}}, [](const Value* x) { return nn::multi_margin(x[0], labels(x[0])); },
     [](const Arrays& x) { return mean_of_rows(x, [](const std::vector<Line>& l, std::int64_t row) { const std::size_t label = static_cast<std::size_t>(row) % l[0].size(); double sum = 0; for (std::size_t k = 0; k < l[0].size(); ++k) if (k != label) sum += std::max(0.0, 1 - l[0][label] + l[0][k]); return sum / static_cast<double>(l[0].size()); }); }},
    {"multilabel_margin", {{Dims(3, 4)}, {Dims(1, 1)}, {Dims(2, 3)}, {Dims(5, 17)}}, [](const Value* x) { return nn::multilabel_margin(x[0], several_labels(x[0])); },
     [](const Arrays& x) { return mean_of_rows(x, [](const std::vector<Line>& l, std::int64_t row) { return several_hinges(l[0], row); }); }},
    {"soft_margin", pairs, [](const Value* x) { return nn::soft_margin(x[0], x[1]); }, [](const Arrays& x) { return mean_of(x, [](double a, double b) { return std::log1p(std::exp(-a * b)); }); }},
    {"multilabel_soft_margin", pairs, [](const Value* x) { return nn::multilabel_soft_margin(x[0], x[1]); }, [](const Arrays& x) { return mean_of(x, [](double a, double b) { return std::log1p(std::exp(a)) - a * b; }); }},
    {"poisson_nll", pairs, [](const Value* x) { return nn::poisson_nll(x[0], x[1]); }, [](const Arrays& x) { return mean_of(x, [](double a, double b) { return std::exp(a) - a * b; }); }},
    {"gaussian_nll", triples, [](const Value* x) { return nn::gaussian_nll(x[0], x[1], x[2]); },
     [](const Arrays& x) { double sum = 0; for (std::size_t i = 0; i < x[0].elements.size(); ++i) { const double d = x[0].elements[i] - x[1].elements[i]; sum += (std::log(x[2].elements[i]) + d * d / x[2].elements[i]) / 2; } return Array{Dims{}, {sum / static_cast<double>(x[0].elements.size())}}; }, RowTypes::wide, {0.3, 2}},
    {"focal", pairs, [](const Value* x) { return nn::focal(x[0], x[1]); },
     [](const Arrays& x) { return mean_of(x, [](double a, double t) { const double p = logistic(a), other = p * (1 - t) + (1 - p) * t; return (std::log1p(std::exp(a)) - a * t) * other * other * (0.25 * t + 0.75 * (1 - t)); }); }, RowTypes::wide, {0.1, 0.9}},
};
// clang-format on

} // namespace

TEST_CASE("gates, patches and margin losses are naive loops in every type, on odd and empty shapes", "[nn][TRAIN-1]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of gates, patches and margin losses agree with finite differences on small shapes",
          "[nn][gradient][TRAIN-1]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}
