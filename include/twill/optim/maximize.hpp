#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Ascent: a rule that maximises the loss, PyTorch's option `maximize` of every optimiser. Not in twill.hpp. Read next:
// optim/clip.hpp.

#include <twill/core/config.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <utility>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// A rule that follows the negative gradients.
template <Rule R> class Maximized : public R {
public:
  /// The rule on negative gradients.
  explicit Maximized(R rule) : R{std::move(rule)} {}

  static constexpr void prepare(Updates& all) {
    for (int& gradient : all.gradients) gradient = (-Value{*all.graph, gradient}).id();
    if constexpr (requires { R::prepare(all); }) R::prepare(all);
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    list.settle("maximize", "yes");
    optim::list_options(static_cast<R&>(*this), list);
  }
};

/// A rule that makes the loss as large as it can: `optim::maximize(optim::Adam{})`. Around groups, not in them.
template <Rule R> [[nodiscard]] Maximized<R> maximize(R rule) { return Maximized<R>{std::move(rule)}; }

}}}} // namespace twill::v0::optim::TWILL_ISA
