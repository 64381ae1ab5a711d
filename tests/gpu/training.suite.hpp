#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Training on a GPU in every form there is: planned, staged, accumulated, in evaluation and without gradients. The numbers
// are those of `Cpu` within the rounding of sums in another order.

#include <tests/support/suite.hpp>
#include <tests/training/trained_numbers.hpp>

#include <twill/optim/adam.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/accumulation.hpp>

#include <cstdint>
#include <vector>

namespace twill::test { namespace training_suite {

/// On both kinds of device.
template <class Train> void check_both_kinds(const Train& train) {
  const std::vector<double> here = numbers_of(Cpu{0}, train);
  const std::vector<double> there = numbers_of(TestedDevice{0}, train);
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-12);
}

inline void planned() {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    auto step = train_step(model, nn::cross_entropy, optim::Adam{{.rate = 0.01, .epsilon = 1e-4}});
    for (int epoch = 0; epoch < 4; ++epoch)
      for (auto [x, label] : loader) numbers.push_back(step(x, label).item());
  });
}
const Case planned_case{"planned steps from a loader give the host's numbers", &planned};

inline void staged() {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    training::Optimiser optimiser{model, optim::MomentumSgd{{.rate = 0.1}}};
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [x, label] : loader) {
        optimiser.zero_grad();
        const auto loss = nn::cross_entropy(model.forward(x), label);
        loss.backward();
        for (double gradient : gradients_of(model)) numbers.push_back(gradient);
        optimiser.step();
        numbers.push_back(loss.item());
      }
  });
}
const Case staged_case{"staged runs from a loader give the host's numbers", &staged};

inline void accumulated() {
  check_both_kinds([](auto& model, auto& loader, std::vector<double>& numbers) {
    auto step = accumulated_step(model, nn::cross_entropy, optim::MomentumSgd{{.rate = 0.1}});
    for (int epoch = 0; epoch < 4; ++epoch) {
      for (auto [x, label] : loader) step.add(x, label);
      numbers.push_back(step.finish().item());
    }
  });
}
const Case accumulated_case{"accumulated steps from a loader give the host's numbers", &accumulated};

}} // namespace twill::test::training_suite
