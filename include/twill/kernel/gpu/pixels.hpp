#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pixel of an element of channels-last images: kernels that take one thread for each element split its number without
// divisions. Read next: kernel/gpu/pooling.hpp, kernel/gpu/interpolation.hpp.

#include <twill/kernel/gpu/divisor.hpp>

#include <array>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The elements of (batch, height, width, channels).
class Pixels {
public:
  struct Index {
    std::int64_t image = 0;
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::int64_t channel = 0;
  };

  constexpr Pixels() = default;
  /// requires: elements
  constexpr Pixels(std::int64_t batch, const std::array<std::int64_t, 2>& extents, std::int64_t channels)
      : elements_{batch * extents[0] * extents[1] * channels},
        rows_(extents[0], elements_),
        columns_(extents[1], elements_),
        channels_(channels, elements_) {}

  [[nodiscard]] constexpr std::int64_t elements() const { return elements_; }
  [[nodiscard]] constexpr Index operator()(std::int64_t number) const {
    const IndexDivisor::Parts pixel = channels_.parts(number);
    const IndexDivisor::Parts row = columns_.parts(pixel.quotient);
    const IndexDivisor::Parts image = rows_.parts(row.quotient);
    return {image.quotient, image.rest, row.rest, pixel.rest};
  }

private:
  std::int64_t elements_ = 0;
  IndexDivisor rows_{};
  IndexDivisor columns_{};
  IndexDivisor channels_{};
};

}}}} // namespace twill::v0::kernel::gpu
