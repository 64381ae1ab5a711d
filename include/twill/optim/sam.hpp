#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ascent of sharpness-aware minimisation (SAM, Foret et al., 2021), as a rule: from the present weights to the worst
// ones near them. Not in twill.hpp. Read next: training/sam_step.hpp, which makes steps of it.

#include <twill/core/config.hpp>
#include <twill/optim/detail/sum_over_weights.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of sharpness-aware minimisation.
struct SamOptions {
  double rho = 0.05;     ///< how far away the worst weights are looked for, in the norm of all weights together
  bool adaptive = false; ///< the distance of each weight is in proportion to its size (ASAM, Kwon et al., 2021)
};

/// A rule that climbs: w += rho s^2 g / (|s g| + 1e-12), with s = |w| if adaptive, else 1, and the norm of all weights.
class SamAscent {
public:
  static constexpr std::array<std::string_view, 2> numbers{"sam.rho", "sam.adaptive"};

  /// throws: ValueError for a negative rho
  explicit SamAscent(const SamOptions& given) : options{given} {
    detail::require_allowed("sam", "rho", given.rho, Allowed::not_negative);
  }

  static TWILL_CONSTEXPR void prepare(Updates& all) {
    graph::Graph& graph = *all.graph;
    if (all.weights.empty()) return;
    detail::SumOverWeights total{};
    for (std::size_t i = 0; i < all.weights.size(); ++i)
      total.add(graph, all.weights[i], all.of_one_weight([&] {
        Update update{all, all.weights[i], all.gradients[i]};
        return optim::sum_of_squares(scale_of(update) * update.gradient());
      }));
    const Value factor = 1 / (sqrt(all.over_all_elements(total.value(graph))) + 1e-12);
    for (std::size_t i = 0; i < all.weights.size(); ++i) {
      Update update{all, all.weights[i], all.gradients[i]};
      const Value scale = scale_of(update);
      const Value gradient = scale * scale * update.gradient();
      all.gradients[i] = (gradient * graph::beside(factor, gradient.node())).id();
    }
  }
  static TWILL_CONSTEXPR void update(Update& u) { u.set_weight(u.weight() + u.number("sam.rho") * u.gradient()); }
  [[nodiscard]] std::array<double, 2> values(std::int64_t /*step*/) const {
    return {options.rho, options.adaptive ? 1.0 : 0.0};
  }

  SamOptions options; ///< may change between steps

private:
  [[nodiscard]] static TWILL_CONSTEXPR Value scale_of(Update& u) {
    return 1 + u.number("sam.adaptive") * (abs(u.weight()) - 1);
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
