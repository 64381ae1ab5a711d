#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Instruction sets as types. Files compiled for different instruction sets share types and state, but no code that
// leads to a kernel: such functions are in an inline namespace named after the instruction set. A member function of a
// shared type has a last template parameter instead, `class Isa = InstructionSet`, which makes its name differ too.

#include <twill/core/config.hpp>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The instruction set for which this file is compiled, as a type.
struct InstructionSet;

}}} // namespace twill::v0::TWILL_ISA
