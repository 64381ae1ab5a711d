#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Models with experts on one device and on several ranks, whose tokens are on every rank or divided by groups, and the
// numbers of a few steps, for ranks that are threads and for those that are processes.

#include <twill/nn.hpp>
#include <twill/nn/expert_parallel.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/group/rank_group.hpp>
#include <twill/training.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace twill::test {

inline constexpr std::int64_t expert_groups = 4, group_tokens = 6, token_width = 4;

/// Two choices a token, of which some are dropped.
inline constexpr nn::MixtureOptions crowded{.top_k = 2, .capacity_factor = 0.75, .router_z_weight = 0.001};

/// A residual block with experts on one device.
struct WholeExperts {
  static constexpr auto forward(Input<Dim<"batch">, group_tokens, token_width> x) {
    const auto normed = nn::layer_norm(x, "norm");
    return nn::linear(x + nn::mixture_of_experts(normed, 4, 5, "moe", crowded), 3, "head");
  }
};

/// The block on N ranks, each of which has all tokens.
template <int N> struct SummedExperts {
  using Ranks = RankAxis<"expert", N>;
  static constexpr auto forward(Input<Dim<"batch">, group_tokens, token_width> x) {
    const auto normed = nn::layer_norm(x, "norm");
    const auto y = nn::sharded_mixture_of_experts<Ranks>(normed, 4, 5, "moe", {.mixture = crowded});
    return nn::linear(x + y, 3, "head");
  }
};

/// The block on N ranks, each of which has its part of the groups until the results are gathered.
template <int N> struct ExchangedExperts {
  using Ranks = RankAxis<"expert", N>;
  static constexpr auto forward(Input<expert_groups, group_tokens, token_width> x) {
    const nn::SplitRegion<Ranks> part{x.graph(), 0};
    const graph::Value own = graph::split_to<Ranks>(x, 0);
    const auto normed = nn::layer_norm(own, "norm");
    const nn::ShardedMixtureOptions options{.mixture = crowded, .split_axis = 0};
    const auto y = nn::sharded_mixture_of_experts<Ranks>(normed, 4, 5, "moe", options);
    return graph::gather_from<Ranks>(nn::linear(own + y, 3, "head"), 0);
  }
};

/// Two stages on N ranks each, whose auxiliary losses travel with the result.
template <int N> struct CarriedExperts {
  using Ranks = RankAxis<"expert", N>;
  static constexpr auto forward(Input<Dim<"batch">, group_tokens, token_width> x) {
    const auto normed = nn::layer_norm(x, "norm");
    const auto y = nn::sharded_mixture_of_experts<Ranks>(normed, 4, 5, "moe", {.mixture = crowded});
    return nn::carry_auxiliary_losses(nn::linear(nn::stage_boundary(x + y), 3, "head"));
  }
};

/// A batch of four groups.
struct Tokens {
  Tensor<double, Cpu, Shape<expert_groups, group_tokens, token_width>> x{};
  Tensor<double, Cpu, Shape<expert_groups, group_tokens, 3>> y{};

  explicit Tokens(const Cpu& device) : x(device, Dims(4, 6, 4)), y(device, Dims(4, 6, 3)) {
    for (std::int64_t i = 0; i < x.elements(); ++i) x.data()[i] = 2 * std::sin(static_cast<double>(7 * i % 97));
    for (std::int64_t i = 0; i < y.elements(); ++i) y.data()[i] = std::cos(static_cast<double>(i));
  }
};

/// Results before the steps, losses of three steps, and the weights, or this rank's parts of them, afterwards.
struct ExpertNumbers {
  std::vector<double> results{};
  std::vector<double> losses{};
  std::vector<std::vector<double>> weights{};
};

/// Steps of a network, or of what wraps it, on these tokens.
template <class Network, class Model, class X, class Y>
ExpertNumbers train_experts(Network& network, Model& model, const X& x, const Y& y) {
  ExpertNumbers found{};
  const auto results = network.infer(x);
  synchronize(network.device());
  found.results.assign(results.data(), results.data() + results.elements());
  auto step = train_step(model, nn::with_auxiliary_losses(nn::mse), optim::Sgd{{.rate = 0.5}});
  for (int i = 0; i < 3; ++i) found.losses.push_back(step(x, y).item());
  const nn::StateDict state = nn::state_dict(network);
  for (const auto& [name, tensor] : state.entries()) {
    found.weights.emplace_back(static_cast<std::size_t>(tensor.shape.elements()));
    std::memcpy(found.weights.back().data(), tensor.bytes.data(), tensor.bytes.size());
  }
  return found;
}

/// What one device finds.
inline ExpertNumbers train_whole_experts(const Cpu& device) {
  nn::Network<WholeExperts, Cpu, double> network{device, {}, RandomDraw{7, 0}};
  const Tokens tokens{device};
  return train_experts(network, network, tokens.x, tokens.y);
}

/// What this rank of a divided model M finds.
template <class M, class C> ExpertNumbers train_divided_experts(C& communicator) {
  kernel::RankGroups groups{};
  groups.add(parallel::rank_group<typename M::Ranks>(communicator));
  nn::Network<M, Cpu, double> network{communicator.device(), groups, RandomDraw{7, 0}};
  const Tokens tokens{communicator.device()};
  return train_experts(network, network, tokens.x, tokens.y);
}

/// The greatest difference of a rank's numbers from one device's, relative where those exceed 1. Weights of experts are
/// parts, cut along their first axis.
template <class M> double greatest_difference(const ExpertNumbers& own, const ExpertNumbers& one, int rank) {
  double greatest = own.losses.size() == one.losses.size() && own.weights.size() == one.weights.size() ? 0 : INFINITY;
  const auto compare = [&](const std::vector<double>& a, const std::vector<double>& b, std::size_t begin) {
    if (begin + a.size() > b.size()) greatest = INFINITY;
    for (std::size_t i = 0; i < a.size() && begin + i < b.size(); ++i)
      greatest = std::fmax(greatest, std::fabs(a[i] - b[begin + i]) / std::fmax(1, std::fabs(b[begin + i])));
  };
  compare(own.results, one.results, 0);
  compare(own.losses, one.losses, 0);
  const auto infos = nn::Network<M, Cpu, double>::parameter_infos();
  for (std::size_t i = 0; i < own.weights.size() && i < one.weights.size(); ++i)
    compare(own.weights[i], one.weights[i],
            infos[i].shard.is_part() ? own.weights[i].size() * static_cast<std::size_t>(rank) : 0);
  return greatest;
}

} // namespace twill::test
