// SPDX-License-Identifier: Apache-2.0
//
// Losses and their gradients by the prediction beside torch.nn.functional's. The case's first number is the reduction: 0 the
// mean, 1 the sum, 2 none; the others are the options in the order in which they are read here. Predictions of 16 bits have losses
// in float32 and gradients in their own type; of probabilities (`bce`) they are refused.

#include "tests/oracle/traced.hpp"

#include <twill/nn/activations.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/losses/ctc.hpp>
#include <twill/nn/losses/likelihood.hpp>
#include <twill/nn/losses/margin.hpp>

#include <cstdint>
#include <limits>

namespace oracle {
namespace {

namespace nn = twill::nn;
using nn::Reduce;
using X = std::span<const Value>;
using N = const Numbers64&;

Reduce reduce(N n) { return n[0] == 0 ? Reduce::mean : n[0] == 1 ? Reduce::sum : Reduce::none; }
TracedValues of_first(Value loss, X x) { return with_gradients(loss, x.first(1)); }
TracedValues of_two(Value loss, X x) { return with_gradients(loss, x.first(2)); }

void add_classification(Registry& to) {
  traced<Kinds::floating>(to, "losses.cross_entropy", "Ti", [](X x, N n) {
    return of_first(
        nn::cross_entropy(x[0], x[1], {.label_smoothing = n[1], .axis = static_cast<int>(n[2]), .reduce = reduce(n)}),
        x);
  });
  traced<Kinds::floating>(to, "losses.cross_entropy_weighted", "TiT", [](X x, N n) {
    return of_first(nn::cross_entropy(
                        x[0], x[1], {.label_smoothing = n[1], .ignore_index = 1, .weight = x[2], .reduce = reduce(n)}),
                    x);
  });
  traced<Kinds::floating>(to, "losses.cross_entropy_probabilities", "TT", [](X x, N n) {
    return of_two(nn::cross_entropy(x[0], x[1], {.label_smoothing = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.nll", "TiT", [](X x, N n) {
    return of_first(
        nn::nll(x[0], x[1], {.ignore_index = static_cast<std::int64_t>(n[1]), .weight = x[2], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.bce_with_logits", "TTT", [](X x, N n) {
    return of_two(nn::bce_with_logits(x[0], x[1], {.pos_weight = n[1], .weight = x[2], .reduce = reduce(n)}), x);
  });
  traced(to, "losses.bce", "TT",
         [](X x, N n) { return of_two(nn::bce(x[0], x[1], {.weight = n[1], .reduce = reduce(n)}), x); });
  traced<Kinds::floating>(to, "losses.kl_divergence", "TT", [](X x, N n) {
    const auto how = n[0] == 0   ? nn::KlReduce::mean
                     : n[0] == 1 ? nn::KlReduce::sum
                     : n[0] == 2 ? nn::KlReduce::none
                                 : nn::KlReduce::batch_mean;
    return of_two(nn::kl_divergence(x[0], x[1], {.log_target = n[1] != 0, .reduce = how}), x);
  });
  traced<Kinds::floating>(to, "losses.focal", "TT", [](X x, N n) {
    return of_first(nn::focal(x[0], x[1], {.alpha = n[1], .gamma = n[2], .reduce = reduce(n)}), x);
  });
}

void add_regression(Registry& to) {
  traced<Kinds::floating>(to, "losses.mse", "TT",
                          [](X x, N n) { return of_two(nn::mse(x[0], x[1], {.reduce = reduce(n)}), x); });
  traced<Kinds::floating>(to, "losses.l1", "TT",
                          [](X x, N n) { return of_two(nn::l1(x[0], x[1], {.reduce = reduce(n)}), x); });
  traced<Kinds::floating>(to, "losses.huber", "TT", [](X x, N n) {
    return of_two(nn::huber(x[0], x[1], {.delta = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.smooth_l1", "TT", [](X x, N n) {
    return of_two(nn::smooth_l1(x[0], x[1], {.beta = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.poisson_nll", "TT", [](X x, N n) {
    return of_first(nn::poisson_nll(x[0], x[1], {.log_input = n[1] != 0, .is_full = n[2] != 0, .reduce = reduce(n)}),
                    x);
  });
  traced<Kinds::floating>(to, "losses.gaussian_nll", "TTT", [](X x, N n) {
    return with_gradients(nn::gaussian_nll(x[0], x[1], x[2], {.is_full = n[1] != 0, .reduce = reduce(n)}), x);
  });
}

void add_margins(Registry& to) {
  traced<Kinds::floating>(to, "losses.hinge_embedding", "TT", [](X x, N n) {
    return of_first(nn::hinge_embedding(x[0], x[1], {.margin = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.margin_ranking", "TTT", [](X x, N n) {
    return of_two(nn::margin_ranking(x[0], x[1], x[2], {.margin = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.cosine_embedding", "TTT", [](X x, N n) {
    return of_two(nn::cosine_embedding(x[0], x[1], x[2], {.margin = n[1], .reduce = reduce(n)}), x);
  });
  traced<Kinds::floating>(to, "losses.triplet_margin", "TTT", [](X x, N n) {
    return with_gradients(
        nn::triplet_margin(x[0], x[1], x[2], {.margin = n[1], .order = n[2], .swap = n[3] != 0, .reduce = reduce(n)}),
        x);
  });
  traced<Kinds::floating>(to, "losses.multi_margin", "TiT", [](X x, N n) {
    return of_first(
        nn::multi_margin(x[0], x[1],
                         {.margin = n[1], .power = static_cast<int>(n[2]), .weight = x[2], .reduce = reduce(n)}),
        x);
  });
  traced<Kinds::floating>(to, "losses.soft_margin", "TT",
                          [](X x, N n) { return of_first(nn::soft_margin(x[0], x[1], {.reduce = reduce(n)}), x); });
  traced<Kinds::floating>(to, "losses.multilabel_soft_margin", "TTT", [](X x, N n) {
    return of_first(nn::multilabel_soft_margin(x[0], x[1], {.weight = x[2], .reduce = reduce(n)}), x);
  });
}

} // namespace

void add_losses(Registry& to) {
  add_classification(to);
  add_regression(to);
  add_margins(to);
  traced(to, "losses.ctc", "Tiii", [](X x, N n) {
    const Value log_probabilities = twill::graph::log_softmax(x[0]); // PyTorch's gradient is right only after one
    return of_first(nn::ctc_loss(log_probabilities, x[1], x[2], x[3],
                                 {.blank = 0, .reduce = reduce(n), .zero_infinity = n[1] != 0}),
                    x);
  });
}

} // namespace oracle
