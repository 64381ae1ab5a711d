#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of fft/convolve.hpp.

#include <twill/core/error.hpp>
#include <twill/fft/convolve.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

TWILL_BODY Convolution convolution_of(Part part, const Dims& a, const Dims& b, unsigned mask) {
  const Convolution result = convolution_sizes(part, a, b, mask);
  if (result.empty_axis >= 0)
    throw ValueError("fftconvolve: axis " + std::to_string(result.empty_axis) + " of shapes " + to_string(a) + " and " +
                     to_string(b) + " has no elements");
  if (!result.is_whole)
    throw ValueError("fftconvolve: of shapes " + to_string(a) + " and " + to_string(b) +
                     " neither is inside of the other; `valid` needs one that is at most as large along every axis");
  return result;
}

}}}} // namespace twill::v0::fft::detail
