// SPDX-License-Identifier: Apache-2.0
//
// Corners to align where every pixel is the nearest one.
//
// expect: interpolation_aligns_corners_only_if_linear

#include <twill/compile/function.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/tensor/create.hpp>

using namespace twill;

int main() {
#ifdef MISUSE
  static constexpr auto mode = graph::Interpolation::nearest;
#else
  static constexpr auto mode = graph::Interpolation::linear;
#endif
  const auto larger = [](auto x) {
    return interpolate(x, {.size = 4, .mode = mode, .align_corners = graph::AlignCorners::yes});
  };
  return compiled(larger)(ones<float, Shape<1, 1, 2, 2>>()).shape() == Dims(1, 1, 4, 4) ? 0 : 1;
}
