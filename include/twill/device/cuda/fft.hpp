#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of lines as a value, for a vendor's library: types, points, lines, and the distances between
// elements and between lines. The key of a plan and the text of an error are made here, without CUDA.
// Not in the umbrella. Read next: device/cuda/cufft.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace twill { inline namespace v0 { namespace nvidia {

/// The numbers of a transform and of its result.
enum class FftKind : std::uint8_t {
  complex,         ///< n complex numbers to n
  complex_of_real, ///< n real numbers to n / 2 + 1 complex ones, with the sign of the forward transform
  real_of_complex, ///< n / 2 + 1 complex numbers to n real ones, with the sign of the inverse; may overwrite the former
};

/// Unscaled transforms of lines of n points; distances count elements, complex or real ones.
struct Fft {
  FftKind kind = FftKind::complex;
  DType real = DType::float32; ///< float32 or float64
  bool is_inverse = false;     ///< the sign of complex transforms
  std::int64_t length = 1;     ///< n
  std::int64_t lines = 1;
  std::int64_t from_step = 1; ///< between elements of a line
  std::int64_t from_line = 1; ///< between lines
  std::int64_t to_step = 1;
  std::int64_t to_line = 1;
};

/// Numbers that describe a plan; both signs share one.
inline constexpr std::size_t fft_key_words = 7;
[[nodiscard]] constexpr std::array<std::uint64_t, fft_key_words> key_of(const Fft& fft) {
  const auto word = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
  return {static_cast<std::uint64_t>(fft.kind) | (fft.real == DType::float64 ? 4U : 0U),
          word(fft.length),
          word(fft.lines),
          word(fft.from_step),
          word(fft.from_line),
          word(fft.to_step),
          word(fft.to_line)};
}

/// "inverse Fourier transform of 12 lines of 101 points, complex64 to complex64".
[[nodiscard]] TWILL_COLD inline std::string to_string(const Fft& fft) {
  const char* const real = fft.real == DType::float64 ? "float64" : "float32";
  const char* const complex = fft.real == DType::float64 ? "complex128" : "complex64";
  const bool is_inverse = fft.kind == FftKind::real_of_complex || (fft.kind == FftKind::complex && fft.is_inverse);
  return join_text({is_inverse ? "inverse " : "", "Fourier transform of ", fft.lines,
                    fft.lines == 1 ? " line of " : " lines of ", fft.length, " points, ",
                    fft.kind == FftKind::complex_of_real ? real : complex, " to ",
                    fft.kind == FftKind::real_of_complex ? real : complex});
}

}}} // namespace twill::v0::nvidia
