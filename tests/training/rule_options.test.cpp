// SPDX-License-Identifier: Apache-2.0
//
// What state dictionaries keep of the options of rules, and what loading makes of them. That training goes on with them bit for
// bit is shown by tests/io/resume.test.cpp and, on several ranks, by tests/parallel.

#include "tests/support/message_of.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/rmsprop.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/rule_options.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace twill;
using test::message_of;
using Names = std::vector<std::string>;

namespace {

template <class R> nn::StateDict options_of(const R& rule) { return training::with_options({}, rule); }

template <class R> training::OptionsReport load(R& rule, const nn::StateDict& state) {
  return training::LoadedOptions{rule, state}.set();
}

/// A rule of rules with every kind of option.
auto nested(double rate, double most, bool nesterov) {
  return optim::loss_scaled(
      optim::clip_norm(optim::clip_value(optim::groups(optim::AdamW{{.rate = rate}},
                                                       optim::group<"*.bias">(optim::MomentumSgd{
                                                           {.rate = rate / 3, .momentum = 0.5, .nesterov = nesterov}}),
                                                       optim::vectors(optim::Sgd{{.rate = rate / 7}})),
                                         most),
                       most / 3));
}

/// Whether a rule with other options takes over all of a rule's, seen in what it tells its kernels.
template <class R> void check_taken_over(const R& rule, R other = R{}) {
  CHECK(rule.values(2) != other.values(2));
  const training::OptionsReport report = load(other, options_of(rule));
  CHECK(report.missing.empty());
  CHECK(!report.changed.empty());
  CHECK(rule.values(1) == other.values(1));
  CHECK(rule.values(2) == other.values(2));
}

/// Why a rule does not take over a state; then it stays as it was.
template <class R> std::string refusal_of(R rule, const nn::StateDict& state) {
  const auto before = rule.values(2);
  const std::string message = message_of<ValueError>([&] { load(rule, state); });
  CHECK(rule.values(2) == before);
  return message;
}
const std::string hint = "training::without_options(state) leaves the options as they are";

/// A rule of one's own that lists no options.
struct Silent {
  double rate = 0.5;
};

} // namespace

TEST_CASE("the options of every rule are kept and come back with every bit", "[training][IO-1][IO-5]") {
  check_taken_over(optim::Sgd{{.rate = 1.0 / 3, .weight_decay = 0.1}});
  check_taken_over(optim::MomentumSgd{{.rate = 0.3, .momentum = 0.7, .weight_decay = 0.1, .nesterov = true}});
  check_taken_over(optim::MomentumSgd{{.rate = 0.3, .momentum = 0.7, .dampening = 0.2}});
  const optim::AdamOptions adam{.rate = 0.3, .beta1 = 0.7, .beta2 = 0.6, .epsilon = 1e-5, .weight_decay = 0.1};
  const optim::AdamWOptions adamw{.rate = 0.3, .beta1 = 0.7, .beta2 = 0.6, .epsilon = 1e-5, .weight_decay = 0.1};
  check_taken_over(optim::Adam{adam});
  check_taken_over(optim::AmsGrad{adam});
  check_taken_over(optim::AdamW{adamw});
  check_taken_over(optim::AmsGradW{adamw});
  check_taken_over(optim::Lamb{{.rate = 0.3, .beta1 = 0.7, .beta2 = 0.6, .epsilon = 1e-5, .weight_decay = 0.1}});
  const optim::RmsPropOptions rmsprop{.rate = 0.3, .alpha = 0.7, .epsilon = 1e-5, .weight_decay = 0.1, .momentum = 0.2};
  check_taken_over(optim::RmsProp{rmsprop});
  check_taken_over(optim::CentredRmsProp{rmsprop});
  check_taken_over(optim::Adagrad{
      {.rate = 0.3, .rate_decay = 0.1, .weight_decay = 0.1, .initial_accumulator = 0.2, .epsilon = 1e-5}});
  check_taken_over(nested(0.3, 0.9, true), nested(0.1, 1, false));
}

TEST_CASE("rules of rules list their options before those of the rule, groups under their numbers",
          "[training][IO-1]") {
  auto rule = nested(0.25, 6, true);
  const nn::StateDict state = options_of(rule);
  Names names{};
  for (const auto& [name, tensor] : state.entries()) names.push_back(name.substr(training::options_prefix.size()));
  CHECK(names == Names{"loss_scale.growth",
                       "loss_scale.backoff",
                       "loss_scale.interval",
                       "clip.max_norm",
                       "clip.max_value",
                       "rule",
                       "rate",
                       "beta1",
                       "beta2",
                       "epsilon",
                       "weight_decay",
                       "group0.members",
                       "group0.rule",
                       "group0.rate",
                       "group0.momentum",
                       "group0.dampening",
                       "group0.weight_decay",
                       "group0.nesterov",
                       "group1.members",
                       "group1.rule",
                       "group1.rate",
                       "group1.weight_decay"});
  const nn::StoredTensor& rate = *state.find("options/rate");
  double value = 0;
  std::memcpy(&value, rate.bytes.data(), sizeof(value));
  CHECK((rate.dtype == DType::float64 && rate.shape == Dims{} && value == 0.25));

  auto other = nested(0.25, 6, false);
  const training::OptionsReport report = load(other, state);
  CHECK(report.loaded == names);
  REQUIRE(report.changed.size() == 1);
  CHECK(report.changed[0].name == "group0.nesterov");
  CHECK(report.changed[0].before == "false");
  CHECK(report.changed[0].now == "true");
  CHECK(other.group<0>().options.nesterov);
}

TEST_CASE("options that do not fit are named with both values and change nothing", "[training][IO-1][IO-4]") {
  const nn::StateDict adam = options_of(optim::Adam{{.rate = 0.5}});
  CHECK(refusal_of(optim::AmsGrad{}, adam) ==
        "load_state_dict: 'options/rule' is 'amsgrad' in the rule, 'adam' in the state "
        "dictionary; it is part of the rule's type, and " +
            hint);
  CHECK(refusal_of(optim::clip_norm(optim::Adam{}, 1), adam) ==
        "load_state_dict: missing: options/clip.max_norm; " + hint);
  CHECK(refusal_of(optim::Adam{}, options_of(optim::clip_norm(optim::Adam{}, 1))) ==
        "load_state_dict: unexpected: options/clip.max_norm; " + hint);
  CHECK(
      refusal_of(optim::groups(optim::Adam{}, optim::vectors(optim::Sgd{})),
                 options_of(optim::groups(optim::Adam{}, optim::group<"*.bias">(optim::Sgd{}))))
          .starts_with("load_state_dict: 'options/group0.members' is 'rank <= 1' in the rule, '*.bias' in the state "));
  CHECK(refusal_of(optim::loss_scaled<optim::LossScaleOptions{.interval = 7}>(optim::Adam{}),
                   options_of(optim::loss_scaled(optim::Adam{})))
            .starts_with("load_state_dict: 'options/loss_scale.interval' is '7' in the rule, '2000' in the state "));

  const auto with_another = [&](const std::string& name, DType dtype, const Dims& shape) {
    nn::StateDict result{};
    for (const auto& [key, tensor] : adam.entries()) {
      auto [zeros, data] = nn::StoredTensor::make(dtype, shape);
      std::fill_n(data, zeros.bytes.size(), std::byte{});
      result.add(key, key == name ? zeros : tensor);
    }
    return result;
  };
  CHECK(
      refusal_of(optim::Adam{}, with_another("options/beta2", DType::boolean, Dims{})) ==
      "load_state_dict: 'options/beta2' is float64 of shape () in the rule, bool of shape () in the state dictionary");
  CHECK(refusal_of(optim::Adam{}, with_another("options/rule", DType::float64, Dims{})) ==
        "load_state_dict: 'options/rule' is the text 'adam' in the rule, float64 of shape () in the state dictionary");
}

TEST_CASE("loaded options are those that a rule's constructor allows", "[training][IO-1][IO-4]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto adam_with = [](double optim::AdamOptions::*option, double value) {
    optim::Adam rule{};
    rule.options.*option = value; // as a damaged file or another program may have it
    return options_of(rule);
  };
  CHECK(refusal_of(optim::Adam{}, adam_with(&optim::AdamOptions::beta1, nan)) ==
        "load_state_dict: 'options/beta1' is nan in the state dictionary, has to be in [0, 1); " + hint);
  CHECK(refusal_of(optim::Adam{}, adam_with(&optim::AdamOptions::beta2, 1)) ==
        "load_state_dict: 'options/beta2' is 1 in the state dictionary, has to be in [0, 1); " + hint);
  CHECK(refusal_of(optim::Adam{}, adam_with(&optim::AdamOptions::rate, -0.5)) ==
        "load_state_dict: 'options/rate' is -0.5 in the state dictionary, has to be at least 0; " + hint);

  auto deep = nested(0.25, 6, true);
  deep.group<0>().options.weight_decay = nan;
  CHECK(
      refusal_of(nested(0.5, 6, true), options_of(deep))
          .starts_with("load_state_dict: 'options/group0.weight_decay' is nan in the state dictionary, has to be at "));
  deep.group<0>().options = {.momentum = 0.5, .dampening = 0.25, .nesterov = true};
  CHECK(
      refusal_of(nested(0.5, 6, true), options_of(deep)) ==
      "load_state_dict: 'options/group0.nesterov' in the state dictionary needs momentum above 0 and no dampening, got "
      "momentum 0.5 and dampening 0.25; " +
          hint);
  optim::MomentumSgd momentum{};
  momentum.options.dampening = nan;
  CHECK(refusal_of(optim::MomentumSgd{}, options_of(momentum)) ==
        "load_state_dict: 'options/dampening' is nan in the state dictionary, has to be a number; " + hint);

  auto clipped = optim::clip_norm(optim::Sgd{}, 1);
  load(clipped,
       options_of(optim::clip_norm(optim::Sgd{}, infinity))); // as a constructor takes it: norms are looked at only
  CHECK(clipped.max_norm == infinity);
}

TEST_CASE("a state without options leaves a rule's own, and a rule may list none", "[training][IO-1]") {
  optim::Sgd rule{{.rate = 0.75}};
  const nn::StateDict given = options_of(optim::Sgd{{.rate = 0.5}});
  const training::OptionsReport report = load(rule, training::without_options(given));
  CHECK(report.kept == Names{"rule", "rate", "weight_decay"});
  CHECK(report.missing.empty());
  const training::OptionsReport of_older = load(rule, {});
  CHECK(of_older.missing == report.kept);
  CHECK(of_older.kept.empty());
  CHECK(load(rule, training::without_options(training::without_options(given))).kept == report.kept);
  CHECK((report.loaded.empty() && report.changed.empty() && rule.options.rate == 0.75));

  Silent silent{};
  CHECK(options_of(silent).size() == 0);
  CHECK(load(silent, {}).missing.empty());
  CHECK(load(silent, training::without_options(given)).kept.empty());
  CHECK(message_of<ValueError>([&] {
          load(silent, options_of(rule));
        }).starts_with("load_state_dict: unexpected: options/rule, options/rate, options/weight_decay"));
}
