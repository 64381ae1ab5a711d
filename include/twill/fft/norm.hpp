#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Norm modes of Fourier transforms, as in NumPy and PyTorch: which of a transform and its inverse is divided by the
// number of points. Read next: fft/along.hpp.

#include <twill/core/config.hpp>
#include <twill/fft/lines.hpp>

#include <cmath>
#include <cstdint>

namespace twill { inline namespace v0 { namespace fft {

/// Which transform is divided by the number n of points.
enum class Norm : std::uint8_t {
  backward, ///< the inverse one, by n; what is used where nothing is said
  ortho,    ///< both, by sqrt(n)
  forward   ///< the forward one, by n
};
/// `fft(x, fft::ortho)`: the modes by their own names.
using enum Norm;

}}} // namespace twill::v0::fft

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// The factor of a transform of n points.
[[nodiscard]] inline double scale_of(Norm norm, Sign sign, std::int64_t n) {
  if (norm == Norm::ortho) return 1 / std::sqrt(static_cast<double>(n));
  return (norm == Norm::forward) == (sign == Sign::forward) ? 1 / static_cast<double>(n) : 1;
}

}}}} // namespace twill::v0::fft::detail
