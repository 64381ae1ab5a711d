#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Decoders of all families of instructions; table.cpp chooses one by opcode and type.

#include "ptxrun/statement.hpp"

#include <optional>

namespace ptxrun {

// integer.cpp
void decode_integer_sum(Statement& statement);
void decode_integer_product(Statement& statement);
void decode_integer_product_sum(Statement& statement);
void decode_product_of_24_bits(Statement& statement);
void decode_integer_quotient(Statement& statement);
void decode_integer_remainder(Statement& statement);
void decode_integer_minimum(Statement& statement);
void decode_integer_maximum(Statement& statement);
void decode_integer_magnitude(Statement& statement);
void decode_integer_negation(Statement& statement);
// floating.cpp, half.cpp
void decode_floating(Statement& statement);
void decode_sign(Statement& statement);
void decode_half(Statement& statement);
// bits.cpp
void decode_logic(Statement& statement);
void decode_shift(Statement& statement);
void decode_funnel_shift(Statement& statement);
void decode_look_up(Statement& statement);
void decode_permutation(Statement& statement);
void decode_field(Statement& statement);
void decode_bit_count(Statement& statement);
// comparison.cpp
void decode_comparison(Statement& statement);
void decode_selection(Statement& statement);
void decode_test(Statement& statement);
/// Of a memory instruction, by its modifiers.
[[nodiscard]] Space space_of(const Statement& statement);

// moves.cpp
void decode_move(Statement& statement);
void decode_address_conversion(Statement& statement);
void decode_space_test(Statement& statement);
// conversion.cpp
void decode_conversion(Statement& statement);
// memory.cpp, atomics.cpp
void decode_load(Statement& statement);
void decode_store(Statement& statement);
void decode_atomic(Statement& statement);
void decode_fence(Statement& statement);
/// Of atomics and of reductions over a warp.
[[nodiscard]] std::optional<AtomicOperation> atomic_operation_of(const Statement& statement);

// warp_functions.cpp
void decode_shuffle(Statement& statement);
void decode_vote(Statement& statement);
void decode_match(Statement& statement);
void decode_warp_reduction(Statement& statement);
void decode_election(Statement& statement);
void decode_active_mask(Statement& statement);
// control.cpp
void decode_branch(Statement& statement);
void decode_end(Statement& statement);
void decode_barrier(Statement& statement);

void decode_nothing(Statement& statement);
// calls.cpp
void decode_call(Statement& statement);

} // namespace ptxrun
