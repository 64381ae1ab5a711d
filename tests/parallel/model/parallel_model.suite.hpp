#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A model on a mesh against one network that sees all rows, as functions that all ranks of any communicator call: the stages
// share a divided weight, drop elements, clip over everything and keep momentum.

#include <twill/nn/dropout.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/optim/clip.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/chunk.hpp>
#include <twill/parallel/model/parallel_model.hpp>
#include <twill/parallel/model/state.hpp>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace twill::test {

/// Two stages, and layers for N ranks along "tensor". Both stages use the divided weight `shared`.
template <int N> struct Meshed {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr graph::Value forward(Input<Dim<"batch">, 6> x) {
    const graph::Value shared =
        nn::sharded_parameter<Ranks>(x.graph(), "shared", {8, 6}, nn::initialise::fan_in_uniform(6));
    graph::Value y = nn::row_linear<Ranks>(tanh(nn::linear(graph::copy_to<Ranks>(x), shared)), 6, "first");
    y = nn::stage_boundary(nn::dropout(tanh(y), 0.25, "early"));
    y = nn::row_linear<Ranks>(tanh(nn::linear(graph::copy_to<Ranks>(y), shared)), 6, "second");
    return nn::linear(nn::dropout(y, 0.25, "late"), 3, "head");
  }
};

/// Some steps of one network, and what they read and left.
struct WholeRun {
  RandomDraw draw{}; ///< of the weights
  Tensor<double, Cpu, Shape<dyn, 6>> x{};
  Tensor<std::int64_t, Cpu, Shape<dyn>> labels{};
  std::vector<double> losses{};
  std::vector<double> norms{};
  nn::StateDict state{};
  Tensor<double, Cpu, Shape<dyn, 3>> result{}; ///< of all rows, at the end
};

inline const auto meshed_rule = optim::clip_norm(optim::MomentumSgd{{.rate = 0.1, .momentum = 0.9}}, 0.3);

inline void require_of_mesh(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

/// The reference: deterministic in its seed, so that processes agree on it.
inline WholeRun train_one_network(std::uint64_t seed, std::int64_t rows, int steps) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> uniform{-1, 1};
  WholeRun run{};
  run.x = Tensor<double, Cpu, Shape<dyn, 6>>(Cpu{0}, Dims(rows, 6));
  run.labels = Tensor<std::int64_t, Cpu, Shape<dyn>>(Cpu{0}, Dims(rows));
  for (std::int64_t i = 0; i < rows * 6; ++i) run.x.data()[i] = uniform(random);
  for (std::int64_t i = 0; i < rows; ++i) run.labels.data()[i] = static_cast<std::int64_t>(random() % 3);
  manual_seed(Cpu{0}, seed);
  run.draw = generator(Cpu{0}).next();
  manual_seed(Cpu{0}, seed);
  nn::Network<Meshed<1>, Cpu, double> whole{Cpu{0}};
  training::Optimiser optimiser{whole, meshed_rule};
  for (int i = 0; i < steps; ++i) {
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(run.x), run.labels);
    run.losses.push_back(loss.item());
    loss.backward();
    optimiser.step();
    run.norms.push_back(optimiser.state(optim::gradient_norm_state));
  }
  run.state = nn::state_dict(whole);
  run.result = whole.infer(run.x);
  return run;
}

inline void require_close(double found, double wanted, const std::string& what) {
  require_of_mesh(std::fabs(found - wanted) <= 1e-12 * std::fmax(1.0, std::fabs(wanted)),
                  what + ": " + std::to_string(found) + ", wanted " + std::to_string(wanted));
}

/// Every element of a state of float64 within 1e-12.
inline void require_close(const nn::StateDict& found, const nn::StateDict& wanted) {
  require_of_mesh(found.size() == wanted.size(), "a state has another number of entries");
  for (const auto& [name, tensor] : wanted.entries()) {
    const nn::StoredTensor* const own = found.find(name);
    require_of_mesh(own != nullptr && own->shape == tensor.shape, "'" + name + "' is missing or has another shape");
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i)
      require_close(reinterpret_cast<const double*>(own->bytes.data())[i],
                    reinterpret_cast<const double*>(tensor.bytes.data())[i], name);
  }
}

/// The rows of a replica: the first ones have one more where they do not divide.
inline parallel::Rows rows_of_replica(std::int64_t rows, int replica, int replicas) {
  return parallel::chunk_rows(rows, replicas)[static_cast<std::size_t>(replica)];
}

/// Trains on the mesh M beside the reference; N ranks share the layers.
template <class M, pipeline::ScheduleKind S, int N, parallel::Communicator C>
void check_on_mesh(C& world, const WholeRun& whole, pipeline::StepOptions options,
                   pipeline::ReplicaOptions replicas = {}) {
  using D = typename C::Device;
  ParallelModel<M, S, C, Meshed<N>, double> model{world, whole.draw, replicas};
  parallel::Rows own{0, whole.x.shape()[0]};
  if constexpr (M::template has<"data">)
    own = rows_of_replica(own.count, model.groups().template coordinate<"data">(),
                          model.groups().mesh().template size<"data">());
  const D device(world.device());
  const auto x = parallel::rows_of<0>(whole.x, own).to(device);
  const auto labels = parallel::rows_of<0>(whole.labels, own).to(device);
  auto step = train_step(model, nn::cross_entropy, meshed_rule, options);
  require_of_mesh(decltype(step)::template takes<decltype(x), decltype(labels)>, "a step refuses its own batch");
  for (std::size_t i = 0; i < whole.losses.size(); ++i) {
    require_close(step(x, labels), whole.losses[i], "the loss of a step");
    require_close(step.gradient_norm(), whole.norms[i], "the norm of a step");
  }
  const nn::StateDict state = state_dict(model);
  require_close(state, whole.state);
  load_state_dict(model, state);
  require_close(state_dict(model), state);
  auto infer = pipeline::inference(model, {.micro_batches = 2, .is_result_everywhere = true});
  const auto result = infer(whole.x.to(device)).to(Cpu{0});
  for (std::int64_t i = 0; i < whole.result.elements(); ++i)
    require_close(result.data()[i], whole.result.data()[i], "a result outside of training");
}

/// A mesh of eight ranks with all three axes.
using Cube = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>, parallel::Axis<"tensor", 2>>;

/// The whole of it on the first eight ranks of a group.
template <parallel::Communicator C> void check_cube(C& world) {
  check_on_mesh<Cube, pipeline::ZeroBubbleH1, 2>(world, train_one_network(7, 11, 3), {.micro_batches = 3});
}

} // namespace twill::test
