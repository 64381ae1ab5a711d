#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Adafactor (Shazeer and Stern, 2018): the mean squares of a matrix' gradients are kept as those of its rows and of its
// columns, so the states of a large model are a small part of its weights. Formulas and defaults are those of
// torch.optim.Adafactor. Not in twill.hpp. Read next: optim/muon.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/reductions.hpp>
#include <twill/optim/detail/whole_weights.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// Options of Adafactor, those of torch.optim.Adafactor.
struct AdafactorOptions {
  double rate = 1e-2;        ///< learning rate, at most 1 / sqrt(step); times the root mean square of the weight
  RateNotLr lr{};            ///< does not compile: say `rate`
  double beta2_decay = -0.8; ///< step to this power is the share of the newest squares; not above 0
  double epsilon1 = 0;       ///< the least mean square is its square; the precision of the numbers where that is more
  double epsilon2 = 1e-3;    ///< the least root mean square of a weight, as far as the rate is concerned
  double clip = 1;           ///< the greatest root mean square of a step before the rate, at least 1; PyTorch's `d`
  double weight_decay = 0;   ///< times the rate, subtracted from the weight itself
};

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

struct AdafactorLists {
  using Options = AdafactorOptions;
  static constexpr std::string_view rule = "adafactor";
  static constexpr std::array<OptionMember<Options>, 6> options{
      {{"rate", &Options::rate},
       {"beta2_decay", &Options::beta2_decay, Allowed::numbers},
       {"epsilon1", &Options::epsilon1},
       {"epsilon2", &Options::epsilon2},
       {"clip", &Options::clip},
       {"weight_decay", &Options::weight_decay}}};

  static double share(const Options& o, std::int64_t step) {
    return std::pow(static_cast<double>(step), o.beta2_decay);
  }
  static double rate_of_step(const Options& o, std::int64_t step) {
    return std::min(o.rate, 1 / std::sqrt(static_cast<double>(step)));
  }
  static constexpr double kept(const Options& o, std::int64_t) { return 1 - o.rate * o.weight_decay; }
  static constexpr std::array<RuleNumber<Options>, 8> numbers{{{"adafactor.share", share},
                                                               {"adafactor.rate_of_step", rate_of_step},
                                                               {"adafactor.kept", kept},
                                                               {"adafactor.epsilon1", &Options::epsilon1},
                                                               {"adafactor.epsilon2", &Options::epsilon2},
                                                               {"adafactor.clip", &Options::clip},
                                                               {"adafactor.rate", &Options::rate},
                                                               {"adafactor.beta2_decay", &Options::beta2_decay}}};
};

/// The mean square of a weight's gradients: of an axis, the product of the means of rows and of columns.
[[nodiscard]] TWILL_CONSTEXPR Value adafactor_squares(Update& u, Value gradient, Value share, Value epsilon) {
  const Value square = gradient * gradient;
  const auto moved = [&](std::string_view name, Value fresh) {
    const Value old = state_of_shape(u, name, fresh.shape());
    const Value next = old + share * (fresh - old);
    u.set_state(old, next);
    return next;
  };
  if (gradient.rank() < 2) return moved("variance", square);
  const Value rows = moved("row_var", graph::mean(square, {-1}, graph::KeepDims::yes));
  const Value columns = moved("col_var", graph::mean(square, {-2}, graph::KeepDims::yes));
  return rows * columns / maximum(graph::mean(rows, {-2}, graph::KeepDims::yes), epsilon);
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// s = step^beta2_decay, r += s (mean of g^2 over columns - r), c += s (mean of g^2 over rows - c), u = g / sqrt(r c /
/// mean(r)), w -= min(rate, 1 / sqrt(step)) max(epsilon2, rms(w)) u / max(1, rms(u) / clip). Matrices are those of the
/// last two axes; vectors keep the mean square of each element. Does not compile where ranks hold parts of weights of
/// two axes or more (zero, sharded layers).
class Adafactor : public detail::ListedRule<detail::AdafactorLists> {
public:
  constexpr Adafactor() = default;
  /// throws: ValueError for an option outside its range
  explicit Adafactor(AdafactorOptions given) : ListedRule{given} {
    if (!(given.clip >= 1)) throw ValueError("adafactor: clip must be at least 1, got " + std::to_string(given.clip));
    if (given.beta2_decay > 0)
      throw ValueError("adafactor: beta2_decay must not be above 0, got " + std::to_string(given.beta2_decay));
  }

  static TWILL_CONSTEXPR void update(Update& u) {
    const Value weight = u.weight();
    if (!detail::require_whole_weight(u)) return;
    const bool is_double = u.compute_dtype() == DType::float64;
    const double precision =
        is_double ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
    const Value epsilon = maximum(u.number("adafactor.epsilon1"), precision);
    Value share = u.number("adafactor.share");
    Value rate = u.number("adafactor.rate_of_step");
    if (u.may_skip()) { // only the device knows the step
      share = exp(u.number("adafactor.beta2_decay") * log(u.step()));
      rate = minimum(u.number("adafactor.rate"), rsqrt(u.step()));
    }
    const Value gradient = u.gradient();
    const Value squares = detail::adafactor_squares(u, gradient, share, epsilon);
    const Value step = gradient * rsqrt(maximum(squares, epsilon * epsilon));
    const double elements = static_cast<double>(weight.shape().elements().factor);
    const Value size = sqrt(u.sum_of_squares(weight) / elements);
    const Value step_size = sqrt(u.sum_of_squares(step) / elements);
    const Value factor =
        rate * maximum(size, u.number("adafactor.epsilon2")) / maximum(step_size / u.number("adafactor.clip"), 1.0);
    u.set_weight(u.number("adafactor.kept") * weight - factor * step);
  }
};

}}}} // namespace twill::v0::optim::TWILL_ISA
