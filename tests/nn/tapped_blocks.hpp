#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A model with taps, or without, for tests that look into it.

#include "tests/training/models.hpp"

#include <twill/compile/report/observation.hpp>
#include <twill/nn.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace twill::test {

/// Two blocks, each a layer and a residual connection.
template <bool Tapped> struct Blocks {
  static constexpr graph::Value shown(graph::Value x, const char* name) { return Tapped ? nn::tap(x, name) : x; }

  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    graph::Value y = nn::linear(x, 6, "stem");
    for (std::int64_t i = 0; i < 2; ++i) {
      const nn::Scope block{x.graph(), "encoder.", i};
      const auto before = shown(nn::linear(y, 6, "inner"), "before");
      const auto hidden = shown(before * 0.5, "halved"); // fused away but for the tap
      y = y + shown(graph::transpose(graph::transpose(tanh(hidden))), "turned");
    }
    return nn::linear(shown(softmax(y), "shares"), 3, "head");
  }
};

using Seen = std::vector<compile::Observation>;

inline std::vector<std::string> names_of(const Seen& seen) {
  std::vector<std::string> names{};
  for (const auto& each : seen) names.push_back(each.layer);
  return names;
}

} // namespace twill::test
