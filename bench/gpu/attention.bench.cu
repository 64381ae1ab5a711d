// SPDX-License-Identifier: Apache-2.0
//
// Causal attention of bfloat16 without scores in memory, forward and with all gradients. One head of one sequence is compared
// with float64 before anything is timed.

#include "bench/gpu/programs.cuh"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace twill;

namespace {

constexpr std::int64_t batch = 8, heads = 16, tokens = 2048, width = 64;

using Heads = Tensor<bfloat16, Cuda, Shape<dyn, heads, tokens, width>>;
using Matrix = std::vector<double>; ///< tokens x width

constexpr auto attended = [](graph::Value q, graph::Value k, graph::Value v) {
  return nn::scaled_dot_product_attention(q, k, v, {.is_causal = true, .form = nn::AttentionForm::streamed});
};
constexpr auto weighted = [](graph::Value q, graph::Value k, graph::Value v, graph::Value g) {
  return graph::sum(attended(q, k, v) * g);
};

/// The last head of the last sequence.
template <class X> Matrix last_head(const X& x) {
  const auto host = x[slice{batch - 1, batch}].to(Cpu{0});
  const auto* const first = host.data() + (heads - 1) * tokens * width;
  Matrix numbers(static_cast<std::size_t>(tokens * width));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(float{first[i]});
  return numbers;
}

/// o_i = sum_j p_ij v_j with p_i = softmax(q_i k_j / sqrt(width), j <= i), and the gradients of sum(o g).
struct Reference {
  Matrix o, dq, dk, dv;

  Reference(const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& g)
      : o(q.size()), dq(q.size()), dk(q.size()), dv(q.size()) {
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    std::vector<double> p(static_cast<std::size_t>(tokens));
    const auto row = [](auto& matrix, std::int64_t i) { return matrix.data() + i * width; };
    const auto dot = [](const double* a, const double* b) {
      double total = 0;
      for (std::int64_t c = 0; c < width; ++c) total += a[c] * b[c];
      return total;
    };
    for (std::int64_t i = 0; i < tokens; ++i) {
      double largest = -INFINITY, total = 0;
      for (std::int64_t j = 0; j <= i; ++j) {
        p[static_cast<std::size_t>(j)] = scale * dot(row(q, i), row(k, j));
        largest = std::max(largest, p[static_cast<std::size_t>(j)]);
      }
      for (std::int64_t j = 0; j <= i; ++j) {
        double& weight = p[static_cast<std::size_t>(j)];
        weight = std::exp(weight - largest);
        total += weight;
      }
      for (std::int64_t j = 0; j <= i; ++j) {
        const double weight = p[static_cast<std::size_t>(j)] /= total;
        for (std::int64_t c = 0; c < width; ++c) row(o, i)[c] += weight * row(v, j)[c];
      }
      const double mean = dot(row(o, i), row(g, i));
      for (std::int64_t j = 0; j <= i; ++j) {
        const double weight = p[static_cast<std::size_t>(j)];
        const double ds = scale * weight * (dot(row(g, i), row(v, j)) - mean);
        for (std::int64_t c = 0; c < width; ++c) {
          row(dq, i)[c] += ds * row(k, j)[c];
          row(dk, j)[c] += ds * row(q, i)[c];
          row(dv, j)[c] += weight * row(g, i)[c];
        }
      }
    }
  }
};

/// Within some roundings of bfloat16 of the largest element: gradients are sums of terms that cancel.
bool agrees(const Matrix& found, const Matrix& expected) {
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    const double off = std::abs(found[i] - expected[i]);
    error = off <= error ? error : off; // also NaN
  }
  return error <= 0.02 * largest;
}

} // namespace

void bench_attention(bench::Report& report) {
  const Dims shape(batch, heads, tokens, width);
  const auto random = [&] { return Heads{randn<bfloat16, Heads::shape_type>(shape, Cuda{0})}; };
  const Heads q = random(), k = random(), v = random(), g = random();
  const auto forward = compiled(attended);
  const auto gradients = value_and_grad(weighted);
  Heads o = forward(q, k, v);
  auto result = gradients(q, k, v, g);
  const Reference expected{last_head(q), last_head(k), last_head(v), last_head(g)};
  report.compare("gpu_attention_bf16", std::to_string(tokens),
                 {{"twill", [&] { o = forward(q, k, v); }, [&] { return agrees(last_head(o), expected.o); }}});
  report.compare("gpu_attention_gradients_bf16", std::to_string(tokens),
                 {{"twill", [&] { result = gradients(q, k, v, g); },
                   [&] {
                     return agrees(last_head(std::get<1>(result)), expected.dq) &&
                            agrees(last_head(std::get<2>(result)), expected.dk) &&
                            agrees(last_head(std::get<3>(result)), expected.dv);
                   }}});
}
