#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of a rule in its state dictionary, under names such as "options/rate". Loading sets numbers, stored as
// float64 scalars, and flags, stored as boolean ones, if the rule's constructor allows them; it compares texts, because
// the rule's type fixes them. A dictionary without options leaves the rule's own: an older one, or one with a mark that
// they were left out. Everything is compared before anything is set. Read next: training/optimiser.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/optim/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The prefix of options' names in a state dictionary; names of weights do not begin with it.
inline constexpr std::string_view options_prefix = "options/";

/// An option that had another value before a state was loaded.
struct ChangedOption {
  std::string name{};   ///< within the rule, such as "group0.rate"
  std::string before{}; ///< the value it had
  std::string now{};    ///< the value it has
};

/// Outcome of loading for a rule's options.
struct OptionsReport {
  std::vector<std::string> loaded{};    ///< names within the rule, in its order
  std::vector<std::string> missing{};   ///< options that the state lacks, because it is older; they stay unchanged
  std::vector<std::string> kept{};      ///< options that stay unchanged on request, see `without_options`
  std::vector<ChangedOption> changed{}; ///< the loaded ones that had other values
};

/// The state without options, and without the mark of `without_options`.
[[nodiscard]] nn::StateDict states_alone(const nn::StateDict& state);

/// The state of a rule without its options, to resume with others:
/// `step.load_state_dict(training::without_options(state))`. It is marked, so that the report lists them as `kept`.
[[nodiscard]] nn::StateDict without_options(const nn::StateDict& state);

}}}} // namespace twill::v0::training::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { namespace detail { inline namespace TWILL_ISA {

/// The name that marks a state whose options were left out, to distinguish it from an older one.
inline constexpr std::string_view left_out = options_prefix;

/// float64 or boolean for a single number, a row of bytes for a text.
[[nodiscard]] DType dtype_of_option(const optim::Option& option);

[[nodiscard]] nn::StoredTensor stored_option(const optim::Option& option);

[[nodiscard]] nn::StoredTensor stored_mark();

[[nodiscard]] inline std::string flag_text(bool flag) { return flag ? "true" : "false"; }

}}}}} // namespace twill::v0::training::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace training { inline namespace TWILL_ISA {

/// The states of a rule and its options.
template <class R> [[nodiscard]] nn::StateDict with_options(nn::StateDict states, const R& rule) {
  R copy = rule; // the list points into a rule that may change
  optim::OptionList list{};
  optim::list_options(copy, list);
  for (const optim::Option& option : list.options())
    states.add(join_text({options_prefix, option.name}), detail::stored_option(option));
  return states;
}

/// Options of a rule from a state dictionary: once constructed, they are known to be valid; then `set` cannot fail.
class LoadedOptions {
public:
  /// throws: ValueError naming the option and both values, or the value and those that are allowed, or listing what is
  /// missing and unexpected
  template <class R> LoadedOptions(R& rule, const nn::StateDict& state) : states_{states_alone(state)} {
    optim::list_options(rule, list_);
    compare(state);
    if (values_.empty()) return;
    R tried = rule; // with the loaded options, to check them together
    optim::OptionList of_tried{};
    optim::list_options(tried, of_tried);
    assign(of_tried);
    optim::OptionList seen{};
    optim::list_options(tried, seen);
    if (seen.refusal().is_made())
      throw ValueError(join_text({"load_state_dict: '", options_prefix, seen.refusal().option,
                                  "' in the state dictionary ", seen.refusal().why, hint}));
  }

  /// The dictionary without the options.
  [[nodiscard]] const nn::StateDict& states() const { return states_; }

  /// Sets the rule's options, which must be at their earlier addresses.
  OptionsReport set();

private:
  static constexpr std::string_view hint = "; training::without_options(state) leaves the options as they are";

  void assign(const optim::OptionList& list) const;

  void compare(const nn::StateDict& state);

  /// The value of a number or a flag.
  double compared(const std::string& key, const optim::Option& option, const nn::StoredTensor& tensor);

  /// throws: ValueError naming the option and both texts
  static void require_settled(const std::string& key, const optim::Option& option, const nn::StoredTensor& tensor);

  optim::OptionList list_{};
  nn::StateDict states_;
  std::vector<double> values_{}; ///< for each option; none if the dictionary has none
  OptionsReport report_{};
};

}}}} // namespace twill::v0::training::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/training/rule_options.ipp>
#endif
