#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The operands of the benchmarked convolutions, square and with as many channels behind as before, channels-last as twill and
// with weights as PyTorch order them; and their results at many places as sums in double. Read next: ops/convolution.bench.cpp.

#include "bench/support/check.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace bench {

constexpr std::int64_t images = 8;

/// Channels, height and width of a picture, and of the kernel, which leaves the picture's size as it is.
struct ConvolutionSize {
  std::int64_t channels;
  std::int64_t extent;
  std::int64_t kernel;

  [[nodiscard]] constexpr std::int64_t padding() const { return kernel / 2; }
  [[nodiscard]] constexpr std::int64_t elements() const { return images * extent * extent * channels; }
  [[nodiscard]] constexpr std::int64_t weights() const { return channels * channels * kernel * kernel; }
  [[nodiscard]] std::string name() const {
    return std::to_string(channels) + "x" + std::to_string(extent) + "k" + std::to_string(kernel);
  }
};

/// Input, weights and output of a convolution, and their gradients.
struct ConvolutionData {
  explicit ConvolutionData(const ConvolutionSize& of)
      : size{of},
        x{of.elements()},
        dx{of.elements()},
        y{of.elements()},
        dy{of.elements(), 3},
        w{of.weights(), 1},
        dw{of.weights()} {}

  /// Ends the program unless the results are right.
  void check(bool with_gradients, const char* who) {
    constexpr std::int64_t places = 997;
    const auto tolerance = [](double terms) { return 1e-6F * static_cast<float>(terms); };
    const double taps = static_cast<double>(size.channels * size.kernel * size.kernel);
    for (std::int64_t place = 0; place < size.elements();
         place += std::max<std::int64_t>(1, size.elements() / places)) {
      require(y[place], output(place), tolerance(taps), who);
      if (with_gradients) require(dx[place], input_gradient(place), tolerance(taps), who);
    }
    constexpr std::int64_t weights_checked = 97;
    for (std::int64_t place = 0; with_gradients && place < size.weights(); place += size.weights() / weights_checked)
      require(dw[place], weight_gradient(place), tolerance(static_cast<double>(images * size.extent * size.extent)),
              who);
  }

  ConvolutionSize size;
  Array x, dx, y, dy, w, dw;

private:
  static void require(float found, double expected, float tolerance, const char* who) {
    const auto rounded = static_cast<float>(expected);
    require_close(&found, &rounded, 1, tolerance, who);
  }
  double pixel(Array& of, std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t channel) {
    if (row < 0 || row >= size.extent || column < 0 || column >= size.extent) return 0;
    return static_cast<double>(of[((image * size.extent + row) * size.extent + column) * size.channels + channel]);
  }
  double weight(std::int64_t filter, std::int64_t channel, std::int64_t row, std::int64_t column) {
    return static_cast<double>(w[((filter * size.channels + channel) * size.kernel + row) * size.kernel + column]);
  }
  struct Place {
    std::int64_t image, row, column, channel;
  };
  [[nodiscard]] Place place_of(std::int64_t index) const {
    const std::int64_t pixel = index / size.channels;
    return {pixel / (size.extent * size.extent), pixel / size.extent % size.extent, pixel % size.extent,
            index % size.channels};
  }

  double output(std::int64_t index) {
    const Place at = place_of(index);
    double sum = 0;
    for (std::int64_t r = 0; r < size.kernel; ++r)
      for (std::int64_t s = 0; s < size.kernel; ++s)
        for (std::int64_t c = 0; c < size.channels; ++c)
          sum += pixel(x, at.image, at.row + r - size.padding(), at.column + s - size.padding(), c) *
                 weight(at.channel, c, r, s);
    return sum;
  }
  double input_gradient(std::int64_t index) {
    const Place at = place_of(index);
    double sum = 0;
    for (std::int64_t r = 0; r < size.kernel; ++r)
      for (std::int64_t s = 0; s < size.kernel; ++s)
        for (std::int64_t k = 0; k < size.channels; ++k)
          sum += pixel(dy, at.image, at.row - r + size.padding(), at.column - s + size.padding(), k) *
                 weight(k, at.channel, r, s);
    return sum;
  }
  double weight_gradient(std::int64_t index) {
    const std::int64_t s = index % size.kernel, r = index / size.kernel % size.kernel;
    const std::int64_t c = index / (size.kernel * size.kernel) % size.channels;
    const std::int64_t k = index / (size.kernel * size.kernel * size.channels);
    double sum = 0;
    for (std::int64_t image = 0; image < images; ++image)
      for (std::int64_t row = 0; row < size.extent; ++row)
        for (std::int64_t column = 0; column < size.extent; ++column)
          sum += pixel(x, image, row + r - size.padding(), column + s - size.padding(), c) *
                 pixel(dy, image, row, column, k);
    return sum;
  }
};

} // namespace bench
