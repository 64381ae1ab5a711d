// SPDX-License-Identifier: Apache-2.0
//
// Bodies of ops/ in the compiled library.

#include <twill/ops/detail/epilogue_programs.ipp>
