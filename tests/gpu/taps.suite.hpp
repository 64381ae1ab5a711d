#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Looking into runs on a GPU: taps, hooks on layers and checked steps show what lies in device memory, and change no bit of
// the steps, captured or not.

#include <tests/nn/tapped_blocks.hpp>
#include <tests/support/suite.hpp>

#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace twill::test { namespace taps_suite {

using D = TestedDevice;

inline void taps() {
  nn::Network<nn::Hooked<Blocks<true>>, Cpu> here{Cpu{0}};
  auto there = here.to(D{0});
  auto unwatched = here.to(D{0});
  Seen seen_here{};
  Seen seen_there{};
  const auto hang = [](auto& network, Seen& list) {
    const auto keep = [&list](const compile::Observation& seen) { list.push_back(seen); };
    network.on_layer("*", keep);
    network.on_layer_backward("*", keep);
    network.on_tap("*", keep);
  };
  hang(here, seen_here);
  hang(there, seen_there);
  auto step_here = train_step(here, nn::mse, optim::Sgd{{.rate = 0.1}});
  auto step_there = train_step(there, nn::mse, optim::Sgd{{.rate = 0.1}});
  auto step_unwatched = train_step(unwatched, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(Cpu{0}, 9);
  const auto y = random_rows<float, 3>(Cpu{0}, 9, 1);
  for (int i = 0; i < 3; ++i) { // the later ones are captured where nobody looks
    step_here(x, y);
    const float loss = step_there(x.to(D{0}), y.to(D{0})).item();
    require_equal(loss, step_unwatched(x.to(D{0}), y.to(D{0})).item());
  }
  require_equal(weights_of(there), weights_of(unwatched));
  require_equal(seen_there.size(), seen_here.size());
  require_equal(seen_there.size(), std::size_t{3 * (6 + 6 + 14)});
  for (std::size_t i = 0; i < seen_here.size(); ++i) {
    require_equal(seen_there[i].layer, seen_here[i].layer);
    require_equal(seen_there[i].device, to_string(D{0}));
    require_equal(seen_there[i].values.size(), seen_here[i].values.size());
    for (std::size_t k = 0; k < seen_here[i].values.size(); ++k)
      require_close(seen_there[i].values[k], seen_here[i].values[k], 1e-4, 1e-5);
  }
}
const Case taps_case{"hooks on layers of a GPU see the host's values and change no bit", &taps};

inline void checked() {
  nn::Network<nn::Hooked<Blocks<true>>, D> model{D{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(D{0}, 4);
  const auto y = random_rows<float, 3>(D{0}, 4, 1);
  static_cast<void>(step.checked(x, y).item());
  model.parameter<"encoder.1.inner.bias">().fill(std::numeric_limits<float>::infinity());
  std::string complaint{};
  try {
    static_cast<void>(step.checked(x, y));
  } catch (const ValueError& error) {
    complaint = error.what();
  }
  require(complaint.find("in encoder.1.inner gives 0 NaN and 24 infinities") != std::string::npos);
}
const Case checked_case{"a checked step on a GPU names the layer of the first infinity", &checked};

inline void labels() {
  nn::Network<Classifier, D> model{D{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(D{0}, 2);
  const auto wrong = from_values(std::vector<std::int64_t>{1, 3}, Dims(2), Cpu{0}).to(D{0});
  const auto before = weights_of(model);
  std::string complaint{};
  try {
    static_cast<void>(step.checked(x, wrong));
  } catch (const IndexError& error) {
    complaint = error.what();
  }
  require(complaint.find("a label has to be between 0 and 2; element 1 of target 1 is 3") != std::string::npos);
  require_equal(weights_of(model), before);
  require(step(x, wrong).item() == std::numeric_limits<float>::infinity()); // not checked: it goes on
}
const Case labels_case{"a checked step on a GPU refuses labels that are no classes", &labels};

}} // namespace twill::test::taps_suite
