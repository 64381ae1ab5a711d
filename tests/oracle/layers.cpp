// SPDX-License-Identifier: Apache-2.0
//
// Layers with PyTorch's weights, which are the operands after the inputs, and their gradients by inputs and weights. The
// case's numbers are the layer's options in the order in which they are read here.

#include "tests/oracle/traced.hpp"

#include <twill/nn.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/ops.hpp>
#include <twill/ops/patches.hpp>

#include <cstdint>

namespace oracle {
namespace {

namespace nn = twill::nn;
namespace graph = twill::graph;
using graph::Sides;
using X = std::span<const Value>;
using N = const Numbers64&;

std::int64_t whole(N n, std::size_t i) { return static_cast<std::int64_t>(n[i]); }

/// A result, and its gradients by the inputs and by all weights that learn.
TracedValues by_all(Value y, X inputs) {
  TracedValues by(inputs.begin(), inputs.end());
  for (const auto& parameter : y.graph().parameters)
    if (parameter.role == graph::Role::weight) by.push_back({y.graph(), parameter.node});
  return with_gradients(y, by);
}

nn::ConvolutionLayerOptions convolution(N n) { // filters, kernel, stride, padding, dilation, groups, padding mode
  return {.kernel = whole(n, 1),
          .stride = whole(n, 2),
          .padding = whole(n, 3),
          .dilation = whole(n, 4),
          .groups = whole(n, 5),
          .padding_mode = static_cast<nn::PaddingMode>(whole(n, 6))};
}
nn::TransposedConvolutionLayerOptions transposed(N n) { // filters, kernel, stride, padding, output padding, groups
  return {.kernel = whole(n, 1),
          .stride = whole(n, 2),
          .padding = whole(n, 3),
          .output_padding = whole(n, 4),
          .groups = whole(n, 5)};
}

void add_weighed(Registry& to) {
  traced<Kinds::floating>(to, "layers.linear", "TTT",
                          [](X x, N n) { return by_all(nn::linear(x[0], whole(n, 0), "layer"), x); });
  traced<Kinds::floating>(to, "layers.linear_without_bias", "TT",
                          [](X x, N n) { return by_all(nn::linear(x[0], whole(n, 0), "layer", nn::Bias::no), x); });
  traced<Kinds::floating>(to, "layers.conv1d", "TTT",
                          [](X x, N n) { return by_all(nn::conv1d(x[0], whole(n, 0), "layer", convolution(n)), x); });
  traced<Kinds::floating>(to, "layers.conv2d", "TTT",
                          [](X x, N n) { return by_all(nn::conv2d(x[0], whole(n, 0), "layer", convolution(n)), x); });
  traced<Kinds::floating>(to, "layers.conv_transpose1d", "TTT", [](X x, N n) {
    return by_all(nn::conv_transpose1d(x[0], whole(n, 0), "layer", transposed(n)), x);
  });
  traced<Kinds::floating>(to, "layers.conv_transpose2d", "TTT", [](X x, N n) {
    return by_all(nn::conv_transpose2d(x[0], whole(n, 0), "layer", transposed(n)), x);
  });
}

void add_norms(Registry& to) {
  traced<Kinds::floating>(to, "layers.layer_norm", "TFF", [](X x, N n) {
    return by_all(nn::layer_norm(x[0], "layer", {.epsilon = n[0], .axes = static_cast<int>(n[1])}), x);
  });
  traced<Kinds::floating>(to, "layers.rms_norm", "TF",
                          [](X x, N n) { return by_all(nn::rms_norm(x[0], "layer", {.epsilon = n[0]}), x); });
  traced<Kinds::floating>(to, "layers.group_norm", "TFF", [](X x, N n) {
    return by_all(nn::group_norm(x[0], whole(n, 1), "layer", {.epsilon = n[0]}), x);
  });
  traced<Kinds::floating>(to, "layers.instance_norm", "TFF", [](X x, N n) {
    return by_all(nn::instance_norm(x[0], "layer", {.epsilon = n[0], .is_affine = true}), x);
  });
  traced(to, "layers.batch_norm", "TTTTTi", [](X x, N n) {
    x[0].graph().training = true;
    return by_all(nn::batch_norm(x[0], "layer", {.epsilon = n[0], .momentum = n[1]}), x);
  });
  traced(to, "layers.batch_norm_evaluated", "TTTTTi", [](X x, N n) {
    x[0].graph().training = false;
    return by_all(nn::batch_norm(x[0], "layer", {.epsilon = n[0], .momentum = n[1]}), x);
  });
  traced<Kinds::floating>(to, "layers.local_response_norm", "T", [](X x, N n) {
    return by_all(graph::local_response_norm(x[0], whole(n, 0), {.alpha = n[1], .beta = n[2], .k = n[3]}), x);
  });
  traced<Kinds::floating>(to, "layers.normalize", "T",
                          [](X x, N n) { return by_all(graph::normalize(x[0], n[0], static_cast<int>(n[1])), x); });
  traced<Kinds::floating>(to, "layers.cosine_similarity", "TT", [](X x, N n) {
    return by_all(graph::cosine_similarity(x[0], x[1], static_cast<int>(n[0])), x);
  });
}

void add_tables(Registry& to) {
  traced<Kinds::floating>(to, "layers.embedding", "iT",
                          [](X x, N n) { return by_all(nn::embedding(x[0], whole(n, 0), whole(n, 1), "layer"), {}); });
  traced<Kinds::floating>(to, "layers.embedding_bag", "iT", [](X x, N n) {
    return by_all(nn::embedding_bag(x[0], whole(n, 0), whole(n, 1), "layer",
                                    {.mode = static_cast<nn::BagMode>(whole(n, 2)), .padding = whole(n, 3)}),
                  {});
  });
}

nn::RecurrentOptions stacked(N n) {
  return {.layers = static_cast<int>(n[1]), .is_bidirectional = n[2] != 0, .batch_first = n[3] != 0};
}
TracedValues of_recurrent(const nn::Recurrent& r, X x) {
  TracedValues results = by_all(r.output, x);
  results.push_back(r.hidden);
  return results;
}

void add_sequences(Registry& to) {
  // A layer, and two layers of two directions: a set of weights for each.
  const auto both = [&to](const std::string& name, auto f) {
    traced(to, name, "TTTTT", f);
    traced(to, name, "TTTTTTTTTTTTTTTTT", f);
  };
  both("layers.rnn", [](X x, N n) { return of_recurrent(nn::rnn(x[0], whole(n, 0), "layer", stacked(n)), x); });
  both("layers.lstm", [](X x, N n) { return of_recurrent(nn::lstm(x[0], whole(n, 0), "layer", stacked(n)), x); });
  both("layers.gru", [](X x, N n) { return of_recurrent(nn::gru(x[0], whole(n, 0), "layer", stacked(n)), x); });
  traced(to, "layers.lstm_cell", "TTTTTTT", [](X x, N) {
    const auto state = nn::lstm_cell(x[0], {x[1], x[2]}, "layer");
    TracedValues results = by_all(state.hidden, x.first(3));
    results.push_back(state.cell);
    return results;
  });
  traced(to, "layers.gru_cell", "TTTTTT", [](X x, N) { return by_all(nn::gru_cell(x[0], x[1], "layer"), x); });
  traced(to, "layers.attention", "TTT", [](X x, N n) {
    return by_all(nn::scaled_dot_product_attention(x[0], x[1], x[2], {.is_causal = n[0] != 0, .scale = n[1]}), x);
  });
  traced(to, "layers.attention_masked", "TTTb",
         [](X x, N) { return by_all(nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}), x.first(3)); });
  traced(to, "layers.multi_head_attention", "TTTTTTT",
         [](X x, N n) { return by_all(nn::multi_head_attention(x[0], x[1], x[2], whole(n, 0), "layer"), x.first(3)); });
  traced(to, "layers.transformer_encoder_layer", "TTTTTTTTTTTTT", [](X x, N n) {
    return by_all(nn::transformer_encoder_layer(x[0], whole(n, 0), "layer",
                                                {.feed_forward = whole(n, 1),
                                                 .dropout = 0,
                                                 .function = static_cast<nn::FeedForwardFunction>(whole(n, 2)),
                                                 .norm_first = n[3] != 0,
                                                 .is_causal = n[4] != 0}),
                  x);
  });
}

graph::CeilMode ceil(double number) { return number != 0 ? graph::CeilMode::yes : graph::CeilMode::no; }
graph::MaxPoolOptions greatest(N n) {
  return {.window = whole(n, 0), .stride = whole(n, 1), .padding = whole(n, 2), .ceil = ceil(n[3])};
}
graph::AveragePoolOptions average(N n) {
  return {.window = whole(n, 0),
          .stride = whole(n, 1),
          .padding = whole(n, 2),
          .ceil = ceil(n[3]),
          .count_padding = n[4] != 0 ? graph::CountPadding::yes : graph::CountPadding::no};
}

void add_images(Registry& to) {
  traced<Kinds::floating>(to, "layers.max_pool1d", "T",
                          [](X x, N n) { return by_all(graph::max_pool1d(x[0], greatest(n)), x); });
  traced<Kinds::floating>(to, "layers.max_pool2d", "T",
                          [](X x, N n) { return by_all(graph::max_pool2d(x[0], greatest(n)), x); });
  traced<Kinds::floating>(to, "layers.avg_pool1d", "T",
                          [](X x, N n) { return by_all(graph::avg_pool1d(x[0], average(n)), x); });
  traced<Kinds::floating>(to, "layers.avg_pool2d", "T",
                          [](X x, N n) { return by_all(graph::avg_pool2d(x[0], average(n)), x); });
  traced<Kinds::floating>(to, "layers.adaptive_avg_pool2d", "T", [](X x, N n) {
    return by_all(graph::adaptive_avg_pool2d(x[0], Sides{whole(n, 0), whole(n, 1)}), x);
  });
  traced<Kinds::floating>(to, "layers.adaptive_max_pool2d", "T", [](X x, N n) {
    return by_all(graph::adaptive_max_pool2d(x[0], Sides{whole(n, 0), whole(n, 1)}), x);
  });
  traced<Kinds::floating>(to, "layers.interpolate_nearest", "T", [](X x, N n) {
    return by_all(graph::interpolate(x[0], {.size = Sides{whole(n, 0), whole(n, 1)}}), x);
  });
  traced<Kinds::floating>(to, "layers.interpolate_linear", "T", [](X x, N n) {
    return by_all(
        graph::interpolate(x[0], {.size = Sides{whole(n, 0), whole(n, 1)},
                                  .mode = graph::Interpolation::linear,
                                  .align_corners = n[2] != 0 ? graph::AlignCorners::yes : graph::AlignCorners::no}),
        x);
  });
  traced<Kinds::floating>(to, "layers.pixel_shuffle", "T",
                          [](X x, N n) { return by_all(graph::pixel_shuffle(x[0], whole(n, 0)), x); });
  traced<Kinds::floating>(to, "layers.unfold", "T", [](X x, N n) {
    return by_all(
        graph::unfold(x[0],
                      {.kernel = whole(n, 0), .stride = whole(n, 1), .padding = whole(n, 2), .dilation = whole(n, 3)}),
        x);
  });
}

void add_activations(Registry& to) {
  traced<Kinds::floating>(to, "layers.softmax", "T",
                          [](X x, N n) { return by_all(graph::softmax(x[0], static_cast<int>(n[0])), x); });
  traced<Kinds::floating>(to, "layers.log_softmax", "T",
                          [](X x, N n) { return by_all(graph::log_softmax(x[0], static_cast<int>(n[0])), x); });
  traced<Kinds::floating>(to, "layers.glu", "T",
                          [](X x, N n) { return by_all(graph::glu(x[0], static_cast<int>(n[0])), x); });
  traced<Kinds::floating>(to, "layers.prelu", "TT",
                          [](X x, N n) { return by_all(nn::prelu(x[0], "layer", {.parameters = whole(n, 0)}), x); });
  traced<Kinds::floating>(to, "layers.activations", "T", [](X given, N) {
    const Value x = given[0];
    TracedValues results;
    for (const Value y :
         {relu(x),       leaky_relu(x), sigmoid(x),    silu(x),     gelu(x),  gelu_tanh(x),   softplus(x),
          logsigmoid(x), mish(x),       hardswish(x),  hardtanh(x), relu6(x), hardsigmoid(x), softsign(x),
          tanhshrink(x), softshrink(x), hardshrink(x), elu(x, 1.0), selu(x),  celu(x, 0.5)}) {
      results.push_back(y);
      results.push_back(graph::gradient(weighed_sum(y), x));
    }
    return results;
  });
}

} // namespace

void add_layers(Registry& to) {
  add_weighed(to);
  add_norms(to);
  add_tables(to);
  add_sequences(to);
  add_images(to);
  add_activations(to);
}

} // namespace oracle
