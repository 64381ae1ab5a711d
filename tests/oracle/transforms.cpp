// SPDX-License-Identifier: Apache-2.0
//
// Fourier and cosine transforms of tensors. The case's first number is the norm, the second the number of points. An error
// is bounded in the norm of the whole result (references.py).

#include "tests/oracle/registry.hpp"

#include <twill/fft.hpp>

#include <cstdint>

namespace oracle {
namespace {

namespace fft = twill::fft;
using N = const std::vector<double>&;

fft::Norm norm(N n) { return n[0] == 0 ? fft::Norm::backward : n[0] == 1 ? fft::Norm::ortho : fft::Norm::forward; }
std::int64_t points(N n) { return static_cast<std::int64_t>(n[1]); }

} // namespace

void add_transforms(Registry& to) {
  using Complexes = Types<twill::complex64, twill::complex128>;
  using Real = Types<float, double>;
  using All = Types<float, double, twill::complex64, twill::complex128>;
  unary<2>(to, "fft.fft<0>", All{}, zeros_equal, [](const auto& x, N n) { return fft::fft<0>(x, norm(n)); });
  unary<2>(to, "fft.fft<-1>", All{}, zeros_equal,
           [](const auto& x, N n) { return fft::fft<-1>(x, points(n), norm(n)); });
  unary<2>(to, "fft.ifft<-1>", Complexes{}, zeros_equal,
           [](const auto& x, N n) { return fft::ifft<-1>(x, points(n), norm(n)); });
  unary<2>(to, "fft.rfft<0>", Real{}, zeros_equal, [](const auto& x, N n) { return fft::rfft<0>(x, norm(n)); });
  unary<2>(to, "fft.rfft<-1>", Real{}, zeros_equal,
           [](const auto& x, N n) { return fft::rfft<-1>(x, points(n), norm(n)); });
  unary<2>(to, "fft.irfft<-1>", Complexes{}, zeros_equal,
           [](const auto& x, N n) { return fft::irfft<-1>(x, points(n), norm(n)); });
  unary<2>(to, "fft.hfft<-1>", Complexes{}, zeros_equal,
           [](const auto& x, N n) { return fft::hfft<-1>(x, points(n), norm(n)); });
  unary<2>(to, "fft.ihfft<-1>", Real{}, zeros_equal,
           [](const auto& x, N n) { return fft::ihfft<-1>(x, points(n), norm(n)); });
  unary<3>(to, "fft.fft2", All{}, zeros_equal, [](const auto& x, N n) { return fft::fft2(x, norm(n)); });
  unary<3>(to, "fft.ifft2", Complexes{}, zeros_equal, [](const auto& x, N n) { return fft::ifft2(x, norm(n)); });
  unary<3>(to, "fft.rfft2", Real{}, zeros_equal, [](const auto& x, N n) { return fft::rfft2(x, norm(n)); });
  unary<3>(to, "fft.fftn", Complexes{}, zeros_equal, [](const auto& x, N n) { return fft::fftn(x, norm(n)); });
  unary<3>(to, "fft.ifftn<0,2>", Complexes{}, zeros_equal,
           [](const auto& x, N n) { return fft::ifftn<0, 2>(x, norm(n)); });
  const auto cosine = [](N n) {
    return fft::CosineOptions{.type = static_cast<int>(n[2]),
                              .norm = n[0] == 1 ? fft::Norm::ortho : fft::Norm::backward};
  };
  unary<2>(to, "fft.dct<-1>", Real{}, zeros_equal,
           [](const auto& x, N n) { return fft::dct<-1>(x, decltype(cosine){}(n)); });
  unary<2>(to, "fft.dct<0>", Real{}, zeros_equal,
           [](const auto& x, N n) { return fft::dct<0>(x, decltype(cosine){}(n)); });
  unary<2>(to, "fft.idct<-1>", Real{}, zeros_equal,
           [](const auto& x, N n) { return fft::idct<-1>(x, decltype(cosine){}(n)); });
  unary<3>(to, "fft.fftshift", Types<float, twill::complex64>{}, exact, [](const auto& x) { return fft::fftshift(x); });
  unary<3>(to, "fft.ifftshift<1>", Types<float, twill::complex128>{}, exact,
           [](const auto& x) { return fft::ifftshift<1>(x); });
  binary<2>(to, "fft.fftconvolve_full", Real{}, zeros_equal,
            [](const auto& a, const auto& b) { return fft::fftconvolve(a, b, fft::full); });
  binary<2>(to, "fft.fftconvolve_same", Types<float, twill::complex128>{}, zeros_equal,
            [](const auto& a, const auto& b) { return fft::fftconvolve(a, b, fft::same); });
}

} // namespace oracle
