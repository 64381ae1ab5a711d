// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/fft.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/fft.hpp>
#include <twill/fft/value_convolve.hpp>
#include <twill/fft/value_cosine.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/ops/complex_functions.hpp>
#include <twill/ops/complex_moves.hpp>
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

// In models: in the headers twill/fft/value_transforms.hpp, value_several_axes.hpp, value_convolve.hpp and value_cosine.hpp, namespace fft. `x` is (batch, 8, 100) real values of a model, `z` as many complex ones.
[[maybe_unused]] constexpr auto in_models = [](Value x, ComplexValue z) {
  { const ComplexValue y = fft::fft<0>(z, fft::ortho); }
  { const ComplexValue y = fft::ifft(z, 128); }
  { const ComplexValue y = fft::rfft<-1, 128>(x); }
  { const Value y = fft::irfft(fft::rfft(x, 99), 99); }
  { const ComplexValue y = fft::fft2(z); }
  { const ComplexValue y = fft::ifft2<0, 1>(z); }
  { const ComplexValue y = fft::rfft2(x, fft::ortho); }
  { const Value y = fft::irfft2(fft::rfft2(x)); }
  { const Value spectrum = fft::hfft(z); }
  { const ComplexValue y = fft::ihfft(x); }
  { const ComplexValue y = fft::fftn(x, Dims(2, 16, 128)); }
  { const ComplexValue y = fft::ifftn<0, 1>(z); }
  { const ComplexValue y = fft::rfftn(x); }
  { const Value y = fft::irfftn<1, 2>(fft::rfftn<1, 2>(x, Dims(8, 99)), Dims(8, 99)); }
  { const ComplexValue centred = fft::fftshift<1, 2>(z); }
  { const Value y = fft::ifftshift<1, 2>(x); }
  { const Value y = fft::fftconvolve<1, 2>(x, x, fft::same); }
  { const Value y = fft::dct(x, {.type = 2, .norm = fft::ortho}); }
  { const Value y = fft::idct<1>(x); }
};

// Complex numbers in models: in the headers twill/ops/complex_value.hpp, complex_functions.hpp and complex_moves.hpp, namespace graph. `x` and `t` are real values of a model, `z` and `w` complex ones, `index` and `mask` integers and truth values.
[[maybe_unused]] constexpr auto complex_numbers = [](Value x, Value t, ComplexValue z, ComplexValue w, Value index, Value mask) {
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
  { const ComplexValue y = reciprocal(z); }
  { const ComplexValue y = sqrt(z); }
  { const ComplexValue y = rsqrt(z); }
  { const ComplexValue y = exp2(z); }
  { const ComplexValue y = expm1(z); }
  { const ComplexValue y = log2(z); }
  { const ComplexValue y = log10(z); }
  { const ComplexValue y = log1p(z); }
  { const ComplexValue y = sin(z); }
  { const ComplexValue y = cos(z); }
  { const ComplexValue y = tan(z); }
  { const ComplexValue y = sinh(z); }
  { const ComplexValue y = cosh(z); }
  { const ComplexValue y = tanh(z); }
  { const ComplexValue y = asin(z); }
  { const ComplexValue y = acos(z); }
  { const ComplexValue y = atan(z); }
  { const ComplexValue y = asinh(z); }
  { const ComplexValue y = acosh(z); }
  { const ComplexValue y = atanh(z); }
  { const ComplexValue y = sigmoid(z); }
  { const ComplexValue y = sign(z); }
  { const ComplexValue y = pow(z, w) + pow(z, 1.5); }
  { const Value is_broken = isnan(z); }
  { const Value is_infinite = isinf(z); }
  { const Value is_whole = isfinite(z); }
  { const Value spread = var(z, {0}, 1); }
  { const ComplexValue y = prod(z, -1); }
  { const ComplexValue y = cumprod(z, -1); }
  { const ComplexValue y = matmul(z, w); }
  { const ComplexValue slope = gradient(sum(abs(z)), z); }
  { const ComplexValue y = slice_axis(z, 1, {.begin = 2, .step = 3}); }
  { const ComplexValue y = narrow(z, 1, 0, 4); }
  { const ComplexValue y = select(z, 0, -1); }
  { const ComplexValue y = flip(z, {1}); }
  { const ComplexValue y = roll(z, 2, 1); }
  { const ComplexValue y = pad(z, 1, {1, 1}); }
  { const ComplexValue y = take(z, index, 1); }
  { const ComplexValue y = take_along_axis(z, index, 1); }
  { const ComplexValue y = scatter_add(z, 0, index, w); }
  { const ComplexValue y = index_add(z, 0, index, w); }
  { const ComplexValue y = concatenate({z, w}, 1); }
  { const ComplexValue y = stack({z, w}); }
  { const ComplexValue y = where(mask, z, w); }
  { const ComplexValue y = cumsum(z, 1); }
  { const ComplexValue y = sum(z, {1}); }
  { const ComplexValue y = mean(z, {0}); }
  { const ComplexValue y = reshape(z, {{8, 0}, {100, 0}}); }
  { const ComplexValue y = transpose(z, {1, 0}); }
  { const ComplexValue y = unsqueeze(z, 0); }
};
