// SPDX-License-Identifier: Apache-2.0
//
// The only file that is compiled anew where the model changes.

// region: source
#include "classifier.hpp"

#include <twill/twill.hpp>

using namespace twill;

namespace {

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 2> point) {
    return nn::linear(tanh(nn::linear(point, 16, "hidden")), 2, "output");
  }
};

auto step_of(nn::Network<Model>& network, float rate) {
  return train_step(network, nn::cross_entropy, optim::Adam{{.rate = rate}});
}

} // namespace

struct Classifier::Parts {
  explicit Parts(float rate) : step{step_of(network, rate)} {}

  nn::Network<Model> network{};
  decltype(step_of(network, 0)) step; // after the network, which it refers to
};

Classifier::Classifier(float rate) : parts_{std::make_unique<Parts>(rate)} {}
Classifier::~Classifier() = default;

float Classifier::train(const Points& points, const Labels& labels) { return parts_->step(points, labels).item(); }
Classifier::Labels Classifier::classes(const Points& points) { return argmax<1>(parts_->network.infer(points)); }
// end region
