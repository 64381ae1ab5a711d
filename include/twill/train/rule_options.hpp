#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The options of a rule in its state dictionary, under names such as "options/rate": numbers as float64 scalars and flags as
// boolean ones, which loading sets where the rule's constructor would allow them, and texts that it compares, because the
// rule's type settles them. A dictionary without options leaves the rule's own: one of before there were any, or one that says by a mark
// that they were left out. Everything is compared before anything is set. Read next: train/optimiser.hpp.

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

namespace twill::inline v0::train::inline TWILL_ISA {

/// The names of options in a state dictionary begin with this, those of weights do not.
inline constexpr std::string_view options_prefix = "options/";

/// An option that had another value before a state was loaded.
struct ChangedOption {
  std::string name{};   ///< within the rule, such as "group0.rate"
  std::string before{}; ///< the value it had
  std::string now{};    ///< the value it has
};

/// What became of a rule's options when a state was loaded.
struct OptionsReport {
  std::vector<std::string> loaded{};    ///< names within the rule, in its order
  std::vector<std::string> missing{};   ///< those that the state lacks, because it is older; they stay as they are
  std::vector<std::string> kept{};      ///< those that were to stay as they are, see `without_options`
  std::vector<ChangedOption> changed{}; ///< the loaded ones that had other values
};

} // namespace twill::inline v0::train::inline TWILL_ISA

namespace twill::inline v0::train::detail::inline TWILL_ISA {

/// Under this name a state says that its options were left out, so that nobody takes it for an older one.
inline constexpr std::string_view left_out = options_prefix;

/// The state without its options and without a word of them.
[[nodiscard]] inline nn::StateDict states_alone(const nn::StateDict& state) {
  std::vector<nn::StateDict::Entry> entries{};
  for (const nn::StateDict::Entry& entry : state.entries())
    if (!entry.first.starts_with(options_prefix)) entries.push_back(entry);
  return nn::StateDict{std::move(entries)};
}

/// float64 and boolean are single numbers, a text is a row of bytes.
[[nodiscard]] inline DType dtype_of_option(const optim::Option& option) {
  if (option.is_settled()) return DType::uint8;
  return option.number != nullptr ? DType::float64 : DType::boolean;
}

[[nodiscard]] inline nn::StoredTensor stored_option(const optim::Option& option) {
  const Dims shape = option.is_settled() ? Dims(static_cast<std::int64_t>(option.settled.size())) : Dims{};
  auto [tensor, data] = nn::StoredTensor::make(dtype_of_option(option), shape);
  if (option.is_settled())
    std::copy_n(reinterpret_cast<const std::byte*>(option.settled.data()), option.settled.size(), data);
  else if (option.number != nullptr)
    std::memcpy(data, option.number, sizeof(double));
  else
    *data = static_cast<std::byte>(*option.flag);
  return tensor;
}

[[nodiscard]] inline nn::StoredTensor stored_mark() {
  auto [tensor, data] = nn::StoredTensor::make(DType::boolean, Dims{});
  *data = std::byte{1};
  return tensor;
}

[[nodiscard]] inline std::string flag_text(bool flag) { return flag ? "true" : "false"; }

/// The states of a rule and its options.
template <class R> [[nodiscard]] nn::StateDict with_options(nn::StateDict states, const R& rule) {
  R copy = rule; // the list points into a rule that may change
  optim::OptionList list{};
  optim::list_options(copy, list);
  for (const optim::Option& option : list.options())
    states.add(join_text({options_prefix, option.name}), stored_option(option));
  return states;
}

/// Options of a rule that a state dictionary holds: made, they are known to fit; then `set` cannot fail.
class LoadedOptions {
public:
  /// throws: ValueError naming the option and both values, or the value and those that are allowed, or listing what is missing
  /// and unexpected
  template <class R> LoadedOptions(R& rule, const nn::StateDict& state) : states_{states_alone(state)} {
    optim::list_options(rule, list_);
    compare(state);
    if (values_.empty()) return;
    R tried = rule; // with the loaded options, to see what has to hold of them together
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

  /// Sets the rule's options, which have to lie where they lay.
  OptionsReport set() {
    assign(list_);
    return std::move(report_);
  }

private:
  static constexpr std::string_view hint = "; train::without_options(state) leaves the options as they are";

  void assign(const optim::OptionList& list) const {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (list.options()[i].number != nullptr) *list.options()[i].number = values_[i];
      if (list.options()[i].flag != nullptr) *list.options()[i].flag = values_[i] != 0;
    }
  }

  void compare(const nn::StateDict& state) {
    std::vector<std::string> keys{};
    for (const optim::Option& option : list_.options()) keys.push_back(join_text({options_prefix, option.name}));
    const bool are_left_out = state.find(left_out) != nullptr;
    if (states_.size() + (are_left_out ? 1 : 0) == state.size()) {
      for (const optim::Option& option : list_.options())
        (are_left_out ? report_.kept : report_.missing).push_back(option.name);
      return;
    }
    std::vector<std::string> missing{};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (const nn::StoredTensor* const tensor = state.find(keys[i]))
        values_.push_back(compared(keys[i], list_.options()[i], *tensor));
      else
        missing.push_back(keys[i]);
    }
    std::vector<std::string> unexpected{};
    for (const nn::StateDict::Entry& entry : state.entries())
      if (entry.first.starts_with(options_prefix) && entry.first != left_out &&
          std::find(keys.begin(), keys.end(), entry.first) == keys.end())
        unexpected.push_back(entry.first);
    if (!missing.empty() || !unexpected.empty())
      throw ValueError(join_text({"load_state_dict: ", nn::detail::listed("missing: ", missing),
                                  missing.empty() || unexpected.empty() ? "" : "; ",
                                  nn::detail::listed("unexpected: ", unexpected), hint}));
  }

  /// The value of a number or a flag.
  double compared(const std::string& key, const optim::Option& option, const nn::StoredTensor& tensor) {
    if (tensor.dtype != dtype_of_option(option) || tensor.shape.rank != (option.is_settled() ? 1 : 0)) {
      const std::string wanted = option.is_settled() ? join_text({"the text '", option.settled, "'"})
                                                     : nn::detail::described(dtype_of_option(option), Dims{});
      throw ValueError(join_text({"load_state_dict: '", key, "' is ", wanted, " in the rule, ",
                                  nn::detail::described(tensor.dtype, tensor.shape), " in the state dictionary"}));
    }
    report_.loaded.push_back(option.name);
    if (option.is_settled()) {
      require_settled(key, option, tensor);
      return 0;
    }
    double value = 0;
    if (option.number != nullptr)
      std::memcpy(&value, tensor.bytes.data(), sizeof(value));
    else
      value = tensor.bytes[0] == std::byte{0} ? 0 : 1;
    const bool is_number = option.number != nullptr;
    if (is_number && !optim::allows(option.allowed, value))
      throw ValueError(join_text({"load_state_dict: '", key, "' is ", optim::option_text(value),
                                  " in the state dictionary, has to be ", optim::allowed_text(option.allowed), hint}));
    std::string before = is_number ? optim::option_text(*option.number) : flag_text(*option.flag);
    std::string now = is_number ? optim::option_text(value) : flag_text(value != 0);
    if (before != now) report_.changed.push_back({option.name, std::move(before), std::move(now)});
    return value;
  }

  /// throws: ValueError naming the option and both texts
  static void require_settled(const std::string& key, const optim::Option& option, const nn::StoredTensor& tensor) {
    constexpr std::size_t most = 64; // a damaged file could hold any text
    const std::string_view text{reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()};
    if (text != option.settled)
      throw ValueError(
          join_text({"load_state_dict: '", key, "' is '", option.settled, "' in the rule, '", text.substr(0, most),
                     "' in the state dictionary; it is part of the rule's type, and ", hint.substr(2)}));
  }

  optim::OptionList list_{};
  nn::StateDict states_;
  std::vector<double> values_{}; ///< for each option; none where the dictionary has none
  OptionsReport report_{};
};

} // namespace twill::inline v0::train::detail::inline TWILL_ISA

namespace twill::inline v0::train::inline TWILL_ISA {

/// The state of a rule without its options, to go on with others: `step.load_state_dict(train::without_options(state))`. It says
/// of itself that they were left out, so that the report lists them as `kept`.
[[nodiscard]] inline nn::StateDict without_options(const nn::StateDict& state) {
  nn::StateDict result = detail::states_alone(state);
  result.add(std::string{detail::left_out}, detail::stored_mark());
  return result;
}

} // namespace twill::inline v0::train::inline TWILL_ISA
