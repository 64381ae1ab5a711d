#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Files compiled for different instruction sets share types and state and no code that leads to a kernel: such functions
// stand in an inline namespace that is named after the instruction set. A member function of a shared type cannot, so it
// has a last template parameter that nobody names, `class Isa = InstructionSet`, which makes its name differ as well.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// What this file is compiled for, as a type.
struct InstructionSet;

}}} // namespace twill::v0::TWILL_ISA
