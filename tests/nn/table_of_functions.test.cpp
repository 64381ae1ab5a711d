// SPDX-License-Identifier: Apache-2.0
//
// The table of reductions, changes of shape, activations, normalisations, layers and losses: beside naive loops in every
// floating type, on odd, single and empty shapes; derivatives beside finite differences. Layers get their weights as operands,
// by way of the functions that they are made of. Golden values: tests/golden.

#include "tests/support/operation_table.hpp"

#include <twill/nn/activations.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/normalisation.hpp>

#include <algorithm>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using graph::KeepDims;
const std::vector<std::vector<Dims>> singles{{Dims(2, 3)}, {Dims(1)}, {Dims{}}, {Dims(0, 3)}, {Dims(7, 17)}};
const std::vector<std::vector<Dims>> rows_of{{Dims(2, 17)}, {Dims(1, 1)}, {Dims(0, 5)}, {Dims(3, 13)}};
const std::vector<std::vector<Dims>> two_rows{
    {Dims(2, 9), Dims(2, 9)}, {Dims(0, 3), Dims(0, 3)}, {Dims(3, 13), Dims(3, 13)}};
const std::vector<std::vector<Dims>> pairs{
    {Dims(3, 4), Dims(3, 4)}, {Dims(1, 1), Dims(1, 1)}, {Dims(5, 7), Dims(5, 7)}};
const std::vector<std::vector<Dims>> blocks{{Dims(2, 3, 4)}, {Dims(1, 3, 1)}, {Dims(0, 3, 2)}, {Dims(3, 5, 7)}};

using Line = std::vector<double>;
/// Something of each row, made of the row's elements.
template <class F> Array each_row(const Array& x, const F& f) {
  return array_from(x.shape, [&](const Dims& i) {
    Line row{};
    for (std::int64_t k = 0; k < x.shape[1]; ++k) row.push_back(element_of(x, Dims(i[0], k)));
    return f(row, static_cast<std::size_t>(i[1]));
  });
}
double total(const Line& row) {
  double sum = 0;
  for (const double each : row) sum += each;
  return sum;
}
template <class F> Line mapped(Line row, const F& f) {
  for (double& each : row) each = f(each);
  return row;
}
double mean_of(const Line& row) { return total(row) / static_cast<double>(row.size()); }
double log_sum(const Line& row) {
  return std::log(total(mapped(row, [](double e) { return std::exp(e); })));
}
double variance_of(const Line& row) {
  return mean_of(mapped(row, [m = mean_of(row)](double e) { return (e - m) * (e - m); }));
}
double length_of(const Line& row) {
  return std::sqrt(total(mapped(row, [](double e) { return e * e; })));
}
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// What a reduction over the middle axis gives.
template <class F> Array over_middle(const Array& x, const F& f) {
  return array_from(Dims(x.shape[0], x.shape[2]), [&](const Dims& i) {
    Line line{};
    for (std::int64_t k = 0; k < x.shape[1]; ++k) line.push_back(element_of(x, Dims(i[0], k, i[1])));
    return f(line);
  });
}
/// A loss that is the mean of something of two elements.
template <class F> Array mean_loss(const Arrays& x, const F& f) {
  double sum = 0;
  for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum += f(x[0].elements[i], x[1].elements[i]);
  return {Dims{}, {sum / static_cast<double>(x[0].elements.size())}};
}
/// Labels 0, 1, 2, … of rows.
Value labels_of(Value logits) {
  graph::Extents shape{};
  shape.append(logits.shape()[0]);
  return graph::iota(logits.graph(), shape) % logits.size(1);
}
template <class F> Array label_loss(const Array& x, const F& f) {
  double sum = 0;
  const std::int64_t classes = x.shape[1];
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    const auto first = x.elements.begin() + i * classes;
    sum += f(Line(first, first + classes), static_cast<std::size_t>(i % classes));
  }
  return {Dims{}, {sum / static_cast<double>(x.shape[0])}};
}
Value indices(Value x) {
  graph::Extents shape{};
  shape.append({3, 0});
  shape.append({2, 0});
  return graph::iota(x.graph(), shape) % 4;
}

// clang-format off
const OperationRow functions[]{
    {"sum", blocks, [](const Value* x) { return graph::sum(x[0], {1}); }, [](const Arrays& x) { return over_middle(x[0], total); }, RowTypes::numbers},
    {"mean", blocks, [](const Value* x) { return graph::mean(x[0], {1}); }, [](const Arrays& x) { return over_middle(x[0], mean_of); }, RowTypes::numbers},
    {"max", blocks, [](const Value* x) { return graph::max(x[0], {1}); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return *std::max_element(l.begin(), l.end()); }); }, RowTypes::numbers},
    {"min", blocks, [](const Value* x) { return graph::min(x[0], {1}); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return *std::min_element(l.begin(), l.end()); }); }, RowTypes::numbers},
    {"prod", blocks, [](const Value* x) { return graph::prod(x[0], {1}); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { double p = 1; for (const double e : l) p *= e; return p; }); }, RowTypes::numbers},
    {"var", blocks, [](const Value* x) { return graph::var(x[0], {1}, 1); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { const auto n = static_cast<double>(l.size()); return variance_of(l) * n / (n - 1); }); }, RowTypes::floating, {-1, 1}},
    {"sum of everything", singles, [](const Value* x) { return graph::sum(x[0] * x[0]); }, [](const Arrays& x) { return Array{Dims{}, {total(mapped(x[0].elements, [](double e) { return e * e; }))}}; }, RowTypes::wide},
    {"sum over none", {{Dims(0)}, {Dims(3, 0)}}, [](const Value* x) { return graph::sum(x[0], {-1}); }, [](const Arrays& x) { return x[0].shape.rank == 1 ? Array{Dims{}, {0}} : Array{Dims(3), {0, 0, 0}}; }, RowTypes::numbers},
    {"prod over none", {{Dims(0)}, {Dims(2, 0)}}, [](const Value* x) { return graph::prod(x[0], {-1}); }, [](const Arrays& x) { return x[0].shape.rank == 1 ? Array{Dims{}, {1}} : Array{Dims(2), {1, 1}}; }, RowTypes::numbers},
    {"broadcast_to", singles, [](const Value* x) { graph::Extents s{}; s.append({2, 0}); for (int d = 0; d < x[0].rank(); ++d) s.append(x[0].shape()[d]); return graph::broadcast_to(x[0], s); },
     [](const Arrays& x) { Array y{x[0].shape, x[0].elements}; y.elements.insert(y.elements.end(), x[0].elements.begin(), x[0].elements.end()); for (int d = y.shape.rank++; d > 0; --d) y.shape[d] = y.shape[d - 1]; y.shape[0] = 2; return y; }, RowTypes::numbers},
    {"reshape", blocks, [](const Value* x) { graph::Extents s{}; s.append(x[0].shape()[1]); s.append(x[0].shape()[0] * x[0].shape()[2]); return graph::reshape(x[0], s); },
     [](const Arrays& x) { const Dims s = x[0].shape; return Array{Dims(s[1], s[0] * s[2]), x[0].elements}; }, RowTypes::numbers},
    {"flatten of the first axes", blocks, [](const Value* x) { return graph::flatten(x[0], 0, -2); },
     [](const Arrays& x) { const Dims s = x[0].shape; return Array{Dims(s[0] * s[1], s[2]), x[0].elements}; }, RowTypes::numbers},
    {"reshape with an extent that follows", {{Dims(3, 5, 7)}, {Dims(1, 2, 1)}, {Dims(0, 3, 4)}}, [](const Value* x) { return graph::reshape(x[0], {-1, x[0].shape()[1]}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return Array{Dims(s[0] * s[2], s[1]), x[0].elements}; }, RowTypes::numbers},
    {"flatten and unflatten", blocks, [](const Value* x) { return graph::unflatten(graph::flatten(x[0]), 1, {x[0].size(2), x[0].size(1)}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return Array{Dims(s[0], s[2], s[1]), x[0].elements}; }, RowTypes::numbers},
    {"transpose", blocks, [](const Value* x) { return graph::transpose(graph::transpose(x[0], {2, 0, 1})); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[2], s[1], s[0]), [&](const Dims& i) { return element_of(x[0], Dims(i[2], i[1], i[0])); }); }, RowTypes::numbers},
    {"unsqueeze", blocks, [](const Value* x) { return graph::unsqueeze(x[0], -1); }, [](const Arrays& x) { const Dims s = x[0].shape; return Array{Dims(s[0], s[1], s[2], 1), x[0].elements}; }, RowTypes::numbers},
    {"relu", singles, [](const Value* x) { return graph::relu(x[0]); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::max(x[0], 0.0); }},
    {"leaky_relu", singles, [](const Value* x) { return graph::leaky_relu(x[0], 0.2); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] > 0 ? x[0] : 0.2 * x[0]; }},
    {"sigmoid", singles, [](const Value* x) { return graph::sigmoid(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return logistic(x[0]); }},
    {"silu", singles, [](const Value* x) { return graph::silu(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] * logistic(x[0]); }},
    {"gelu", singles, [](const Value* x) { return graph::gelu(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return 0.5 * x[0] * std::erfc(-x[0] / std::sqrt(2.0)); }},
    {"gelu_accurate", singles, [](const Value* x) { return graph::gelu_accurate(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return 0.5 * x[0] * std::erfc(-x[0] / std::sqrt(2.0)); }},
    {"gelu_tanh", singles, [](const Value* x) { return graph::gelu_tanh(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return 0.5 * x[0] * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x[0] + 0.044715 * x[0] * x[0] * x[0]))); }},
    {"softplus", singles, [](const Value* x) { return graph::softplus(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::log1p(std::exp(x[0])); }},
    {"elu", singles, [](const Value* x) { return graph::elu(x[0], 1.5); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] > 0 ? x[0] : 1.5 * std::expm1(x[0]); }},
    {"logsigmoid", singles, [](const Value* x) { return graph::logsigmoid(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return -std::log1p(std::exp(-x[0])); }},
    {"mish", singles, [](const Value* x) { return graph::mish(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] * std::tanh(std::log1p(std::exp(x[0]))); }},
    {"celu", singles, [](const Value* x) { return graph::celu(x[0], 1.5); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] > 0 ? x[0] : 1.5 * std::expm1(x[0] / 1.5); }},
    {"selu", singles, [](const Value* x) { return graph::selu(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return 1.0507009873554805 * (x[0] > 0 ? x[0] : 1.6732632423543772 * std::expm1(x[0])); }},
    {"hardtanh", singles, [](const Value* x) { return graph::hardtanh(x[0], -0.7, 1.1); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::min(std::max(x[0], -0.7), 1.1); }},
    {"relu6", singles, [](const Value* x) { return graph::relu6(x[0] * 4); }, nullptr, RowTypes::numbers, {}, true, [](const double* x) { return std::min(std::max(x[0] * 4, 0.0), 6.0); }},
    {"hardsigmoid", singles, [](const Value* x) { return graph::hardsigmoid(x[0] * 2.0); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return std::min(std::max(x[0] * 2 + 3, 0.0), 6.0) / 6; }},
    {"softsign", singles, [](const Value* x) { return graph::softsign(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] / (1 + std::fabs(x[0])); }},
    {"tanhshrink", singles, [](const Value* x) { return graph::tanhshrink(x[0]); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] - std::tanh(x[0]); }},
    {"softshrink", singles, [](const Value* x) { return graph::softshrink(x[0], 0.4); }, nullptr, RowTypes::floating, {}, true, [](const double* x) { return x[0] > 0.4 ? x[0] - 0.4 : x[0] < -0.4 ? x[0] + 0.4 : 0; }},
    {"hardshrink", singles, [](const Value* x) { return graph::hardshrink(x[0], 0.4); }, nullptr, RowTypes::wide, {}, true, [](const double* x) { return std::fabs(x[0]) <= 0.4 ? 0 : x[0]; }},
    {"threshold", singles, [](const Value* x) { return graph::threshold(x[0], 0.2, -3); }, nullptr, RowTypes::wide, {}, true, [](const double* x) { return x[0] > 0.2 ? x[0] : -3; }},
    {"softmin", rows_of, [](const Value* x) { return graph::softmin(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return std::exp(-l[i] - log_sum(mapped(l, [](double e) { return -e; }))); }); }},
    {"softmax", rows_of, [](const Value* x) { return graph::softmax(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return std::exp(l[i] - log_sum(l)); }); }},
    {"log_softmax", rows_of, [](const Value* x) { return graph::log_softmax(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return l[i] - log_sum(l); }); }},
    {"logsumexp", rows_of, [](const Value* x) { return graph::logsumexp(x[0], -1, graph::KeepDims::yes) + x[0] * 0; }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t) { return log_sum(l); }); }},
    {"layer_norm", rows_of, [](const Value* x) { return graph::layer_norm(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return (l[i] - mean_of(l)) / std::sqrt(variance_of(l) + 1e-5); }); }},
    {"layer_norm of scaled rows", {{Dims(2, 9), Dims(9), Dims(9)}, {Dims(0, 3), Dims(3), Dims(3)}, {Dims(3, 17), Dims(17), Dims(17)}}, [](const Value* x) { return graph::layer_norm(x[0], x[1], x[2]); },
     [](const Arrays& x) { return each_row(x[0], [&](const Line& l, std::size_t i) { return (l[i] - mean_of(l)) / std::sqrt(variance_of(l) + 1e-5) * x[1].elements[i] + x[2].elements[i]; }); }, RowTypes::wide},
    {"rms_norm", rows_of, [](const Value* x) { return graph::rms_norm(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return l[i] / std::sqrt(length_of(l) * length_of(l) / static_cast<double>(l.size()) + 1e-5); }); }, RowTypes::floating, {0.5, 2}},
    {"normalize", rows_of, [](const Value* x) { return graph::normalize(x[0]); }, [](const Arrays& x) { return each_row(x[0], [](const Line& l, std::size_t i) { return l[i] / length_of(l); }); }, RowTypes::floating, {0.5, 2}},
    {"cosine_similarity", two_rows, [](const Value* x) { return graph::cosine_similarity(x[0], x[1]); },
     [](const Arrays& x) { const std::int64_t n = x[0].shape[1]; return array_from(Dims(x[0].shape[0]), [&](const Dims& i) { double ab = 0, aa = 0, bb = 0;
       for (std::int64_t k = 0; k < n; ++k) { const double a = element_of(x[0], Dims(i[0], k)), b = element_of(x[1], Dims(i[0], k)); ab += a * b; aa += a * a; bb += b * b; } return ab / std::sqrt(aa * bb); }); }, RowTypes::floating, {0.5, 2}},
    {"linear", {{Dims(2, 3), Dims(4, 3)}, {Dims(0, 3), Dims(2, 3)}, {Dims(1, 1), Dims(1, 1)}, {Dims(5, 17), Dims(7, 17)}}, [](const Value* x) { return nn::linear(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[1].shape[0]), [&](const Dims& i) { double sum = 0; for (std::int64_t k = 0; k < x[0].shape[1]; ++k) sum += element_of(x[0], Dims(i[0], k)) * element_of(x[1], Dims(i[1], k)); return sum; }); }},
    {"embedding", {{Dims(4, 3)}, {Dims(4, 1)}, {Dims(4, 0)}}, [](const Value* x) { return nn::embedding(indices(x[0]), x[0]); },
     [](const Arrays& x) { return array_from(Dims(3, 2, x[0].shape[1]), [&](const Dims& i) { return element_of(x[0], Dims((2 * i[0] + i[1]) % 4, i[2])); }); }},
    {"cross_entropy", {{Dims(3, 4)}, {Dims(1, 1)}, {Dims(0, 3)}, {Dims(5, 17)}}, [](const Value* x) { return nn::cross_entropy(x[0], labels_of(x[0])); },
     [](const Arrays& x) { return label_loss(x[0], [](const Line& l, std::size_t label) { return log_sum(l) - l[label]; }); }},
    {"nll", {{Dims(3, 4)}, {Dims(1, 1)}, {Dims(0, 3)}, {Dims(5, 17)}}, [](const Value* x) { return nn::nll(x[0], labels_of(x[0])); },
     [](const Arrays& x) { return label_loss(x[0], [](const Line& l, std::size_t label) { return -l[label]; }); }},
    {"nll of probabilities", pairs, [](const Value* x) { return nn::nll(x[0], x[1]); },
     [](const Arrays& x) { double sum = 0; for (std::size_t i = 0; i < x[0].elements.size(); ++i) sum -= x[0].elements[i] * x[1].elements[i]; return Array{Dims{}, {sum / static_cast<double>(x[0].shape[0])}}; }},
    {"mse", pairs, [](const Value* x) { return nn::mse(x[0], x[1]); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { return (a - b) * (a - b); }); }},
    {"l1", pairs, [](const Value* x) { return nn::l1(x[0], x[1]); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { return std::fabs(a - b); }); }},
    {"huber", pairs, [](const Value* x) { return nn::huber(x[0], x[1], {.delta = 0.7}); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { const double d = std::fabs(a - b); return d < 0.7 ? d * d / 2 : 0.7 * (d - 0.35); }); }},
    {"smooth_l1", pairs, [](const Value* x) { return nn::smooth_l1(x[0], x[1], {.beta = 0.7}); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { const double d = std::fabs(a - b); return d < 0.7 ? d * d / 1.4 : d - 0.35; }); }},
    {"bce_with_logits", pairs, [](const Value* x) { return nn::bce_with_logits(x[0], x[1]); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { return std::log1p(std::exp(a)) - a * b; }); }},
    {"bce", pairs, [](const Value* x) { return nn::bce(x[0], x[1]); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { return -b * std::log(a) - (1 - b) * std::log(1 - a); }); }, RowTypes::wide, {0.1, 0.9}},
    {"kl_divergence", pairs, [](const Value* x) { return nn::kl_divergence(x[0], x[1]); }, [](const Arrays& x) { return mean_loss(x, [](double a, double b) { return b * (std::log(b) - a); }); }, RowTypes::floating, {0.1, 0.9}},
};
// clang-format on

} // namespace

TEST_CASE("reductions, activations, norms and losses are naive loops in every type, on odd and empty shapes",
          "[nn][TRAIN-1]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of reductions, activations, norms and losses agree with finite differences on small shapes",
          "[nn][gradient][TRAIN-1]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}
