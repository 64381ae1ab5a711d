// SPDX-License-Identifier: Apache-2.0
//
// Bodies of fft/ in the compiled library.

#include <twill/fft/along.ipp>
#include <twill/fft/convolve.ipp>
#include <twill/fft/cosine.ipp>
#include <twill/fft/frequencies.ipp>
#include <twill/fft/lines.ipp>
#include <twill/fft/several_axes.ipp>
