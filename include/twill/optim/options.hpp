#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of a rule by name, as stored in state dictionaries beside the rule's states. A rule lists the numbers and
// flags that may change between steps, with the numbers that its constructor allows, and properties fixed by its type,
// such as its name: those are compared, never set. Rules of rules list their own and those of the wrapped rule, groups
// begin theirs with "group0." and so on. A rule without `list_options` stores none. The rules of the library name each
// option once, in a list from which the rest follows (`ListedRule`). Read next: optim/sgd.hpp,
// training/rule_options.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// PyTorch's name of `rate`, so that the error says twill's: nothing else converts to it.
struct RateNotLr {
  RateNotLr() = default;
  /// Does not compile.
  template <class T> constexpr RateNotLr(const T&) {
    static_assert(sizeof(T) == 0, "twill: the learning rate is called rate, not lr: {.rate = 1e-3}");
  }
};

/// Allowed numbers of an option; NaN is never allowed.
enum class Allowed : unsigned char {
  numbers,      ///< all
  not_negative, ///< from 0 on
  fraction,     ///< in [0, 1)
};

/// Whether an option may be this number.
[[nodiscard]] TWILL_CONSTEXPR bool allows(Allowed allowed, double number) {
  if (allowed == Allowed::numbers) return number == number;
  return number >= 0 && (allowed == Allowed::not_negative || number < 1);
}
/// "at least 0", after "has to be".
[[nodiscard]] TWILL_CONSTEXPR std::string_view allowed_text(Allowed allowed) {
  if (allowed == Allowed::numbers) return "a number";
  return allowed == Allowed::not_negative ? "at least 0" : "in [0, 1)";
}

/// One option of a rule: a number or a flag that may be set, or a text fixed by the rule's type.
struct Option {
  std::string name{};                 ///< within the rule, such as "group0.weight_decay"
  double* number = nullptr;           ///< the address of a number
  bool* flag = nullptr;               ///< the address of a flag
  std::string settled{};              ///< the text of the type, if there is neither
  Allowed allowed = Allowed::numbers; ///< the numbers that it may be

  /// Whether the rule's type fixes it.
  [[nodiscard]] bool is_settled() const { return number == nullptr && flag == nullptr; }
};

/// The options of a rule, in the order in which it lists them. They point into the rule.
class OptionList {
public:
  /// Adds a number that may change between steps, to others that are allowed.
  void add(std::string_view name, double& number, Allowed allowed = Allowed::numbers);
  /// Adds a flag that may change between steps.
  void add(std::string_view name, bool& flag);
  /// Adds a property fixed by the rule's type.
  void settle(std::string_view name, std::string_view text);
  void settle(std::string_view name, double number) { settle(name, number_text(number)); }

  /// Reports that an option contradicts the others, and why: "needs momentum above 0, got 0".
  void refuse(std::string_view name, std::string_view why);
  /// A refused option and the reason.
  struct Refusal {
    std::string option{}; ///< its name within the rule; empty if nothing was refused
    std::string why{};    ///< the reason given

    /// Whether there is one.
    [[nodiscard]] bool is_made() const { return !option.empty(); }
  };
  /// The first refusal.
  [[nodiscard]] const Refusal& refusal() const { return refusal_; }

  /// Puts a prefix before the names of the options that `f()` adds.
  template <class F> void below(std::string_view prefix, const F& f) {
    const std::size_t length = prefix_.size();
    prefix_ += prefix;
    f();
    prefix_.resize(length);
  }

  /// All options.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

private:
  std::vector<Option> options_{};
  Refusal refusal_{};
  std::string prefix_{};
};

/// Adds the options of a rule to a list; nothing if the rule lists none.
template <class R> void list_options(R& rule, OptionList& list) {
  if constexpr (requires { rule.list_options(list); }) rule.list_options(list);
}

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError for a number that an option of a rule may not be
TWILL_CONSTEXPR void require_allowed(std::string_view rule, std::string_view option, double number, Allowed allowed) {
  if (allows(allowed, number)) return;
  constexpr const char* demands[] = {" must be a number, got ", " must not be negative, got ",
                                     " must lie in [0, 1), got "};
  throw ValueError(std::string{rule} + ": " + std::string{option} + demands[static_cast<int>(allowed)] +
                   std::to_string(number));
}

/// One of the numbers of a struct of options.
template <class Options> struct OptionMember {
  std::string_view name;
  double Options::*member;
  Allowed allowed = Allowed::not_negative;
};

/// A run-time number of a rule: an option, or a function of the options and of the step, counted from 1.
template <class Options> struct RuleNumber {
  using Function = double (*)(const Options&, std::int64_t);

  constexpr RuleNumber() = default;
  constexpr RuleNumber(std::string_view own_name, double Options::*option) : name{own_name}, member{option} {}
  constexpr RuleNumber(std::string_view own_name, Function of_options) : name{own_name}, function{of_options} {}

  [[nodiscard]] constexpr double value(const Options& options, std::int64_t step) const {
    return member != nullptr ? options.*member : function(options, step);
  }

  std::string_view name{};
  double Options::*member = nullptr;
  Function function = nullptr;
};

/// Base of rules that are lists: the name of the rule, its struct of options, their members, and its run-time numbers.
template <class Lists> class ListedRule {
public:
  using Options = typename Lists::Options;

  /// The names of its run-time numbers.
  static constexpr auto numbers = [] {
    std::array<std::string_view, Lists::numbers.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = Lists::numbers[i].name;
    return names;
  }();

  constexpr ListedRule() = default;
  /// throws: ValueError for an option outside its range
  constexpr explicit ListedRule(Options given) : options{given} {
    for (const OptionMember<Options>& option : Lists::options)
      require_allowed(Lists::rule, option.name, given.*option.member, option.allowed);
  }

  /// Does not compile: options have names, and the weights are those of a network.
  template <class... Arguments>
  requires(sizeof...(Arguments) > 0 && !(std::convertible_to<Arguments, Options> && ...) &&
           !(std::derived_from<Arguments, ListedRule> && ...)) constexpr explicit ListedRule(const Arguments&...) {
    static_assert(
        sizeof...(Arguments) == 0,
        "twill: optim: a rule takes its options by name, optim::Adam{{.rate = 0.01}}; the weights are those of "
        "the network that train_step or training::Optimiser takes");
  }

  /// The values of its run-time numbers in a step, counted from 1.
  [[nodiscard]] constexpr auto values(std::int64_t step) const {
    std::array<double, numbers.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = Lists::numbers[i].value(options, step);
    return all;
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    list.settle("rule", Lists::rule);
    for (const OptionMember<Options>& option : Lists::options)
      list.add(option.name, options.*option.member, option.allowed);
  }

  Options options{}; ///< may change between steps
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/optim/options.ipp>
#endif
