#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Faults of traced functions. The trace records the first fault as a value and goes on. The compiler then names an
// undefined template whose arguments are the sentence, both values and the caller's line, so all of them appear in the
// first error line of g++, clang and nvcc. Read next: graph/graph.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// Each enumerator is the message; `left` and `right` of the fault are the two values that disagree.
enum class Problem : std::uint8_t {
  none,
  broadcast_extents_differ,
  matmul_left_columns_differ_from_right_rows,
  matmul_needs_at_least_one_dimension,
  matmul_dtypes_differ,
  matmul_batch_extents_differ,
  axis_is_outside_the_rank,
  axis_is_named_twice,
  reshape_changes_the_number_of_elements,
  transpose_needs_each_axis_once,
  squeezed_axis_must_have_extent_one,
  extent_is_known_only_at_run_time,
  condition_of_where_is_not_bool,
  labels_are_not_integers,
  labels_and_logits_have_different_batch_extents,
  class_weights_are_not_one_for_each_class,
  label_smoothing_is_outside_0_to_1,
  huber_delta_is_not_positive,
  smooth_l1_beta_is_negative,
  loss_shapes_differ,
  gradient_of_a_value_that_is_not_a_scalar,
  gradient_of_a_value_that_is_not_floating,
  gradient_with_respect_to_a_value_that_is_not_floating,
  operation_has_no_gradient,
  parameter_name_is_used_twice,
  parameter_extent_is_negative,
  parameter_is_not_reached_by_the_loss,
  name_is_longer_than_63_characters,
  dropout_probability_is_outside_0_to_1,
  too_many_symbols,
  two_symbols_must_be_equal,
  values_of_different_graphs,
  bce_of_probabilities_in_half_precision_use_bce_with_logits,
  convolution_input_has_the_wrong_rank,
  convolution_weight_has_the_wrong_rank,
  convolution_needs_one_floating_type,
  convolution_kernel_is_not_positive,
  convolution_stride_is_not_positive,
  convolution_dilation_is_not_positive,
  convolution_padding_is_negative,
  convolution_groups_do_not_divide_the_input_channels,
  convolution_groups_do_not_divide_the_output_channels,
  convolution_weight_has_no_channels,
  convolution_input_channels_differ_from_the_weights,
  convolution_bias_differs_from_the_output_channels,
  convolution_kernel_is_larger_than_the_padded_input,
  output_padding_is_not_less_than_the_stride,
  transposed_convolution_has_an_empty_result,
  batch_norm_needs_more_than_one_value_per_channel,
  batch_norm_needs_a_batch_axis_and_a_channel_axis,
  group_norm_channels_are_not_divisible_by_groups,
  layer_norm_needs_that_many_axes,
  buffer_is_updated_twice,
  update_of_a_value_that_is_not_a_buffer,
  slice_has_a_step_of_zero,
  slice_reaches_outside_of_the_axis,
  sections_do_not_divide_the_axis,
  axis_has_fewer_chunks,
  joined_values_have_different_ranks,
  joined_values_have_different_extents,
  margin_is_negative,
  margin_reaches_beyond_the_axis,
  indices_are_not_integers,
  index_has_another_rank,
  index_has_another_extent,
  topk_exceeds_the_axis,
  padding_index_is_outside,
  attention_ranks_differ,
  attention_extents_differ,
  attention_dtypes_differ,
  attention_mask_does_not_fit_the_scores,
  attention_mask_has_more_axes_than_the_scores,
  attention_mask_is_neither_bool_nor_floating,
  attention_padding_mask_needs_a_batch_and_keys,
  streamed_attention_cannot_drop_weights,
  heads_do_not_divide_the_width,
  pooling_input_has_the_wrong_rank,
  pooling_needs_a_floating_type,
  pooling_window_or_stride_is_not_positive,
  pooling_padding_exceeds_half_the_window,
  pooling_window_is_larger_than_the_padded_input,
  adaptive_pooling_needs_an_output_and_an_input,
  interpolation_input_has_the_wrong_rank,
  interpolation_needs_a_floating_type,
  interpolation_needs_an_output_and_an_input,
  interpolation_aligns_corners_only_if_linear,
  scans_are_nested_more_than_4_deep,
  scan_keeps_a_value_of_more_than_8_axes,
  scan_needs_a_first_axis_of_steps,
  scan_inputs_have_different_numbers_of_steps,
  scan_carry_changes_its_shape,
  scan_carry_changes_its_dtype,
  gradient_inside_a_scan_of_a_value_outside,
  recurrent_layer_needs_steps_rows_and_features,
  recurrent_layer_has_no_hidden_features,
  recurrent_layer_has_no_layers,
  recurrent_lengths_are_not_integers,
  recurrent_lengths_are_not_one_for_each_row,
  recurrent_state_has_another_shape_than_layers_rows_hidden,
  recurrent_total_length_is_below_the_number_of_steps,
  tap_in_the_body_of_a_scan,
  ranks_do_not_divide_the_axis,
  ranks_do_not_divide_the_heads,
  ranks_work_together_outside_of_scans_only,
  fit_needs_the_size_of_each_named_dimension,
  fit_budget_is_below_the_weights_and_states,
  fit_budget_is_below_the_lowest_peak,
  stage_boundary_inside_of_a_scan_or_a_checkpoint,
  model_has_fewer_places_to_cut_than_stages_need,
  stage_before_a_boundary_makes_nothing_for_the_next,
  slot_is_outside_0_to_15,
  operands_lie_in_different_slots_move_one_with_to,
  move_to_a_slot_in_the_body_of_a_scan,
  scan_over_values_in_different_slots,
  ranks_work_together_in_functions_of_one_slot_only,
  model_has_no_weight_before_which_it_is_to_be_cut,
  model_is_to_be_cut_out_of_order,
  matrix_needs_two_axes,
  matrix_is_neither_float32_nor_float64,
  matrix_is_not_square,
  matrix_needs_a_proportion_tall_or_wide,
  solve_sides_have_other_rows_than_the_matrix,
  cross_needs_three_elements,
  tangent_has_another_type_than_its_primal,
  tangent_has_another_rank_than_its_primal,
  tangent_has_another_extent_than_its_primal,
  cotangent_has_another_type_than_its_result,
  cotangent_has_another_rank_than_its_result,
  cotangent_has_another_extent_than_its_result,
  jacobian_has_more_than_8_axes,
  vmap_arguments_have_different_extents,
  vmap_gives_a_value_of_more_than_8_axes,
  vmap_of_an_update_of_a_buffer,
  operation_has_no_batching_rule,
  model_takes_element_types_bool_to_float64_convert_the_tensor,
  einsum_pattern_does_not_fit_its_operands,
  einsum_letter_has_two_extents,
  repetitions_are_negative,
  patches_do_not_fit_the_image,
  convolution_that_keeps_the_size_has_a_stride,
  bag_weights_are_for_sums_only,
  bmm_needs_three_dimensions_on_both_sides,
  experts_take_groups_of_tokens_of_a_width,
  capacity_of_experts_is_not_positive,
  tokens_of_experts_are_divided_by_groups_only,
  auxiliary_loss_in_the_body_of_a_scan,
  auxiliary_losses_are_not_in_the_loss_use_with_auxiliary_losses,
  program_of_the_loss_has_no_auxiliary_losses,
  rule_of_matrices_needs_whole_weights_on_each_rank,
  points_are_not_one_for_each_axis,
  cosine_transform_is_neither_of_type_2_nor_of_type_3,
  fourier_transform_needs_at_least_one_point,
  quantile_is_outside_0_to_1,
  percentile_is_outside_0_to_100,
  scale_of_a_distribution_is_negative,
  checkpoint_sequential_needs_at_least_one_part_and_one_snapshot,
  interp_needs_as_many_places_as_values_at_least_one,
  convolve_takes_two_vectors_with_elements,
  fftconvolve_takes_operands_of_one_rank,
  fftconvolve_of_an_axis_without_elements,
  valid_convolution_needs_one_operand_inside_of_the_other,
  interpolate_is_nearest_or_linear_use_resample,
  histogram_needs_bins_between_bounds_in_order,
};

/// A name that a fault is about, and of what.
struct Named {
  /// The kinds of things that have names.
  enum class Kind : std::uint8_t { nothing, weight, dimension, loss, operation };
  Kind kind = Kind::nothing; ///< of what
  std::string_view name{};   ///< with its scopes

  /// A weight or a buffer.
  static constexpr Named weight(std::string_view name) { return {Kind::weight, name}; }
  /// A named dimension.
  static constexpr Named dimension(std::string_view name) { return {Kind::dimension, name}; }
  /// A loss.
  static constexpr Named loss(std::string_view name) { return {Kind::loss, name}; }
  /// An operation.
  static constexpr Named operation(std::string_view name) { return {Kind::operation, name}; }
};

/// A scope that is open, where it was opened, and the one around it.
struct OpenScope {
  CallSite site{};                  ///< of the call that opened it
  const OpenScope* outer = nullptr; ///< null for the outermost

  OpenScope() = default;
  /// A scope inside of another.
  constexpr OpenScope(const CallSite& opened, const OpenScope* around) : site{opened}, outer{around} {}
};

/// The first fault found in a traced function, which becomes a compile error in the user's terms.
struct Fault {
  Problem problem = Problem::none;          ///< what kind; `none` while all is well
  std::int64_t left = 0;                    ///< the first of the two values that the sentence names
  std::int64_t right = 0;                   ///< the second
  char file[48]{};                          ///< of the user's call, without folders; longer names lose their beginning
  int line = 0;                             ///< of the user's call; 0 where the library makes it, as of a step's loss
  char layer[64]{};                         ///< the path of the open scopes, "block7.attention"
  char name[64]{};                          ///< of the weight, dimension or loss, empty unless there is one
  Named::Kind named = Named::Kind::nothing; ///< of what `name` is the name
  char scopes[128]{}; ///< calls that opened the scopes, innermost first, "model.hpp:41 model.hpp:20"; the first of many

  Fault() = default;
  /// A fault of a call, whose folders are left out.
  constexpr Fault(Problem kind, std::int64_t first, std::int64_t second, const CallSite& site, Named about = {})
      : problem{kind}, left{first}, right{second}, line{site.line}, named{about.kind} {
    std::string_view own = file_of(site);
    if (own.size() > 47) own.remove_prefix(own.size() - 47);
    for (std::size_t i = 0; i < own.size(); ++i) file[i] = own[i];
    copy(about.name, name);
  }
  /// Whether there is a fault.
  [[nodiscard]] constexpr bool any() const { return problem != Problem::none; }
  /// Says in which scopes it is.
  constexpr void set_layer(std::string_view path) { copy(path, layer); }

  /// Says where the scopes around it were opened, leaving out the call itself and scopes of one line.
  constexpr void set_scopes(const OpenScope* innermost) {
    std::string_view file_before{file};
    int line_before = line;
    std::size_t size = 0;
    for (const OpenScope* scope = innermost; scope != nullptr; scope = scope->outer) {
      const std::string_view own = file_of(scope->site);
      if (scope->site.line == 0 || (scope->site.line == line_before && own == file_before)) continue;
      file_before = own;
      line_before = scope->site.line;
      std::size_t digits = 1;
      for (int rest = line_before; rest >= 10; rest /= 10) ++digits;
      if (size + own.size() + digits + 2 >= sizeof(scopes)) return;
      if (size > 0) scopes[size++] = ' ';
      for (const char character : own) scopes[size++] = character;
      scopes[size++] = ':';
      size += digits;
      for (std::size_t i = 1; i <= digits; ++i, line_before /= 10)
        scopes[size - i] = static_cast<char>('0' + line_before % 10);
      line_before = scope->site.line;
    }
  }

private:
  /// The file without its folders.
  static constexpr std::string_view file_of(const CallSite& site) {
    std::string_view name{site.file};
    for (std::size_t i = name.size(); i > 0; --i)
      if (name[i - 1] == '/' || name[i - 1] == '\\') return name.substr(i);
    return name;
  }
  static constexpr void copy(std::string_view from, char (&to)[64]) {
    for (std::size_t i = 0; i < from.size() && i < 63; ++i) to[i] = from[i];
  }
};

/// A refused number as `left` shows it: rounded away from zero, so that 1.5 is not shown as 1. NaN, which no limit
/// holds for, is shown as the least integer.
[[nodiscard]] TWILL_CONSTEXPR std::int64_t shown_as_integer(double number) {
  constexpr double limit = 9.0e18;
  if (!(number >= -limit)) return INT64_MIN;
  if (number > limit) return INT64_MAX;
  const auto towards_zero = static_cast<std::int64_t>(number);
  const auto rounded = static_cast<double>(towards_zero);
  return towards_zero + (rounded < number && number > 0 ? 1 : 0) - (rounded > number && number < 0 ? 1 : 0);
}

}}} // namespace twill::v0::graph
