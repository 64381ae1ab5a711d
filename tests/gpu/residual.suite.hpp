#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A known network on a GPU: a ResNet-18 with an eighth of its channels trains as on the host, from steps that are captured.

#include <examples/models/resnet.hpp>
#include <tests/gpu/trained_network.hpp>

#include <twill/kernel/gpu/convolution.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/pooling.hpp>
#include <twill/nn/losses.hpp>

#include <cstdint>

namespace twill::test { namespace residual_suite {

struct NarrowResNet18 {
  static constexpr auto forward(Input<Dim<"batch">, 3, 16, 16> image) {
    return models::resnet(
        image, [](auto x, auto channels, auto stride) { return models::basic_block(x, channels, stride); },
        {2, 2, 2, 2}, 10, 8);
  }
};

inline void resnet() {
  constexpr std::int64_t images = 4;
  const auto x =
      from_values<Shape<dyn, 3, 16, 16>>(random_values<double>(images * 3 * 16 * 16), Dims(images, 3, 16, 16), Cpu{0});
  const auto y = random_labels(Cpu{0}, images, 10, 3);
  require_trains_as_on_the_host<NarrowResNet18>(nn::cross_entropy, 0.001, x, y);
}
const Case resnet_case{"a ResNet-18 trains on a GPU as on the host, in captured steps", &resnet};

}} // namespace twill::test::residual_suite
