// SPDX-License-Identifier: Apache-2.0
//
// Bodies of fft/ in the compiled library.

#include <twill/fft/lines.ipp>
