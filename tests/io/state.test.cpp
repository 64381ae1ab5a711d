// SPDX-License-Identifier: Apache-2.0
//
// What networks save and load: other devices and types, names that do not fit, prefixes.

#include "tests/support/late_device.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/io/safetensors.hpp>
#include <twill/io/stored.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/nn/stored_tensor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace twill;
using namespace twill::test;

TEST_CASE("a network's weights go through a file, also to another type and device", "[io][IO-1][IO-2]") {
  const TemporaryFolder folder{};
  const std::string file = folder / "x.safetensors";
  manual_seed_all(1);
  nn::Network<Classifier, Cpu> first{Cpu{0}};
  manual_seed_all(2);
  nn::Network<Classifier, Cpu> second{Cpu{1}};
  nn::Network<Classifier, Cpu, double> wide{};
  io::save_safetensors(file, nn::state_dict(first));
  const nn::StateDict state = io::load_safetensors(file).tensors;
  nn::load_state_dict(second, state);
  CHECK(weights_of(second) == weights_of(first));
  const std::string refused = message_of<ValueError>([&] { nn::load_state_dict(wide, state); });
  CHECK(refused.starts_with("load_state_dict: 'first.weight' is float64 of shape (7, 5) in the network, float32 of "
                            "shape (7, 5) in the state dictionary; 'first.bias' is float64 of shape (7,) in the "));
  CHECK(refused.ends_with("; allow other types with converts_types"));
  nn::load_state_dict(wide, state, {.converts_types = true});
  const std::vector<float> narrow = weights_of(first);
  CHECK(weights_of(wide) == std::vector<double>(narrow.begin(), narrow.end()));
}

TEST_CASE("what does not fit a network is named, and nothing is written", "[io][IO-1][IO-3]") {
  nn::Network<Classifier, Cpu> model{};
  const std::vector<float> before = weights_of(model);
  const nn::StateDict whole = nn::state_dict(model);
  nn::StateDict other{}; // one missing, one too many, and later a wrong shape
  for (const auto& [name, tensor] : whole.entries())
    if (name != "second.bias" && name != "first.weight")
      other.add(name, nn::StoredTensor::make(tensor.dtype, tensor.shape).first);
  other.add("third.bias", nn::StoredTensor::make(DType::float32, Dims(3)).first);
  CHECK_THROWS_WITH(nn::load_state_dict(model, other),
                    "load_state_dict: missing: first.weight, second.bias; unexpected: third.bias");
  CHECK(weights_of(model) == before);
  nn::StateDict partial{};
  partial.add("second.bias", nn::StoredTensor::make(DType::float32, Dims(6)).first);
  const nn::LoadReport report = nn::load_state_dict(model, partial, {.is_strict = false});
  CHECK(report.missing.size() == 5);
  CHECK(report.unexpected.empty());
  nn::StateDict wrong{};
  wrong.add("first.weight", nn::StoredTensor::make(DType::float32, Dims(5, 7)).first);
  CHECK_THROWS_WITH(
      nn::load_state_dict(model, wrong, {.is_strict = false}),
      "load_state_dict: 'first.weight' is float32 of shape (7, 5) in the network, float32 of shape (5, 7) in the state dictionary");
  other.add("first.weight", nn::StoredTensor::make(DType::float32, Dims(5, 7)).first);
  CHECK(message_of<ShapeError>([&] { nn::load_state_dict(model, other); }) ==
        "load_state_dict: 'first.weight' is float32 of shape (7, 5) in the network, float32 of shape (5, 7) in the "
        "state dictionary; missing: second.bias; unexpected: third.bias");
  nn::StateDict prefixed{};
  for (const auto& [name, tensor] : whole.entries()) prefixed.add("module." + name, tensor);
  CHECK_THROWS_AS(nn::load_state_dict(model, prefixed), ValueError);
  nn::load_state_dict(model, prefixed, {.prefix = "module."});
  CHECK(weights_of(model) == before);
  CHECK_THROWS_WITH(prefixed.add("module.first.bias", {}), "state_dict: 'module.first.bias' is there twice");
}

TEST_CASE("a part of a state loads with a report of what was loaded, missing, unexpected and mismatched",
          "[io][IO-1][IO-3]") {
  nn::Network<Classifier, Cpu> model{};
  const std::vector<float> before = weights_of(model);
  const nn::StateDict whole = nn::state_dict(model);
  nn::StateDict state{};
  state.add("first.weight", nn::StoredTensor::make(DType::float32, Dims(7, 6)).first);
  state.add("first.bias", nn::StoredTensor::make(DType::float64, Dims(7)).first);
  state.add("second.weight", *whole.find("second.weight"));
  state.add("head.weight", *whole.find("output.weight"));
  const nn::LoadReport report = nn::load_state_dict(model, state, {.is_strict = false, .skips_mismatched = true});
  CHECK(report.loaded == std::vector<std::string>{"second.weight"});
  CHECK(report.missing == std::vector<std::string>{"second.bias", "output.weight", "output.bias"});
  CHECK(report.unexpected == std::vector<std::string>{"head.weight"});
  REQUIRE(report.mismatched.size() == 2);
  CHECK(report.mismatched[0].name == "first.weight");
  CHECK(report.mismatched[0].in_network == "float32 of shape (7, 5)");
  CHECK(report.mismatched[0].in_dictionary == "float32 of shape (7, 6)");
  CHECK(report.mismatched[1].in_dictionary == "float64 of shape (7,)");
  CHECK(weights_of(model) == before);
}

TEST_CASE("states of wrappers and of pipelines' stages load into bare models and back", "[io][IO-3]") {
  nn::Network<Classifier, Cpu> model{};
  nn::Network<Classifier, Cpu> other{};
  const nn::StateDict own = nn::state_dict(model);
  const nn::StateDict wrapped = nn::with_prefix(own, "module.");
  CHECK(wrapped.find("module.first.weight") != nullptr);
  nn::load_state_dict(other, nn::without_prefix(wrapped, "module."));
  CHECK(weights_of(other) == weights_of(model));
  nn::load_state_dict(other, nn::without_prefix(own, "module.")); // no prefix is no error
  nn::Network<Regressor, Cpu> next{};
  const nn::StateDict pipeline = nn::joined({nn::with_prefix(own, "0."), nn::with_prefix(nn::state_dict(next), "1.")});
  const int numbers[] = {3, 12};
  const nn::StateDict later = nn::renumbered_stages(pipeline, numbers);
  CHECK(later.find("12.hidden.weight") != nullptr);
  manual_seed_all(test_seed());
  nn::Network<Regressor, Cpu> stage{};
  nn::load_state_dict(stage, nn::part(later, "12."));
  CHECK(weights_of(stage) == weights_of(next));
  CHECK_THROWS_WITH(nn::renumbered_stages(later, numbers),
                    "renumbered_stages: '3.first.weight' does not begin with the number of one of 2 stages");
  CHECK_THROWS_WITH(nn::renumbered_stages(own, numbers),
                    "renumbered_stages: 'first.weight' does not begin with the number of one of 2 stages");
  CHECK_THROWS_WITH(nn::joined({own, own}), "state_dict: 'first.bias' is there twice");
}

TEST_CASE("what lay on one kind of device loads on another, and back", "[io][IO-2]") {
  const TemporaryFolder folder{};
  manual_seed_all(3);
  nn::Network<Classifier, Late> late{Late{1}};
  manual_seed_all(4);
  nn::Network<Classifier, Cpu> host{};
  io::save_safetensors(folder / "late", nn::state_dict(late));
  nn::load_state_dict(host, io::load_safetensors(folder / "late").tensors);
  CHECK(weights_of(host) == weights_of(late));
  manual_seed_all(5);
  nn::Network<Classifier, Cpu> source{};
  io::save_safetensors(folder / "host", nn::state_dict(source));
  nn::load_state_dict(late, io::load_safetensors(folder / "host").tensors);
  CHECK(weights_of(late) == weights_of(source));
  using Matrix = Tensor<float, Late, Shape<7, 5>>;
  const nn::StateDict state = io::load_safetensors(folder / "host").tensors;
  const auto matrix = io::tensor_of<Matrix>("first.weight", *state.find("first.weight"), Late{0});
  CHECK(to_vector(matrix) == to_vector(source.parameter<"first.weight">()));
  const nn::StoredTensor back = io::stored(matrix);
  CHECK(std::equal(back.bytes.begin(), back.bytes.end(), state.find("first.weight")->bytes.begin()));
}
