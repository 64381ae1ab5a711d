#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A known network on a GPU: a GPT-2 of two layers trains as on the host, from steps that are captured. Read next:
// tests/gpu/residual.suite.hpp, which takes nvcc as long as three others.

#include <examples/models/gpt2.hpp>
#include <tests/gpu/trained_network.hpp>

#include <twill/kernel/gpu/attention.hpp>
#include <twill/kernel/gpu/launch.hpp>

#include <cstdint>

namespace twill::test { namespace networks_suite {

inline void gpt() {
  constexpr models::Gpt2Sizes sizes{.vocabulary = 13, .positions = 9, .width = 8, .layers = 2, .heads = 2};
  using Model = models::Gpt2<sizes, 7>;
  constexpr std::int64_t rows = 3;
  const auto ids = [&](std::uint64_t salt) {
    return from_values<Shape<dyn, 7>>(to_vector(random_labels(Cpu{0}, rows * 7, 13, salt)), Dims(rows, 7), Cpu{0});
  };
  require_trains_as_on_the_host<Model>(models::NextToken{}, 0.1, ids(1), ids(2));
}
const Case gpt_case{"a GPT-2 of two layers trains on a GPU as on the host, in captured steps", &gpt};

}} // namespace twill::test::networks_suite
