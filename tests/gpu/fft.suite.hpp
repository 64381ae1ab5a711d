#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier and cosine transforms of tensors on a GPU, by a library: against the sums that define them, in float64. Lengths
// are powers, primes and products, axes the first, a middle one and the last, operands also views and expressions; norms,
// points cropped and padded, plans that are kept, streams side by side; transforms in models, and their gradients.

#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/core/error.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/expr.hpp>
#include <twill/fft.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/random.hpp>
#include <twill/training/peak_bytes.hpp>
#include <twill/training/train_step.hpp>

#if defined(__CUDACC__)
#include <twill/fft/cuda/lines.cuh>
#else
#include <tests/support/emulated_transforms.hpp>
#endif

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill::test { namespace fft_suite {

using D = TestedDevice;
using Number = std::complex<double>;
using Cube = Shape<dyn, dyn, dyn>;

#if defined(__CUDACC__)
inline std::size_t kept_plans() { return nvidia::cufft_of(0).plans.size(); }
inline constexpr std::string_view transform_library = "cuFFT";
#else
inline std::size_t kept_plans() { return emulation::TransformsLibrary::plans().size(); }
inline constexpr std::string_view transform_library = emulation::TransformsLibrary::name;
#endif

/// Numbers of a tensor on the host.
struct Array {
  Dims extents{};
  std::vector<Number> numbers{};
};

template <class X> Array array_of(const X& x) {
  Array array{x.shape(), {}};
  for (const auto& value : to_vector(x)) {
    if constexpr (ComplexScalar<typename X::value_type>)
      array.numbers.emplace_back(double{value.re}, double{value.im});
    else
      array.numbers.emplace_back(static_cast<double>(value), 0.0);
  }
  return array;
}

/// Calls f(line in, line out) for all lines along an axis, whose extent becomes `points`.
template <class F> Array along(const Array& x, int axis, std::int64_t points, const F& f) {
  Array y{x.extents, {}};
  y.extents[axis] = points;
  y.numbers.resize(static_cast<std::size_t>(y.extents.elements()));
  std::int64_t inner = 1;
  for (int i = axis + 1; i < x.extents.rank; ++i) inner *= x.extents[i];
  const std::int64_t n = x.extents[axis];
  const std::int64_t lines = n == 0 ? 0 : x.extents.elements() / n;
  for (std::int64_t line = 0; line < lines; ++line) {
    const auto at = [&](std::int64_t extent, std::int64_t k) {
      return static_cast<std::size_t>((line / inner * extent + k) * inner + line % inner);
    };
    std::vector<Number> in, out(static_cast<std::size_t>(points));
    for (std::int64_t k = 0; k < n; ++k) in.push_back(x.numbers[at(n, k)]);
    f(in, out);
    for (std::int64_t k = 0; k < points; ++k) y.numbers[at(points, k)] = out[static_cast<std::size_t>(k)];
  }
  return y;
}

/// The first `kept` coefficients of the transform of n points, by definition.
inline Array transformed(const Array& x, int axis, std::int64_t n, int sign, double scale, std::int64_t kept) {
  return along(x, axis, kept, [&](const std::vector<Number>& in, std::vector<Number>& out) {
    for (std::size_t k = 0; k < out.size(); ++k) {
      Number sum = 0;
      for (std::size_t j = 0; j < in.size() && static_cast<std::int64_t>(j) < n; ++j) {
        const auto turn = static_cast<double>(static_cast<std::int64_t>(j * k) % n) / static_cast<double>(n);
        sum += in[j] * std::polar(1.0, sign * 2 * std::numbers::pi * turn);
      }
      out[k] = sum * scale;
    }
  });
}

/// All n numbers whose first n / 2 + 1 are given, the others their conjugates mirrored; what has to be real is.
inline Array hermitian(const Array& x, int axis, std::int64_t n) {
  return along(x, axis, n, [&](const std::vector<Number>& in, std::vector<Number>& out) {
    const auto points = static_cast<std::size_t>(n);
    for (std::size_t k = 0; 2 * k <= points; ++k) {
      Number value = k < in.size() ? in[k] : Number{};
      if (k == 0 || 2 * k == points) value = value.real();
      out[(points - k) % points] = std::conj(value);
      out[k] = value;
    }
  });
}

inline void require_near(const Array& x, const Array& wanted, double error,
                         const std::source_location& where = std::source_location::current()) {
  require(x.extents == wanted.extents, where);
  double largest = 0;
  for (const Number& number : wanted.numbers) largest = std::fmax(largest, std::abs(number));
  for (std::size_t i = 0; i < wanted.numbers.size(); ++i)
    require_close(std::abs(x.numbers[i] - wanted.numbers[i]), 0, 0, error * largest, where);
}

inline constexpr double float_error = 2e-6;
inline constexpr double double_error = 1e-13;
template <class T> inline constexpr double error_of = std::is_same_v<real_t<T>, double> ? double_error : float_error;

template <class T> auto some_numbers(const Dims& extents) {
  manual_seed(Cpu{0}, 5);
  if constexpr (ComplexScalar<T>) {
    using R = real_t<T>;
    const auto re = to_vector(randn<R, Cube>(extents, Cpu{0})), im = to_vector(randn<R, Cube>(extents, Cpu{0}));
    std::vector<T> values;
    for (std::size_t i = 0; i < re.size(); ++i) values.push_back(T(re[i], im[i]));
    return from_values<Cube>(values, extents, D{0});
  } else {
    return randn<T, Cube>(extents, Cpu{0}).to(D{0});
  }
}

template <class T, int Axis> void complex_lines_are_right(const Dims& extents) {
  const auto x = some_numbers<T>(extents);
  const Array given = array_of(x);
  const std::int64_t n = extents[Axis];
  require_near(array_of(fft::fft<Axis>(x)), transformed(given, Axis, n, -1, 1, n), error_of<T>);
  require_near(array_of(fft::ifft<Axis>(x)), transformed(given, Axis, n, 1, 1 / static_cast<double>(n), n),
               error_of<T>);
}

inline void complex_transforms_are_right() {
  for (const std::int64_t n : {1, 2, 12, 31, 64, 97, 143}) {
    complex_lines_are_right<complex64, 0>(Dims(n, 3, 2));
    complex_lines_are_right<complex64, 1>(Dims(2, n, 3));
    complex_lines_are_right<complex64, 2>(Dims(2, 3, n));
  }
  complex_lines_are_right<complex128, 1>(Dims(3, 60, 5));
  complex_lines_are_right<complex128, 2>(Dims(1, 1, 509));
  complex_lines_are_right<float, 1>(Dims(3, 35, 2));
}
const Case complex_case{"complex transforms along any axis are those of the definition", &complex_transforms_are_right};

template <class T, int Axis> void real_lines_are_right(const Dims& extents, std::int64_t n) {
  const auto x = some_numbers<T>(extents);
  const Array given = array_of(x);
  const std::int64_t kept = n / 2 + 1;
  const auto spectrum = fft::rfft<Axis>(x, n);
  require_near(array_of(spectrum), transformed(given, Axis, n, -1, 1, kept), error_of<T>);
  require_near(array_of(fft::ihfft<Axis>(x, n)), transformed(given, Axis, n, 1, 1 / static_cast<double>(n), kept),
               error_of<T>);
  const auto y = some_numbers<Complex<T>>(extents);
  const Array mirrored = hermitian(array_of(y), Axis, n);
  require_near(array_of(fft::irfft<Axis>(y, n)), transformed(mirrored, Axis, n, 1, 1 / static_cast<double>(n), n),
               error_of<T>);
  require_near(array_of(fft::hfft<Axis>(y, n)), transformed(mirrored, Axis, n, -1, 1, n), error_of<T>);
}

inline void real_transforms_are_right() {
  for (const std::int64_t n : {1, 2, 9, 30, 53, 64}) {
    real_lines_are_right<float, 0>(Dims(30, 3, 2), n); // cropped and padded
    real_lines_are_right<float, 2>(Dims(2, 3, n), n);
  }
  real_lines_are_right<float, 1>(Dims(3, 41, 5), 41);
  real_lines_are_right<double, 2>(Dims(3, 2, 101), 101);
  real_lines_are_right<double, 2>(Dims(3, 2, 100), 128);
}
const Case real_case{"transforms of real numbers and of Hermitian ones are those of the definition",
                     &real_transforms_are_right};

inline void norms_scale() {
  const auto x = some_numbers<complex64>(Dims(2, 20, 3));
  const Array given = array_of(x);
  const double n = 20, root = std::sqrt(n);
  require_near(array_of(fft::fft<1>(x, fft::ortho)), transformed(given, 1, 20, -1, 1 / root, 20), float_error);
  require_near(array_of(fft::fft<1>(x, fft::forward)), transformed(given, 1, 20, -1, 1 / n, 20), float_error);
  require_near(array_of(fft::ifft<1>(x, fft::forward)), transformed(given, 1, 20, 1, 1, 20), float_error);
  require_near(array_of(fft::ifft<1>(x, 26, fft::ortho)), transformed(given, 1, 26, 1, 1 / std::sqrt(26.0), 26),
               float_error);
  const auto y = some_numbers<float>(Dims(2, 2, 20));
  require_near(array_of(fft::rfft(y, fft::ortho)), transformed(array_of(y), 2, 20, -1, 1 / root, 11), float_error);
  require_near(array_of(fft::irfft<1>(x, 20, fft::ortho)), transformed(hermitian(given, 1, 20), 1, 20, 1, 1 / root, 20),
               float_error);
}
const Case norms_case{"norms divide the transform, its inverse or both", &norms_scale};

inline void views_and_expressions_are_taken() {
  const auto x = some_numbers<float>(Dims(6, 21, 4));
  const auto turned = x.template permute<2, 0, 1>();
  require_near(array_of(fft::rfft(turned)), transformed(array_of(turned.contiguous()), 2, 21, -1, 1, 11), float_error);
  const auto odd = x(slice{1, 6}, slice{1, 21, 2}, slice{1, 4});
  require_near(array_of(fft::rfft<1>(odd)), transformed(array_of(odd.contiguous()), 1, 10, -1, 1, 6), float_error);
  const auto repeated = x(slice{0, 1}, all, all).template expand<Cube>(Dims(5, 21, 4));
  require_near(array_of(fft::rfft<1>(repeated)), transformed(array_of(repeated.contiguous()), 1, 21, -1, 1, 11),
               float_error);
  require_near(array_of(fft::fft<1>(x * 2 + 1)), transformed(array_of(eval(x * 2 + 1)), 1, 21, -1, 1, 21), float_error);
  require_equal(fft::rfft<1>(x(slice{2, 2}, all, all)).elements(), std::int64_t{0});
}
const Case views_case{"transforms take views, repeated lines, expressions and no lines at all",
                      &views_and_expressions_are_taken};

inline void several_axes_are_right() {
  const auto x = some_numbers<float>(Dims(3, 14, 15));
  const Array lines = transformed(array_of(x), 2, 15, -1, 1, 8);
  const auto spectrum = fft::rfft2(x);
  require_near(array_of(spectrum), transformed(lines, 1, 14, -1, 1, 14), float_error);
  require_near(array_of(fft::irfft2(spectrum, Dims(14, 15))), array_of(x), float_error);
  const auto z = some_numbers<complex64>(Dims(5, 6, 7));
  const Array planes = transformed(transformed(array_of(z), 0, 5, -1, 1, 5), 1, 6, -1, 1, 6);
  require_near(array_of(fft::fftn(z)), transformed(planes, 2, 7, -1, 1, 7), float_error);
  require_near(array_of(fft::ifftn(fft::fftn(z))), array_of(z), float_error);
}
const Case several_case{"transforms along several axes are those along one after another", &several_axes_are_right};

/// y_k = 2 sum_j x_j cos(pi k (2j + 1) / 2n), or y_j = x_0 + 2 sum_(k>0) x_k cos(pi k (2j + 1) / 2n).
inline Array cosine(const Array& x, int axis, std::int64_t n, int type) {
  return along(x, axis, n, [&](const std::vector<Number>& in, std::vector<Number>& out) {
    for (std::size_t a = 0; a < out.size(); ++a)
      for (std::size_t b = 0; b < in.size() && b < out.size(); ++b) {
        const auto k = static_cast<double>(type == 2 ? a : b), j = static_cast<double>(type == 2 ? b : a);
        const double factor = type == 3 && b == 0 ? 1 : 2;
        out[a] += factor * in[b] * std::cos(std::numbers::pi * k * (2 * j + 1) / (2 * static_cast<double>(n)));
      }
  });
}

inline void cosine_transforms_are_right() {
  for (const std::int64_t n : {1, 2, 7, 18, 32}) {
    const auto x = some_numbers<float>(Dims(2, 18, 3));
    require_near(array_of(fft::dct<1>(x, n)), cosine(array_of(x), 1, n, 2), float_error);
    require_near(array_of(fft::dct<1>(x, n, {.type = 3})), cosine(array_of(x), 1, n, 3), float_error);
  }
  const auto x = some_numbers<double>(Dims(2, 3, 33));
  require_near(array_of(fft::dct(x)), cosine(array_of(x), 2, 33, 2), double_error);
  require_near(array_of(fft::dct(x, {.type = 3})), cosine(array_of(x), 2, 33, 3), double_error);
  require_near(array_of(fft::idct(fft::dct(x))), array_of(x), double_error);
  const auto orthogonal = fft::dct(x, {.norm = fft::ortho});
  require_near(array_of(fft::dct(orthogonal, {.type = 3, .norm = fft::ortho})), array_of(x), double_error);
  double before = 0, after = 0; // an orthogonal transform keeps the sum of squares
  for (const Number& number : array_of(x).numbers) before += std::norm(number);
  for (const Number& number : array_of(orthogonal).numbers) after += std::norm(number);
  require_close(after, before, 1e-12);
}
const Case cosine_case{"cosine transforms are those of the definition", &cosine_transforms_are_right};

inline void plans_are_kept() {
  const auto x = some_numbers<float>(Dims(4, 5, 46));
  const auto first = array_of(fft::rfft(x));
  const std::size_t before = kept_plans();
  require_near(array_of(fft::rfft(x)), first, 0);
  require_near(array_of(fft::rfft(eval(x + 0.0f))), first, 0);
  require_equal(kept_plans(), before);
  static_cast<void>(fft::rfft<1>(x));
  require_equal(kept_plans(), before + 1);
  const auto z = some_numbers<complex64>(Dims(3, 3, 47));
  static_cast<void>(fft::fft(z));
  static_cast<void>(fft::ifft(z)); // both signs share one
  require_equal(kept_plans(), before + 2);

  forget_library_choices(D{0});
  static_cast<void>(fft::rfft(x));
  static_cast<void>(fft::rfft(x));
  const auto choices = library_choices(D{0});
  require_equal(choices.size(), std::size_t{1});
  require_equal(choices[0].by, transform_library);
  require_equal(choices[0].problem, "Fourier transform of 20 lines of 46 points, float32 to complex64");
}
const Case plans_case{"plans are kept by shape, and the library's problems are told", &plans_are_kept};

inline void streams_share_plans() {
  const gpu::Stream<D> sides[] = {gpu::Stream<D>{D{0}}, gpu::Stream<D>{D{0}}};
  const auto x = some_numbers<float>(Dims(3, 50, 4)).cpu();
  const Array wanted = transformed(array_of(x), 1, 50, -1, 1, 26);
  using Spectrum = decltype(fft::rfft<1>(x.to(D{0})));
  std::vector<Spectrum> results;
  for (int round = 0; round < 4; ++round)
    for (const auto& side : sides) {
      const StreamGuard<D> guard{D{0}, side.handle()};
      results.push_back(fft::rfft<1>(fft::irfft<1>(fft::rfft<1>(x.to(D{0})), 50)));
    }
  synchronize(D{0});
  for (const Spectrum& result : results) require_near(array_of(result), wanted, 2 * float_error);
}
const Case streams_case{"two streams share a plan, each with working memory of its own", &streams_share_plans};

inline void graphs_take_transforms() {
  auto x = some_numbers<float>(Dims(2, 3, 22));
  const Array given = array_of(x);
  std::vector<decltype(fft::rfft(x))> results;
  const auto graph = gpu::capture(D{0}, [&] { results.push_back(fft::rfft(fft::irfft(fft::rfft(x)))); });
  require_equal(graph.reason(), std::string{});
  graph.launch();
  require_near(array_of(results[0]), transformed(given, 2, 22, -1, 1, 12), float_error);
  x *= 2.0F;
  graph.launch();
  require_near(array_of(results[0]), transformed(given, 2, 22, -1, 2, 12), float_error);
}
const Case graphs_case{"a recorded graph transforms what its operand has become", &graphs_take_transforms};

template <std::int64_t... Extents> auto fixed_numbers() {
  return some_numbers<double>(Dims(Extents...)).template reshape<Shape<Extents...>>();
}

/// Complex numbers of two tensors.
template <class X, class Y> Array pairs_of(const X& re, const Y& im) {
  Array array = array_of(re);
  const Array imaginary = array_of(im);
  for (std::size_t i = 0; i < array.numbers.size(); ++i)
    array.numbers[i] = {array.numbers[i].real(), imaginary.numbers[i].real()};
  return array;
}
inline Array real_parts(Array x) {
  for (Number& number : x.numbers) number = number.real();
  return x;
}

/// Spectra of lines x, and lines of the spectra z = (re, im); the gradients of the sums of products with z and with x.
constexpr auto real_model = [](graph::Value x, graph::Value re, graph::Value im) {
  const graph::ComplexValue y = fft::rfft<1>(x, fft::ortho);
  const graph::Value back = fft::irfft<1>(graph::ComplexValue{re, im}, 10);
  const graph::Value of_spectra = graph::sum(y.re * re + y.im * im), of_lines = graph::sum(back * x);
  return std::tuple{y.re, y.im, gradient(of_spectra, x), back, gradient(of_lines, re), gradient(of_lines, im)};
};

inline void real_transforms_in_models_are_right() {
  const auto x = fixed_numbers<2, 10, 3>();
  const auto re = fixed_numbers<2, 6, 3>();
  const auto im = eval(re * re - 0.5);
  const Array lines = array_of(x), spectra = pairs_of(re, im);
  Array slope = transformed(lines, 1, 10, -1, 0.1, 6); // those that stand for two count twice, the others are real
  slope = along(slope, 1, 6, [](const std::vector<Number>& in, std::vector<Number>& out) {
    for (std::size_t k = 0; k < 6; ++k) out[k] = k % 5 == 0 ? Number{in[k].real()} : 2.0 * in[k];
  });
  for (int run = 0; run < 3; ++run) { // the later ones may be captured
    const auto [y_re, y_im, of_x, back, of_re, of_im] = compiled(real_model)(x, re, im);
    require_near(pairs_of(y_re, y_im), transformed(lines, 1, 10, -1, std::sqrt(0.1), 6), double_error);
    require_near(array_of(of_x), real_parts(transformed(spectra, 1, 10, 1, std::sqrt(0.1), 10)), double_error);
    require_near(array_of(back), transformed(hermitian(spectra, 1, 10), 1, 10, 1, 0.1, 10), double_error);
    require_near(pairs_of(of_re, of_im), slope, double_error);
  }
}
const Case real_models_case{"real transforms in models and their gradients are those of the definition",
                            &real_transforms_in_models_are_right};

/// The spectra along the first axis, padded to 7 points, their inverse along the last, and the gradients of its square.
constexpr auto complex_model = [](graph::Value re, graph::Value im) {
  const graph::ComplexValue y = fft::fft<0>(graph::ComplexValue{re, im}, 7);
  const graph::ComplexValue t = fft::ifft(y);
  const graph::Value loss = graph::sum(t.re * t.re + t.im * t.im);
  return std::tuple{t.re,
                    t.im,
                    gradient(loss, re),
                    gradient(loss, im),
                    real(fft::fft(re)),
                    imag(fft::ihfft<0>(re)),
                    fft::hfft<0>(y, 13)};
};

inline void complex_transforms_in_models_are_right() {
  const auto re = fixed_numbers<5, 2, 4>();
  const auto im = eval(re * re - 0.5);
  const Array z = pairs_of(re, im), given = array_of(re);
  const Array spectra = transformed(z, 0, 7, -1, 1, 7);
  const auto [t_re, t_im, of_re, of_im, cosines, sines, lines] = compiled(complex_model)(re, im);
  require_near(pairs_of(t_re, t_im), transformed(spectra, 2, 4, 1, 0.25, 4), double_error);
  require_near(pairs_of(of_re, of_im), pairs_of(eval(re * 3.5), eval(im * 3.5)), double_error); // 2 * 7 / 4
  require_near(array_of(cosines), real_parts(transformed(given, 2, 4, -1, 1, 4)), double_error);
  Array turned = transformed(given, 0, 5, 1, 0.2, 3);
  for (Number& number : turned.numbers) number = number.imag();
  require_near(array_of(sines), turned, double_error);
  require_near(array_of(lines), transformed(hermitian(spectra, 0, 13), 0, 13, -1, 1, 13), double_error);
}
const Case complex_models_case{"complex transforms in models and their gradients are those of the definition",
                               &complex_transforms_in_models_are_right};

/// The circular convolution of lines with one whose spectrum is trained, beside an extent after them or not.
template <std::int64_t... Inner> struct Spectral {
  static constexpr graph::Value forward(Input<Dim<"batch">, 18, Inner...> x) {
    const graph::ComplexValue spectrum{nn::parameter(x.graph(), "re", {10}, nn::initialise::zeros()),
                                       nn::parameter(x.graph(), "im", {10}, nn::initialise::zeros())};
    const graph::ComplexValue y = fft::rfft<1>(x);
    const auto fitting = [](graph::Value part) {
      for (std::size_t axis = 0; axis < sizeof...(Inner); ++axis) part = unsqueeze(part, -1);
      return part;
    };
    return fft::irfft<1>(graph::ComplexValue{y.re * fitting(spectrum.re) - y.im * fitting(spectrum.im),
                                             y.re * fitting(spectrum.im) + y.im * fitting(spectrum.re)},
                         18);
  }
};

template <std::int64_t... Inner> void steps_take_what_is_planned() {
  const auto x = some_numbers<float>(Dims(6, 18, (Inner * ... * 1)))
                     .template reshape<Shape<dyn, 18, Inner...>>(Dims(6, 18, Inner...));
  const std::int64_t before = memory_allocated(D{0});
  nn::Network<Spectral<Inner...>, D> model{D{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto planned = step.memory(nn::Slot{0}, x, x);
  // the inverse: rows of 10 complex coefficients, of 18 real numbers unless they are written in their place, each on a
  // boundary of 256 bytes, and 8 complex numbers for each point of a line
  const auto aligned = [](std::int64_t bytes) { return (bytes + 255) / 256 * 256; };
  const std::int64_t lines = 6 * (Inner * ... * 1);
  const std::int64_t rows = aligned(lines * 80) + (lines > 6 ? aligned(lines * 72) : 0);
  require_equal(planned.working, compile::pool_bytes(rows + lines * 18 * 64));
  reset_peak_memory_stats(D{0});
  step(x, x);
  synchronize(D{0});
  require_equal(max_memory_allocated(D{0}) - before,
                planned.total() + static_cast<std::int64_t>(step.capture_bytes(x, x)));
  using Step = typename decltype(step)::template source<decltype(x), decltype(x)>;
  require_equal(peak_bytes<Step, nn::Size<"batch", 6>>, planned.total());
}
inline void transforms_in_steps_are_planned() {
  steps_take_what_is_planned<>();
  steps_take_what_is_planned<3>();
  steps_take_what_is_planned<2, 2>();
}
const Case planned_case{"the plan of a training step counts the memory of its transforms, the library's at its most",
                        &transforms_in_steps_are_planned};

#if !defined(__CUDACC__)
inline std::string latest_warning;
inline void more_than_planned_is_told() {
  const auto sink = set_warning_sink([](std::string_view text) { latest_warning = text; });
  emulation::TransformsLibrary::more_bytes() = 24;
  forget_library_choices(D{0});
  static_cast<void>(fft::rfft(some_numbers<float>(Dims(4, 5, 59))));
  const std::string first = std::exchange(latest_warning, "");
  static_cast<void>(fft::rfft(some_numbers<float>(Dims(4, 5, 61))));
  emulation::TransformsLibrary::more_bytes() = 0;
  set_warning_sink(sink);
  require_equal(first, "the emulated library of transforms on emulated:0 asks for 75544 bytes of working memory, more "
                       "than the 75520 that step.memory, peak_bytes and fit count for it; leave room for the rest: "
                       "Fourier transform of 20 lines of 59 points, float32 to complex64");
  require_equal(latest_warning, ""); // once for each device
}
const Case more_case{"a library that asks for more than plans count is a warning with both numbers",
                     &more_than_planned_is_told};
#endif

#if defined(__CUDACC__)
inline void failures_are_named() {
  const auto make = [](const nvidia::Fft& fft) {
    launch(D{0}, [&](const auto& queue) { static_cast<void>(nvidia::cufft_plan(queue, fft)); });
  };
  require_throws<GpuError>([&] { make({.length = 0, .lines = 3}); },
                           "cufftMakePlanMany64 on cuda:0: CUFFT_INVALID_SIZE (8); Fourier transform of 3 lines of 0 "
                           "points, complex64 to complex64");
}
const Case failures_case{"a failure of the library names its call, the length and the lines", &failures_are_named};
#endif

}} // namespace twill::test::fft_suite
