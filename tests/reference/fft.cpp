// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/fft.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/fft.hpp>

using namespace twill;

// clang-format off

// Transforms along one axis: in the header twill/fft.hpp, namespace fft. `x` is (8, 100) real numbers, `z` as many complex ones.
void transforms(const Tensor<float, Cpu, Shape<8, 100>>& x, const Tensor<complex64, Cpu, Shape<8, 100>>& z) {
  { const Tensor y = fft::fft<0>(z, 16, fft::ortho); }
  { const Tensor y = fft::ifft(z); }
  { const Tensor y = fft::rfft<-1, 128>(x); }
  { const Tensor y = fft::irfft(fft::rfft(x, 99), 99); }
  { const Tensor spectrum = fft::hfft(z); }
  { const Tensor y = fft::ihfft(x); }
  { static_assert(fft::whole_axis < 0); }
  { const fft::Norm norm = fft::Norm::forward; }
}

// Several axes: `x` is (8, 100) real numbers, `z` as many complex ones.
void several_axes(const Tensor<float, Cpu, Shape<8, 100>>& x, const Tensor<complex64, Cpu, Shape<8, 100>>& z) {
  { const Tensor y = fft::fft2(z, Dims(16, 128)); }
  { const Tensor y = fft::ifft2(z); }
  { const Tensor y = fft::rfft2(x); }
  { const Tensor y = fft::irfft2(fft::rfft2(x)); }
  { const Tensor y = fft::fftn<0, 1>(z, fft::ortho); }
  { const Tensor y = fft::ifftn(z); }
  { const Tensor y = fft::rfftn(x); }
  { const Tensor y = fft::irfftn(fft::rfftn(x), x.shape()); }
}

// Cosine transforms: `x` is (8, 100) real numbers.
void cosine_transforms(const Tensor<float, Cpu, Shape<8, 100>>& x) {
  { const Tensor y = fft::dct(x, {.type = 2, .norm = fft::ortho}); }
  { const Tensor y = fft::idct<0>(x); }
  { const fft::CosineOptions orthogonal{.norm = fft::ortho}; }
}

// Frequencies: `x` is (8, 100) real numbers.
void frequencies(const Tensor<float, Cpu, Shape<8, 100>>& x) {
  { const Tensor hertz = fft::fftfreq<double>(1024, 1.0 / 44100); }
  { const Tensor hertz = fft::rfftfreq(1024, 1.0 / 44100); }
  { const Tensor centred = fft::fftshift<0, 1>(x); }
  { const Tensor y = fft::ifftshift(x); }
  { const Tensor y = fft::rfft(x, fft::next_fast_len(x.size(-1))); }
}

// Convolutions: `x` is (8, 100) real numbers, `window` (1, 9).
void convolutions(const Tensor<float, Cpu, Shape<8, 100>>& x, const Tensor<float, Cpu, Shape<1, 9>>& window) {
  { const Tensor y = fft::fftconvolve<1>(x, window, fft::same); }
  { const Tensor y = fft::fftconvolve<1>(x, window, fft::full); }
  { const Tensor y = fft::fftconvolve<1>(x, window, fft::valid); }
  { const fft::ConvolveMode<fft::Part::valid> mode{}; }
}
