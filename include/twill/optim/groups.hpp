#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parameter groups, with rules of their own: `optim::groups(optim::AdamW{}, optim::group<"*.bias">(optim::Sgd{}))`. The
// group of each weight is decided at compile time, by name or by rank; the numbers of each group are run-time numbers.
// A weight belongs to the first group that matches, else to the first argument. Read next: optim/schedules.hpp.

#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/optim/options.hpp>
#include <twill/optim/update.hpp>

#include <tuple>
#include <utility>

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// The weights whose names match a pattern.
template <FixedString Pattern> struct NamePattern {
  /// Whether the weight's name matches the pattern, in which `*` stands for anything.
  [[nodiscard]] static constexpr bool contains(const Update& u) { return matches(Pattern.view(), u.name()); }
  /// The name of these weights' group in state dictionaries.
  static constexpr std::string_view text = Pattern.view();
};

/// Scalars and vectors: biases, and the scales and shifts of normalisations.
struct Vectors {
  /// Whether the weight has at most one axis.
  [[nodiscard]] static constexpr bool contains(const Update& u) { return u.rank() <= 1; }
  /// The name of these weights' group in state dictionaries.
  static constexpr std::string_view text = "rank <= 1";
};

/// A rule for some of the weights.
template <class Members, Rule R> struct Group {
  static_assert(
      !requires(Updates & all) { R::prepare(all); },
      "twill: group: clipping and scaling look at all gradients; wrap them around groups(...) instead");
  using members = Members;
  using rule_type = R;
  R rule; ///< for these weights
};

/// A rule for the weights whose names match a pattern.
template <FixedString Pattern, Rule R> [[nodiscard]] Group<NamePattern<Pattern>, R> group(R rule) {
  return {std::move(rule)};
}

/// A rule for the weights of at most one dimension.
template <Rule R> [[nodiscard]] Group<Vectors, R> vectors(R rule) { return {std::move(rule)}; }

}}}} // namespace twill::v0::optim::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

[[nodiscard]] TWILL_CONSTEXPR graph::Name group_prefix(std::size_t index) {
  graph::Name prefix{"group"};
  prefix.append_number(static_cast<std::int64_t>(index));
  prefix.append(".");
  return prefix;
}

/// The names of the numbers of group I of a rule.
template <class R, std::size_t I> struct GroupNumbers {
  static constexpr std::size_t count = R::numbers.size();
  static constexpr std::array<graph::Name, count> names = [] {
    std::array<graph::Name, count> result{};
    for (std::size_t i = 0; i < count; ++i) {
      result[i] = group_prefix(I);
      result[i].append(R::numbers[i]);
    }
    return result;
  }();
  static constexpr std::array<std::string_view, count> views = [] {
    std::array<std::string_view, count> result{};
    for (std::size_t i = 0; i < count; ++i) result[i] = names[i].view();
    return result;
  }();
};

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

/// A rule, and others for groups of weights. Options of the rule are its own, those of a group `group<I>().options`.
template <Rule R, class... G> class Groups : public R {
  using Sequence = std::index_sequence_for<G...>;

  template <std::size_t... I> static constexpr auto all_numbers(std::index_sequence<I...>) {
    std::array<std::string_view, (R::numbers.size() + ... + G::rule_type::numbers.size())> all{};
    std::size_t next = 0;
    for (const std::string_view name : R::numbers) all[next++] = name;
    const auto add = [&](const auto& names) {
      for (const std::string_view name : names) all[next++] = name;
    };
    (add(detail::GroupNumbers<typename G::rule_type, I>::views), ...);
    return all;
  }

public:
  static constexpr auto numbers = all_numbers(Sequence{});

  /// A rule for all weights outside the groups; a weight in several groups belongs to the first.
  explicit Groups(R rule, G... groups) : R{std::move(rule)}, groups_{std::move(groups)...} {}

  /// The rule of a group, whose options may change between steps.
  template <std::size_t I> [[nodiscard]] auto& group() { return std::get<I>(groups_).rule; }
  template <std::size_t I> [[nodiscard]] const auto& group() const { return std::get<I>(groups_).rule; }

  /// Calls f with the rule of each group.
  template <class F> void each_group(F f) {
    std::apply([&](auto&... group) { (f(group.rule), ...); }, groups_);
  }

  static constexpr void update(Update& u) { update_as<0, G...>(u); }

  [[nodiscard]] auto values(std::int64_t step) const {
    std::array<double, numbers.size()> all{};
    std::size_t next = 0;
    const auto add = [&](const auto& values) {
      for (const double value : values) all[next++] = value;
    };
    add(R::values(step));
    std::apply([&](const auto&... group) { (add(group.rule.values(step)), ...); }, groups_);
    return all;
  }
  /// Adds its options to a list.
  void list_options(OptionList& list) {
    optim::list_options(static_cast<R&>(*this), list);
    std::size_t index = 0;
    std::apply([&](auto&... group) { (list_group(index++, group, list), ...); }, groups_);
  }

private:
  template <class First> static void list_group(std::size_t index, First& group, OptionList& list) {
    list.below(detail::group_prefix(index).view(), [&] {
      if constexpr (requires { First::members::text; }) list.settle("members", First::members::text);
      optim::list_options(group.rule, list);
    });
  }
  template <std::size_t I> static constexpr void update_as(Update& u) { R::update(u); }
  template <std::size_t I, class First, class... Rest> static constexpr void update_as(Update& u) {
    if (!First::members::contains(u)) return update_as<I + 1, Rest...>(u);
    u.set_prefix(detail::group_prefix(I));
    First::rule_type::update(u);
  }

  std::tuple<G...> groups_;
};

/// A rule for all weights except those of groups, which have their own rules.
template <Rule R, class... G> [[nodiscard]] Groups<R, G...> groups(R rule, G... group) {
  return Groups<R, G...>{std::move(rule), std::move(group)...};
}

/// A rule that decays only matrices and larger weights: no decay on biases, nor on scales and shifts of normalisations.
template <Rule R> [[nodiscard]] auto decay_matrices_only(R rule) {
  R without = rule;
  without.options.weight_decay = 0;
  return groups(std::move(rule), vectors(std::move(without)));
}

}}}} // namespace twill::v0::optim::TWILL_ISA
