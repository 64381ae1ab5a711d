#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Models and functions of them on a GPU: the weights a seed gives, transforms of lambdas and of models that are local to a
// function, staged against planned training, element types, moves between kinds, runs that repeat bit for bit, and an
// operation of the program's own that no graph can hold.

#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/compile/function.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace twill::test {

/// Returns its argument, and makes the host wait for the device on the way.
inline constexpr graph::Operation waiting_operation{
    .name = "waiting",
    .vjp = [](graph::Graph& graph, int, const graph::Cotangents& cotangents, graph::InputGradients& gradients) {
      gradients.set(0, graph::Value{graph, cotangents[0]});
    }};

constexpr graph::Value waiting(graph::Value x) {
  return graph::add_operation(waiting_operation, {x}, x.dtype(), x.shape());
}

/// A classifier with such an operation in its middle.
struct WaitingClassifier {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(waiting(tanh(nn::linear(x, 7, "hidden"))), 3, "output");
  }
};

} // namespace twill::test

template <> struct twill::KernelOf<&twill::test::waiting_operation> {
  template <class T, class Queue> static void run(const Queue& queue, const kernel::Launch& launch) {
    using R = typename Queue::RuntimeType;
    gpu::require_no_recording<R>("waiting", queue.device());
    gpu::check<R>(R::synchronize_stream(queue.stream()), "synchronize_stream", queue.device());
    using kernel::Access;
    kernel::run(kernel::Program<kernel::In<T, Access::contiguous>, kernel::Out<T, 0>>{}, queue, launch.grid,
                launch.operands);
  }
};

namespace twill::test { namespace models_suite {

using D = TestedDevice;

inline void initial_weights() {
  manual_seed_all(11);
  const nn::Network<Classifier, Cpu> here{Cpu{0}};
  manual_seed_all(11);
  const nn::Network<Classifier, D> there{D{0}};
  require_equal(weights_of(there), weights_of(here));
}
const Case initial_case{"a seed gives a GPU the host's weights, bit for bit", &initial_weights};

/// A function's value and gradients, then the same of its gradient's sum.
template <class Device> std::vector<double> function_numbers(Device device) {
  struct Local {
    constexpr auto operator()(graph::Value x, graph::Value w) const { return sum(tanh(x * w) + x * x); }
  };
  const auto x = from_values<Shape<5, 7>>(random_values<double>(35, 1), Dims(5, 7), device);
  const auto w = from_values<Shape<5, 7>>(random_values<double>(35, 2), Dims(5, 7), device);
  std::vector<double> all{};
  const auto append = [&](const auto& tensor) {
    for (double value : to_vector(tensor)) all.push_back(value);
  };
  const auto [value, by_x, by_w] = value_and_grad(Local{})(x, w);
  append(value);
  append(by_x);
  append(by_w);
  append(grad([](auto v) { return sum(grad([](auto u) { return sum(sigmoid(u) * u); })(v)); })(x));
  append(compiled([](auto a, auto b) { return softmax(matmul(a, transpose(b))); })(x, w));
  return all;
}
inline void functions() {
  const std::vector<double> here = function_numbers(Cpu{0});
  const std::vector<double> there = function_numbers(D{0});
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-12, 1e-13);
}
const Case functions_case{"lambdas and local functions are compiled and differentiated for a GPU", &functions};

/// Losses, then weights, of a model that is local to this function.
template <class Device> std::vector<double> trained(Device device) {
  struct Local {
    static constexpr auto forward(Input<Dim<"batch">, 5> x) {
      const auto hidden = layer_norm(gelu(nn::linear(x, 9, "hidden")));
      return nn::linear(hidden, 3, "output");
    }
  };
  manual_seed_all(4);
  nn::Network<Local, Device, double> model{device};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  std::vector<double> numbers{};
  for (std::uint64_t i = 0; i < 6; ++i)
    numbers.push_back(step(random_rows<double, 5>(device, 13, i), random_labels(device, 13, 3, i)).item());
  for (double weight : weights_of(model)) numbers.push_back(weight);
  return numbers;
}
inline void local_model() {
  const auto there = trained(D{0});
  const auto here = trained(Cpu{0});
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < here.size(); ++i) require_close(there[i], here[i], 1e-9, 1e-11);
  require_equal(trained(D{0}), there);
}
const Case local_case{"a model local to a function trains on a GPU as on the host, and repeats bit for bit",
                      &local_model};

inline void narrow_floats() {
  struct Line {
    static constexpr auto forward(Input<Dim<"batch">, 5> x) { return nn::linear(x, 3, "line"); }
  };
  nn::Network<Line, D, half> model{D{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.5}});
  const auto x = random_rows<half, 5>(D{0}, 32);
  const auto label = random_labels(D{0}, 32, 3);
  const float first = float{step(x, label).item()};
  float last = first;
  for (int i = 0; i < 10; ++i) last = float{step(x, label).item()};
  require(first > 0.5F && first < 3 && last < first);
}
const Case narrow_case{"a model of half precision trains on a GPU", &narrow_floats};

inline void moves_between_kinds() {
  nn::Network<Classifier, Cpu> here{Cpu{0}};
  const auto x = random_rows<float, 5>(Cpu{0}, 6);
  auto there = here.to(D{0});
  const auto expected = to_vector(here.infer(x));
  const auto got = to_vector(there.infer(x.to(D{0})));
  for (std::size_t i = 0; i < expected.size(); ++i) require_close(got[i], expected[i], 1e-5, 1e-6);
  require_equal(weights_of(there.to(Cpu{0})), weights_of(here));
}
const Case moves_case{"a network moves to a GPU and back", &moves_between_kinds};

inline void an_operation_that_waits() {
  nn::Network<WaitingClassifier, D> model{D{0}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.1}});
  const auto x = random_rows<float, 5>(D{0}, 8);
  const auto label = random_labels(D{0}, 8, 3);
  float last = step(x, label).item();
  for (int i = 0; i < 4; ++i) {
    const float loss = step(x, label).item();
    require(loss < last);
    last = loss;
  }
  require_equal(step.capture_report().plain_runs, std::int64_t{5});
  require(step.capture_report().reason.find("waiting") != std::string::npos);
}
const Case waiting_case{"an operation that no graph can hold runs launch by launch, and the report names it",
                        &an_operation_that_waits};

}} // namespace twill::test::models_suite
