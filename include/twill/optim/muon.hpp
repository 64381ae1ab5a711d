#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Muon (Jordan et al., 2024): momentum whose step is made orthogonal, for weights that are matrices. Other weights,
// and usually embeddings and the last layer, have a rule of their own by groups, `optim::groups(optim::Muon{},
// optim::vectors(optim::AdamW{}))`. Formulas and defaults are those of torch.optim.Muon, in the weight's precision
// where PyTorch has bfloat16. Not in twill.hpp. Read next: optim/groups.hpp.

#include <twill/core/config.hpp>
#include <twill/core/square_root.hpp>
#include <twill/graph/shape_functions.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/optim/detail/whole_weights.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of Muon, those of torch.optim.Muon. The iteration is x = a x + (b x x' + c (x x')^2) x, five times.
struct MuonOptions {
  double rate = 1e-3;         ///< learning rate; times sqrt(rows / columns) for tall matrices
  RateNotLr lr{};             ///< does not compile: say `rate`
  double momentum = 0.95;     ///< how much of the mean gradient stays, in [0, 1)
  double weight_decay = 0.1;  ///< times the rate, subtracted from the weight itself
  double epsilon = 1e-7;      ///< the least norm that a step is divided by
  double a = 3.4445;          ///< coefficient of the iteration
  double b = -4.775;          ///< coefficient of the iteration
  double c = 2.0315;          ///< coefficient of the iteration
  bool nesterov = true;       ///< the gradient counts once more, as in Nesterov's momentum
  bool matches_adamw = false; ///< times 0.2 sqrt(longer extent) in place of the above, for rates of AdamW; PyTorch's
                              ///< "match_rms_adamw"
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

struct MuonLists {
  using Options = MuonOptions;
  static constexpr std::string_view rule = "muon";
  static constexpr std::array<OptionMember<Options>, 7> options{{{"rate", &Options::rate},
                                                                 {"momentum", &Options::momentum, Allowed::fraction},
                                                                 {"weight_decay", &Options::weight_decay},
                                                                 {"epsilon", &Options::epsilon},
                                                                 {"a", &Options::a, Allowed::numbers},
                                                                 {"b", &Options::b, Allowed::numbers},
                                                                 {"c", &Options::c, Allowed::numbers}}};

  static constexpr double share(const Options& o, std::int64_t) { return 1 - o.momentum; }
  static constexpr double of_mean(const Options& o, std::int64_t) { return o.nesterov ? o.momentum : 1; }
  static constexpr double of_gradient(const Options& o, std::int64_t) { return o.nesterov ? 1 - o.momentum : 0; }
  static constexpr double kept(const Options& o, std::int64_t) { return 1 - o.rate * o.weight_decay; }
  static constexpr double rate(const Options& o, std::int64_t) { return o.matches_adamw ? 0 : o.rate; }
  static constexpr double adamw_rate(const Options& o, std::int64_t) { return o.matches_adamw ? 0.2 * o.rate : 0; }
  static constexpr std::array<RuleNumber<Options>, 11> numbers{{{"muon.momentum", &Options::momentum},
                                                                {"muon.share", share},
                                                                {"muon.of_mean", of_mean},
                                                                {"muon.of_gradient", of_gradient},
                                                                {"muon.kept", kept},
                                                                {"muon.rate", rate},
                                                                {"muon.adamw_rate", adamw_rate},
                                                                {"muon.epsilon", &Options::epsilon},
                                                                {"muon.a", &Options::a},
                                                                {"muon.b", &Options::b},
                                                                {"muon.c", &Options::c}}};
};

/// A matrix with the singular vectors of x and singular values near one, by Newton and Schulz's iteration.
[[nodiscard]] TWILL_CONSTEXPR Value orthogonalised(Value x, Value a, Value b, Value c, Value epsilon) {
  const bool is_tall = x.size(0) > x.size(1);
  if (is_tall) x = graph::transpose(x); // products of the smaller extent
  x = x / maximum(sqrt(optim::sum_of_squares(x)), epsilon);
  for (int i = 0; i < 5; ++i) {
    const Value gram = graph::matmul(x, graph::transpose(x));
    x = a * x + graph::matmul(b * gram + c * graph::matmul(gram, gram), x);
  }
  return is_tall ? graph::transpose(x) : x;
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// m = momentum m + (1 - momentum) g, w -= rate factor orthogonal(momentum m + (1 - momentum) g), where orthogonal(U S
/// V') is about U V' and factor is sqrt(max(1, rows / columns)). One state per weight, and fifteen products of matrices
/// in a step. Does not compile for a weight that is no matrix, or that ranks hold in parts (zero, sharded layers).
class Muon : public detail::ListedRule<detail::MuonLists> {
public:
  using ListedRule::ListedRule;

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    if (!detail::require_whole_weight(u)) return;
    if (weight.rank() != 2) {
      weight.graph().refuse(graph::Problem::matrix_needs_two_axes, weight.rank(), 2, {},
                            graph::Named::weight(u.name()));
      return;
    }
    const Value gradient = u.gradient();
    const Value mean = u.state("momentum_buffer");
    const Value next = u.number("muon.momentum") * mean + u.number("muon.share") * gradient;
    u.set_state(mean, next);
    const Value step =
        detail::orthogonalised(u.number("muon.of_mean") * next + u.number("muon.of_gradient") * gradient,
                               u.number("muon.a"), u.number("muon.b"), u.number("muon.c"), u.number("muon.epsilon"));
    const auto rows = static_cast<double>(weight.size(0)), columns = static_cast<double>(weight.size(1));
    const double factor = square_root(std::max(1.0, rows / columns));
    const double adamw_factor = square_root(std::max(rows, columns));
    const Value rate = u.number("muon.rate") * factor + u.number("muon.adamw_rate") * adamw_factor;
    u.set_weight(u.number("muon.kept") * weight - rate * step);
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    ListedRule::list_options(list);
    list.add("nesterov", options.nesterov);
    list.add("matches_adamw", options.matches_adamw);
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
