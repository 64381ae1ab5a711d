#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The options of a rule by their names, as state dictionaries keep them beside the rule's states. A rule lists the numbers and
// flags that may change between steps, and what its type settles, such as which rule it is: that is compared, never set. Rules
// of rules list their own and those of the rule that they wrap, groups begin theirs with "group0." and on. A rule of one's own
// without `list_options` keeps none. Read next: train/rule_options.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace twill::inline v0::optim::inline TWILL_ISA {

/// One option of a rule: a number or a flag that may be set, or a text that the rule's type settles.
struct Option {
  std::string name{};       ///< within the rule, such as "group0.weight_decay"
  double* number = nullptr; ///< where a number lies
  bool* flag = nullptr;     ///< where a flag lies
  std::string settled{};    ///< what the type says, where there is neither

  /// Whether the rule's type settles it.
  [[nodiscard]] bool is_settled() const { return number == nullptr && flag == nullptr; }
};

/// A number in the fewest digits that mean it.
[[nodiscard]] inline std::string option_text(double number) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  return std::string(digits, end);
}

/// The options of a rule, in the order in which it lists them. They point into the rule.
class OptionList {
public:
  /// A number that may change between steps.
  void add(std::string_view name, double& number) {
    options_.push_back({.name = join_text({prefix_, name}), .number = &number});
  }
  /// A flag that may change between steps.
  void add(std::string_view name, bool& flag) {
    options_.push_back({.name = join_text({prefix_, name}), .flag = &flag});
  }
  /// What the rule's type settles.
  void settle(std::string_view name, std::string_view text) {
    options_.push_back({.name = join_text({prefix_, name}), .settled = std::string{text}});
  }
  void settle(std::string_view name, double number) { settle(name, option_text(number)); }

  /// The names of what `f()` adds begin with a prefix.
  template <class F> void below(std::string_view prefix, const F& f) {
    const std::size_t length = prefix_.size();
    prefix_ += prefix;
    f();
    prefix_.resize(length);
  }

  /// All of them.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

private:
  std::vector<Option> options_{};
  std::string prefix_{};
};

/// Adds the options of a rule to a list; nothing where the rule lists none.
template <class R> void list_options(R& rule, OptionList& list) {
  if constexpr (requires { rule.list_options(list); }) rule.list_options(list);
}

} // namespace twill::inline v0::optim::inline TWILL_ISA
