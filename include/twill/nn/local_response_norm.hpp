#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Local response normalisation across neighbouring channels (Krizhevsky et al., 2012). Definition and defaults are
// PyTorch's. Not in twill.hpp. Read next: nn/normalisation.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/norms.hpp>
#include <twill/ops/slice.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Options of local response normalisation.
struct LocalResponseNormOptions {
  double alpha = 1e-4; ///< factor of the mean square of the neighbours
  double beta = 0.75;  ///< exponent of the divisor
  double k = 1;        ///< added to the mean square
};

/// x / (k + alpha * mean of the squares of `size` neighbouring channels)^beta, channels beyond both ends being 0.
/// x: (batch, channels, ...). errors: fewer than three axes, a size below one
/// cost: a slice for each neighbour
[[nodiscard]] TWILL_CONSTEXPR Value local_response_norm(Value x, std::int64_t size,
                                                        const LocalResponseNormOptions& options = {},
                                                        CallSite site = CallSite::here()) {
  if (x.rank() < 3 || size < 1) {
    x.graph().refuse(size < 1 ? Problem::pooling_window_or_stride_is_not_positive : Problem::axis_is_outside_the_rank,
                     size < 1 ? size : 2, size < 1 ? 1 : x.rank(), site);
    return x;
  }
  return detail::in_wide(x, [&](Value wide) {
    const std::int64_t channels = wide.size(1, site);
    const Value squares = pad(square(wide), 1, {size / 2, (size - 1) / 2}, 0, site);
    if (x.graph().fault.any()) return wide;
    Value total = narrow(squares, 1, 0, channels, site);
    for (std::int64_t i = 1; i < size; ++i) total = total + narrow(squares, 1, i, channels, site);
    return wide / power(total * (options.alpha / static_cast<double>(size)) + options.k, options.beta);
  });
}

}}}} // namespace twill::v0::graph::TWILL_ISA
