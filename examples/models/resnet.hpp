#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// ResNet (He et al., 2015) in the form of torchvision: the same layers in the same order, with the same names of weights, so
// that its state dictionaries can be loaded. Side by side with torchvision/models/resnet.py: `basic_block` and `bottleneck`
// are the classes of those names, `layer` is `_make_layer`, `ResNet` is the class.

#include <twill/nn/activations.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/stage_boundary.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace models {

using twill::graph::Value;

/// A convolution without a bias, of the same extent at stride 1. Weights start as normal numbers by the number of outputs.
constexpr Value convolution(Value x, std::int64_t filters, std::int64_t kernel, std::int64_t stride,
                            std::string_view name) {
  return twill::nn::conv2d(
      x, filters, name,
      {.kernel = kernel,
       .stride = stride,
       .padding = kernel / 2,
       .weight = twill::nn::initialise::kaiming_normal({.fan = twill::graph::Initialiser::Fan::out}),
       .bias = false});
}

/// What the block adds to: its input, or where shapes differ a projection of it.
constexpr Value shortcut(Value x, std::int64_t channels, std::int64_t stride) {
  if (stride == 1 && x.size(1) == channels) return x;
  const twill::nn::Scope scope{x.graph(), "downsample"};
  return twill::nn::batch_norm(convolution(x, channels, 1, stride, "0"), "1");
}

constexpr Value basic_block(Value x, std::int64_t channels, std::int64_t stride) {
  Value y = relu(twill::nn::batch_norm(convolution(x, channels, 3, stride, "conv1"), "bn1"));
  y = twill::nn::batch_norm(convolution(y, channels, 3, 1, "conv2"), "bn2");
  return relu(y + shortcut(x, channels, stride));
}

constexpr Value bottleneck(Value x, std::int64_t channels, std::int64_t stride) {
  Value y = relu(twill::nn::batch_norm(convolution(x, channels, 1, 1, "conv1"), "bn1"));
  y = relu(twill::nn::batch_norm(convolution(y, channels, 3, stride, "conv2"), "bn2"));
  y = twill::nn::batch_norm(convolution(y, 4 * channels, 1, 1, "conv3"), "bn3");
  return relu(y + shortcut(x, 4 * channels, stride));
}

template <class Block>
constexpr Value layer(Value x, const Block& block, std::int64_t blocks, std::int64_t channels, std::int64_t stride,
                      std::string_view name) {
  const twill::nn::Scope scope{x.graph(), name};
  for (std::int64_t i = 0; i < blocks; ++i) {
    const twill::nn::Scope number{x.graph(), "", i};
    x = block(x, channels, i == 0 ? stride : 1);
  }
  return x;
}

/// Logits (batch, classes) of images (batch, 3, height, width). The first group of blocks is `width` channels wide, each
/// other one twice as wide as the one before; a pipeline may be cut in the middle, behind the second group.
template <class Block>
constexpr Value resnet(Value x, const Block& block, const std::array<std::int64_t, 4>& blocks, std::int64_t classes,
                       std::int64_t width = 64) {
  x = relu(twill::nn::batch_norm(convolution(x, width, 7, 2, "conv1"), "bn1"));
  x = twill::nn::max_pool2d(x, {.window = 3, .stride = 2, .padding = 1});
  x = layer(x, block, blocks[0], width, 1, "layer1");
  x = layer(x, block, blocks[1], 2 * width, 2, "layer2");
  x = twill::nn::stage_boundary(x);
  x = layer(x, block, blocks[2], 4 * width, 2, "layer3");
  x = layer(x, block, blocks[3], 8 * width, 2, "layer4");
  return twill::nn::linear(flatten(twill::nn::adaptive_avg_pool2d(x, 1)), classes, "fc");
}

/// 11,689,512 parameters for 1000 classes.
template <std::int64_t Extent = 224, std::int64_t Classes = 1000> struct ResNet18 {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 3, Extent, Extent> image) {
    return resnet(
        image, [](Value x, auto channels, auto stride) { return basic_block(x, channels, stride); }, {2, 2, 2, 2},
        Classes);
  }
};

/// 25,557,032 parameters for 1000 classes.
template <std::int64_t Extent = 224, std::int64_t Classes = 1000> struct ResNet50 {
  static constexpr auto forward(twill::Input<twill::Dim<"batch">, 3, Extent, Extent> image) {
    return resnet(
        image, [](Value x, auto channels, auto stride) { return bottleneck(x, channels, stride); }, {3, 4, 6, 3},
        Classes);
  }
};

} // namespace models
