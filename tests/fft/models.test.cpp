// SPDX-License-Identifier: Apache-2.0
//
// Transforms and complex numbers in models beside PyTorch's (tests/golden/scripts/spectra.py): results and gradients; compiled
// programs, a trained filter, forward mode, refusals. Derivatives of both orders: tests/fft/table_of_spectra.test.cpp.

#include "tests/support/golden_gradients.hpp"

#include <twill/fft/value_transforms.hpp>
#include <twill/twill.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

using namespace twill;
using namespace twill::test;
using graph::ComplexValue;
using graph::Value;
using graph::view_as_complex;

namespace {

template <class F> void check(const std::string& name, const std::vector<std::string>& inputs, const F& function) {
  check_golden_gradients("spectra", name, inputs, 1e-12, function);
}

} // namespace

TEST_CASE("transforms in models have PyTorch's values and gradients", "[fft][gradient]") {
  check("power", {"odd", "weights"},
        [](const Value* x) { return square(abs(fft::rfft(x[0]) * view_as_complex(x[1]))); });
  check("filtered_odd", {"odd", "weights"},
        [](const Value* x) { return fft::irfft(fft::rfft(x[0]) * view_as_complex(x[1]), 7); });
  check("filtered_even", {"even", "weights"}, [](const Value* x) {
    return fft::irfft(fft::rfft(x[0], fft::ortho) * view_as_complex(x[1]), fft::ortho);
  });
  check("filtered_long", {"long", "filter"}, // 34 = 2 * 17, which passes of small factors do not have
        [](const Value* x) { return fft::irfft(fft::rfft(x[0]) * view_as_complex(x[1])); });
  const auto of_spectrum = [](const std::string& name, auto function) {
    check(name, {"spectrum"}, [&](const Value* x) { return function(view_as_complex(x[0])); });
  };
  of_spectrum("fft_padded", [](const ComplexValue& z) { return view_as_real(fft::fft<1>(z, 7, fft::forward)); });
  of_spectrum("fft_cropped", [](const ComplexValue& z) { return view_as_real(fft::fft<0, 3>(z)); });
  of_spectrum("ifft", [](const ComplexValue& z) { return view_as_real(fft::ifft(z, fft::ortho)); });
  of_spectrum("irfft_padded", [](const ComplexValue& z) { return fft::irfft(z, 11); });
  of_spectrum("irfft_cropped", [](const ComplexValue& z) { return fft::irfft<2>(z, 4, fft::forward); });
  of_spectrum("fft2", [](const ComplexValue& z) {
    const ComplexValue y = fft::fft2(z);
    return view_as_real(fft::ifft2(y * y));
  });
  of_spectrum("irfft2", [](const ComplexValue& z) { return fft::irfft2(z, 9); });
  check("fft_of_real", {"even"}, [](const Value* x) { return angle(fft::fft<1>(x[0])); });
  check("rfft2", {"even"}, [](const Value* x) { return view_as_real(fft::rfft2(x[0], fft::ortho)); });
}

TEST_CASE("functions of complex numbers in models have PyTorch's values and gradients", "[fft][gradient]") {
  check("quotient", {"left"}, [](const Value* x) {
    const ComplexValue z = view_as_complex(x[0]);
    return view_as_real((z * 2 - 1) / (conj(z) + 0.5) - 3 / z);
  });
  check("functions", {"left"}, [](const Value* x) {
    const ComplexValue z = view_as_complex(x[0]);
    return view_as_real(exp(z) * log(z) + graph::polar(abs(z), angle(z) * 2));
  });
  check("matmul", {"left", "right"}, [](const Value* x) {
    const ComplexValue a = view_as_complex(x[0]);
    return view_as_real(matmul(matmul(a, view_as_complex(x[1])), real(a)));
  });
}
