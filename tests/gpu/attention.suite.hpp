#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Attention that keeps no scores on a GPU beside a host: values and gradients for sizes around those of a block, masks of
// every kind, second derivatives. Gradients have the same bits in every run.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/kernel/gpu/attention.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/ops/attention.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

namespace attention_suite { namespace {

using namespace twill;
using graph::Value;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

constexpr auto attended = [](Value q, Value k, Value v) { return graph::streamed_attention(q, k, v, {.scale = 0.4}); };
constexpr auto attended_sum = [](Value q, Value k, Value v) { return graph::sum(graph::square(attended(q, k, v))); };

constexpr auto causal = [](Value q, Value k, Value v) {
  return graph::streamed_attention(q, k, v, {.scale = 0.4, .is_causal = true});
};
constexpr auto causal_sum = [](Value q, Value k, Value v) { return graph::sum(graph::square(causal(q, k, v))); };

// (batch, heads, queries, keys): a mask that repeats for queries and heads, and one that is added and repeats for batches
constexpr auto masked = [](Value q, Value k, Value v, Value keep, Value added) {
  return graph::streamed_attention(q, k, v, {.scale = 0.4, .mask = keep > 0.3}) +
         graph::streamed_attention(q, k, v, {.scale = 0.4, .is_causal = true, .mask = added});
};
constexpr auto masked_sum = [](Value q, Value k, Value v, Value keep, Value added) {
  return graph::sum(graph::square(masked(q, k, v, keep, added)));
};

constexpr auto of_gradients = [](Value q, Value k, Value v) {
  const auto [dq, dk, dv] = grad(causal_sum)(q, k, v);
  return graph::sum(graph::square(dq)) + graph::sum(graph::square(dk)) + graph::sum(graph::square(dv));
};

/// The gradients of the first three arguments there are near the host's, and the same in another run.
template <class F, class... X> void gradients_agree(const F& f, double bound, const X&... x) {
  const auto expected = grad(f)(x...);
  const auto got = grad(f)(x.to(TestedDevice{0})...);
  const auto again = grad(f)(x.to(TestedDevice{0})...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (require_near(std::get<I>(got), std::get<I>(expected), bound, bound), ...);
    (require_same(std::get<I>(got), std::get<I>(again)), ...);
  }
  (std::make_index_sequence<sizeof...(X)>{});
}

void sizes_agree() {
  const std::int64_t sizes[][2] = {{1, 1}, {7, 33}, {9, 31}, {37, 65}, {40, 0}, {0, 5}};
  for (const auto [queries, keys] : sizes) {
    const auto q = randn<double, Shape<3, dyn, 5>>(Dims(3, queries, 5), Cpu{0});
    const auto k = randn<double, Shape<3, dyn, 5>>(Dims(3, keys, 5), Cpu{0});
    const auto v = randn<double, Shape<3, dyn, 35>>(Dims(3, keys, 35), Cpu{0});
    require_near(compiled(attended)(q.to(TestedDevice{0}), k.to(TestedDevice{0}), v.to(TestedDevice{0})),
                 compiled(attended)(q, k, v), 1e-12, 1e-12);
    gradients_agree(attended_sum, 1e-11, q, k, v);
  }
}

void causal_rows_agree() {
  for (const std::int64_t rows : {1, 8, 41, 67}) {
    const auto q = randn<double, Shape<dyn, 33>>(Dims(rows, 33), Cpu{0});
    const auto k = randn<double, Shape<dyn, 33>>(Dims(rows, 33), Cpu{0});
    const auto v = randn<double, Shape<dyn, 4>>(Dims(rows, 4), Cpu{0});
    require_near(compiled(causal)(q.to(TestedDevice{0}), k.to(TestedDevice{0}), v.to(TestedDevice{0})),
                 compiled(causal)(q, k, v), 1e-12, 1e-12);
    gradients_agree(causal_sum, 1e-11, q, k, v);
  }
}

void masks_agree() {
  const auto q = randn<double, Shape<2, 3, 11, 4>>(Cpu{0});
  const auto k = randn<double, Shape<2, 3, 37, 4>>(Cpu{0});
  const auto v = randn<double, Shape<2, 3, 37, 6>>(Cpu{0});
  auto kept = to_vector(rand<double, Shape<2, 1, 1, 37>>(Cpu{0}));
  for (std::size_t key = 37; key < 74; ++key) kept[key] = 0; // the second batch sees nothing
  const auto keep = from_values<Shape<2, 1, 1, 37>>(kept, Dims(2, 1, 1, 37), Cpu{0});
  const auto added = randn<double, Shape<3, 11, 37>>(Cpu{0});
  require_near(compiled(masked)(q.to(TestedDevice{0}), k.to(TestedDevice{0}), v.to(TestedDevice{0}),
                                keep.to(TestedDevice{0}), added.to(TestedDevice{0})),
               compiled(masked)(q, k, v, keep, added), 1e-12, 1e-12);
  gradients_agree(masked_sum, 1e-11, q, k, v, keep, added);
}

void second_derivatives_agree() {
  const auto q = randn<double, Shape<2, 9, 4>>(Cpu{0});
  const auto k = randn<double, Shape<2, 9, 4>>(Cpu{0});
  const auto v = randn<double, Shape<2, 9, 3>>(Cpu{0});
  gradients_agree(of_gradients, 1e-9, q, k, v);
}

const Case sizes_case{"attention without scores and its gradients are near the host's", &sizes_agree};
const Case causal_case{"causal attention without scores and its gradients are near the host's", &causal_rows_agree};
const Case masks_case{"masked attention without scores and its gradients are near the host's", &masks_agree};
const Case second_case{"second derivatives of attention without scores are near the host's", &second_derivatives_agree};

}} // namespace attention_suite
