// SPDX-License-Identifier: Apache-2.0
//
// The transform of real numbers of a complex tensor.
// expect: twill: rfft and ihfft: the operand is complex; fft and ifft take it

#include <twill/fft.hpp>

using namespace twill;

const auto z = zeros<complex64, Shape<8>>();

#ifdef MISUSE
const auto y = fft::rfft(z);
#else
const auto y = fft::fft(z);
#endif
