// SPDX-License-Identifier: Apache-2.0
//
// Expressions as a product of their own, without a model: a table is cleaned and summarised in few passes, attention is
// written as its formula, and the plan of each statement tells what it costs.
// prints: standardised: mean 0.00, deviation 1.00
// prints: largest difference from attention step by step: 0.0

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace twill;

namespace {

/// A table with gaps: standardised, without the gaps, and summarised.
bool clean_table() {
  manual_seed_all(3);
  Tensor table = randn<float, Shape<200, 8>>() * 3 + 10;
  table[table > 18] = std::nanf(""); // writes through a mask

  // region: table
  const Tensor filled = where(isnan(table), nanmean<0>(table), table);
  const auto [mean, variance] = eval(twill::mean<0>(filled), var<0>(filled)); // both in one pass
  const Tensor scaled = (filled - mean) / sqrt(variance);
  const Tensor worst = take<0>(scaled, argmax<0>(abs(scaled))); // the row in which each column is largest
  const Tensor middle = quantile<0>(scaled, tensor({0.25, 0.5, 0.75}));
  // end region
  std::printf("standardised: mean %.2f, deviation %.2f\n", std::fabs(static_cast<double>(twill::mean(scaled).item())),
              static_cast<double>(stddev(scaled).item()));
  std::cout << "quartiles:\n" << middle << '\n';
  return worst.shape() == Dims(8, 8);
}

/// Attention with a causal mask, and rows in a formula of one's own.
bool attend() {
  const Tensor q = randn<float, Shape<4, 16, 32>>();
  const Tensor k = randn<float, Shape<4, 16, 32>>();
  const Tensor v = randn<float, Shape<4, 16, 32>>();
  const Tensor visible = tri<bool, Shape<16, 16>>();
  const double scale = 1 / std::sqrt(32.0);

  // region: attention
  const Tensor scores = einsum<"bqd,bkd->bqk">(q, k) * scale;   // the factor follows the product's rows
  const Tensor weights = softmax(where(visible, scores, -1e9)); // mask and softmax: one kernel
  const Tensor mixed = einsum<"bqk,bkd->bqd">(weights, v);
  static_assert(plan<decltype(softmax(where(visible, scores, -1e9)))>().kernels == 1);
  // a row formula that has no name: still one kernel, one read and one write of the row
  const Tensor ranges = rowwise([](auto x) { return (x - mean(x)) / (max(x) - min(x)); }, scores);
  // end region
  std::cout << to_string(plan(softmax(where(visible, scores, -1e9))));

  const Tensor raised = eval(exp(where(visible, scores, -1e9)));
  const Tensor expected = matmul(eval(raised / sum<2>(raised, keepdims)), v);
  const float difference = max(abs(mixed - expected)).item();
  std::printf("largest difference from attention step by step: %.1f\n", static_cast<double>(difference));
  return difference < 1e-4F && allclose(max<2>(ranges) - min<2>(ranges), 1.0).item();
}

} // namespace

int main() { return clean_table() && attend() ? EXIT_SUCCESS : EXIT_FAILURE; }
