// SPDX-License-Identifier: Apache-2.0
//
// Transforms over the late kind of device, whose memory traps when anybody but its own stream touches it, and over the one
// that has no memory: the bits and extents of `Cpu`.

#include "tests/support/late_device.hpp"

#include <twill/expr.hpp>
#include <twill/fft.hpp>
#include <twill/tensor/random.hpp>

#include <catch2/catch.hpp>

#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

/// The results of several transforms of the same numbers, of short and of long lines.
template <class D> std::vector<float> transformed(const D& device) {
  manual_seed(Cpu{0}, 4);
  const auto x = randn<float, Shape<dyn, dyn>>(Dims(5, 101), Cpu{0}).to(device);
  const auto long_line = randn<float, Shape<dyn>>(Dims(1 << 20), Cpu{0}).to(device);
  std::vector<float> numbers;
  const auto add = [&](const auto& y) {
    for (const float value : to_vector(y)) numbers.push_back(value);
  };
  add(fft::irfft<0>(fft::fft(x), 12));
  add(fft::dct<0>(x));
  add(fft::fftconvolve<1>(x, x, fft::same));
  add(fft::irfft2(fft::rfft2(x + 1)));
  add(fft::irfft(fft::rfft(long_line)));
  return numbers;
}

} // namespace

TEST_CASE("transforms run on a late device", "[fft][DEV-3]") { CHECK(transformed(Late{1}) == transformed(Cpu{0})); }

TEST_CASE("transforms on a device without memory have the extents of the others", "[fft]") {
  const auto x = zeros<float, Shape<6, dyn>>(Dims(6, 20), Meta{});
  CHECK(fft::rfft(x).shape() == Dims(6, 11));
  CHECK(fft::irfft2(fft::rfft2(x), Dims(6, 20)).shape() == Dims(6, 20));
  CHECK(fft::fftconvolve(x, x).shape() == Dims(11, 39));
  CHECK(fft::dct(x, 33).shape() == Dims(6, 33));
}
