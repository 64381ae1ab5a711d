// SPDX-License-Identifier: Apache-2.0
//
// What state dictionaries keep of the options of rules, and what loading makes of them. That training goes on with them bit for
// bit is shown by tests/io/resume.test.cpp and, on several ranks, by tests/parallel.

#include "tests/support/message_of.hpp"

#include <twill/optim/adam.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/groups.hpp>
#include <twill/optim/lamb.hpp>
#include <twill/optim/loss_scale.hpp>
#include <twill/optim/rmsprop.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/train/rule_options.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

using namespace twill;
using test::message_of;
using Names = std::vector<std::string>;

namespace {

template <class R> nn::StateDict options_of(const R& rule) { return train::detail::with_options({}, rule); }

template <class R> train::OptionsReport load(R& rule, const nn::StateDict& state) {
  return train::detail::LoadedOptions{rule, state}.set();
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
  const train::OptionsReport report = load(other, options_of(rule));
  CHECK(report.missing.empty());
  CHECK(!report.changed.empty());
  CHECK(rule.values(1) == other.values(1));
  CHECK(rule.values(2) == other.values(2));
}

/// A rule of one's own that lists no options.
struct Silent {
  double rate = 0.5;
};

} // namespace

TEST_CASE("the options of every rule are kept and come back with every bit", "[train][IO-1][IO-5]") {
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

TEST_CASE("rules of rules list their options before those of the rule, groups under their numbers", "[train][IO-1]") {
  auto rule = nested(0.25, 6, true);
  const nn::StateDict state = options_of(rule);
  Names names{};
  for (const auto& [name, tensor] : state.entries()) names.push_back(name.substr(train::options_prefix.size()));
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
  const train::OptionsReport report = load(other, state);
  CHECK(report.loaded == names);
  REQUIRE(report.changed.size() == 1);
  CHECK(report.changed[0].name == "group0.nesterov");
  CHECK(report.changed[0].before == "false");
  CHECK(report.changed[0].now == "true");
  CHECK(other.group<0>().options.nesterov);
}

TEST_CASE("options that do not fit are named with both values and change nothing", "[train][IO-1][IO-4]") {
  const nn::StateDict adam = options_of(optim::Adam{{.rate = 0.5}});
  const auto refused = [](auto rule, const nn::StateDict& state) {
    const auto before = rule.values(2);
    const std::string message = message_of<ValueError>([&] { load(rule, state); });
    CHECK(rule.values(2) == before);
    return message;
  };
  const std::string hint = "train::without_options(state) leaves the options as they are";
  CHECK(refused(optim::AmsGrad{}, adam) ==
        "load_state_dict: 'options/rule' is 'amsgrad' in the rule, 'adam' in the state "
        "dictionary; it is part of the rule's type, and " +
            hint);
  CHECK(refused(optim::clip_norm(optim::Adam{}, 1), adam) ==
        "load_state_dict: missing: options/clip.max_norm; " + hint);
  CHECK(refused(optim::Adam{}, options_of(optim::clip_norm(optim::Adam{}, 1))) ==
        "load_state_dict: unexpected: options/clip.max_norm; " + hint);
  CHECK(
      refused(optim::groups(optim::Adam{}, optim::vectors(optim::Sgd{})),
              options_of(optim::groups(optim::Adam{}, optim::group<"*.bias">(optim::Sgd{}))))
          .starts_with("load_state_dict: 'options/group0.members' is 'rank <= 1' in the rule, '*.bias' in the state "));
  CHECK(refused(optim::loss_scaled<optim::LossScaleOptions{.interval = 7}>(optim::Adam{}),
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
      refused(optim::Adam{}, with_another("options/beta2", DType::boolean, Dims{})) ==
      "load_state_dict: 'options/beta2' is float64 of shape () in the rule, bool of shape () in the state dictionary");
  CHECK(refused(optim::Adam{}, with_another("options/rule", DType::float64, Dims{})) ==
        "load_state_dict: 'options/rule' is the text 'adam' in the rule, float64 of shape () in the state dictionary");
}

TEST_CASE("a state without options leaves a rule's own, and a rule may list none", "[train][IO-1]") {
  optim::Sgd rule{{.rate = 0.75}};
  const train::OptionsReport report = load(rule, train::without_options(options_of(optim::Sgd{{.rate = 0.5}})));
  CHECK(report.missing == Names{"rule", "rate", "weight_decay"});
  CHECK((report.loaded.empty() && report.changed.empty() && rule.options.rate == 0.75));

  Silent silent{};
  CHECK(options_of(silent).size() == 0);
  CHECK(load(silent, {}).missing.empty());
  CHECK(message_of<ValueError>([&] {
          load(silent, options_of(rule));
        }).starts_with("load_state_dict: unexpected: options/rule, options/rate, options/weight_decay"));
}
