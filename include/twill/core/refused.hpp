#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Compile-time errors that name the values that disagree. The text of a static_assert cannot carry numbers in C++20,
// but a template that is declared and never defined can: g++, clang and nvcc print its arguments in the first line of
// the error. A function that finds a mistake at compile time writes
// `static_cast<void>(sizeof(Mistake<refused<Problem::axis_is_outside_the_rank, with::axis<3>, with::rank<2>>>))`.

#include <twill/core/dtype.hpp>

#include <cstdint>

namespace twill { inline namespace v0 {

/// The mistakes: each enumerator is the sentence that the compiler prints.
enum class Problem : std::uint8_t {
  broadcast_extents_differ,
  axis_is_outside_the_rank,
  axis_is_named_twice,
  permutation_must_name_each_axis_once,
  reshape_changes_the_number_of_elements,
  squeezed_axis_must_have_extent_one,
  too_many_indices,
  item_needs_exactly_one_element,
  number_of_values_differs_from_the_shape,
  shapes_differ,
  ranks_differ,
  element_types_differ,
  matmul_left_columns_differ_from_right_rows,
  matmul_needs_at_least_one_dimension,
  index_tensor_must_hold_integers,
  mask_shape_differs_from_the_tensors,
  joined_tensors_differ_in_another_axis,
  sections_do_not_divide_the_axis,
  product_contracts_axes_of_different_extents,
  product_needs_operands_of_this_rank,
  product_contracts_more_axes_than_an_operand_has,
  product_contracts_different_numbers_of_axes,
  product_has_more_than_eight_axes,
  einsum_pattern_has_another_number_of_operands,
  einsum_letters_differ_from_the_rank,
  einsum_output_letter_is_in_no_operand,
  einsum_output_names_a_letter_twice,
  einsum_pattern_has_an_unexpected_character,
  einsum_output_lacks_the_ellipsis,
  einsum_letter_has_two_extents,
  element_types_have_no_common_one,
};

/// The values that an error names.
namespace with {
template <std::int64_t Value> struct left;
template <std::int64_t Value> struct right;
template <std::int64_t Value> struct left_rank;
template <std::int64_t Value> struct right_rank;
template <std::int64_t Value> struct axis;
template <std::int64_t Value> struct axes;
template <std::int64_t Value> struct rank;
template <std::int64_t Value> struct needed_rank;
template <std::int64_t Value> struct extent;
template <std::int64_t Value> struct index;
template <std::int64_t Value> struct elements;
template <std::int64_t Value> struct requested;
template <std::int64_t Value> struct count;
template <std::int64_t Value> struct points;
template <std::int64_t Value> struct parts;
template <std::int64_t Value> struct snapshots;
template <std::int64_t Value> struct left_slot;
template <std::int64_t Value> struct right_slot;
template <char Letter> struct letter;
template <DType Type> struct type;
template <DType Type> struct left_type;
template <DType Type> struct right_type;
} // namespace with

/// Never defined: taking its size is the error.
template <Problem P, class... Values> struct refused;

/// Takes the size of an undefined type in a class of its own, so that the function that asks for it stays a constant
/// expression and nothing that follows is an error too.
template <class Refused> struct Mistake { static_assert(sizeof(Refused) >= 1); };

}} // namespace twill::v0
