// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/fft.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/fft.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/twill.hpp>

using namespace twill;
using graph::ComplexValue;
using graph::Value;

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

// In models: in the header twill/fft/value_transforms.hpp, namespace fft. `x` is (batch, 8, 100) real values of a model, `z` as many complex ones.
[[maybe_unused]] constexpr auto in_models = [](Value x, ComplexValue z) {
  { const ComplexValue y = fft::fft<0>(z, fft::ortho); }
  { const ComplexValue y = fft::ifft(z, 128); }
  { const ComplexValue y = fft::rfft<-1, 128>(x); }
  { const Value y = fft::irfft(fft::rfft(x, 99), 99); }
  { const ComplexValue y = fft::fft2(z); }
  { const ComplexValue y = fft::ifft2<0, 1>(z); }
  { const ComplexValue y = fft::rfft2(x, fft::ortho); }
  { const Value y = fft::irfft2(fft::rfft2(x)); }
};

// Complex numbers in models: in the header twill/ops/complex_value.hpp, namespace graph. `x` and `t` are real values of a model, `z` and `w` complex ones.
[[maybe_unused]] constexpr auto complex_numbers = [](Value x, Value t, ComplexValue z, ComplexValue w) {
  { const Value power = square(z.re) + square(z.im); static_assert(std::is_same_v<decltype(z), graph::ComplexValue>); }
  { const ComplexValue y = complex(x, t); }
  { const ComplexValue y = polar(x, t); }
  { const ComplexValue weights = view_as_complex(nn::parameter(x.graph(), "filter", {33, 2}, nn::initialise::zeros())); }
  { const Value pairs = view_as_real(z); }
  { const Value re = real(z); }
  { const Value im = imag(z); }
  { const ComplexValue y = conj(z); }
  { const Value lengths = abs(z); }
  { const Value radians = angle(z); }
  { const ComplexValue y = each_part(z, [](Value part) { return mean(part, {0}); }); }
  { const ComplexValue y = exp(2 * z + 1) / (w - x); }
  { const ComplexValue y = log(z); }
  { const ComplexValue y = matmul(z, w); }
  { const ComplexValue slope = gradient(sum(abs(z)), z); }
};
