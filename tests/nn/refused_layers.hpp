#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What convolutions, pooling, losses and layers refuse. Read next: tests/nn/refusals.test.cpp.

#include "tests/support/refusal.hpp"

#include <twill/nn.hpp>
#include <twill/ops.hpp>

#include <limits>

namespace twill::test {

inline constexpr Refusal images[] = {
    {Reason::convolution_input_has_the_wrong_rank, 3, 4,
     [](Graph& g) {
       use(nn::conv2d(in(g, {1, 2, 8}), 4, "c", {}));
     }},
    {Reason::convolution_weight_has_the_wrong_rank, 3, 4,
     [](Graph& g) {
       use(graph::conv2d(in(g, {1, 2, 8, 8}), in(g, {4, 2, 3})));
     }},
    {Reason::convolution_needs_one_floating_type, of(float_type), of(DType::float64),
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 2, 3}, DType::float64)));
     }},
    {Reason::convolution_kernel_is_not_positive, 0, 0,
     [](Graph& g) {
       use(nn::conv2d(in(g, {1, 2, 8, 8}), 4, "c", {.kernel = 0}));
     }},
    {Reason::convolution_stride_is_not_positive, 0, 0,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 2, 3}), {.stride = 0}));
     }},
    {Reason::convolution_dilation_is_not_positive, 0, 0,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 2, 3}), {.dilation = 0}));
     }},
    {Reason::convolution_padding_is_negative, -1, -1,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 2, 3}), {.padding = -1}));
     }},
    {Reason::convolution_groups_do_not_divide_the_input_channels, 3, 2,
     [](Graph& g) {
       use(nn::conv2d(in(g, {1, 2, 8, 8}), 6, "c", {.groups = 3}));
     }},
    {Reason::convolution_groups_do_not_divide_the_output_channels, 2, 5,
     [](Graph& g) {
       use(nn::conv2d(in(g, {1, 2, 8, 8}), 5, "c", {.groups = 2}));
     }},
    {Reason::convolution_weight_has_no_channels, 0, 2,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {0, 2, 3})));
     }},
    {Reason::convolution_input_channels_differ_from_the_weights, 2, 3,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 3, 3})));
     }},
    {Reason::convolution_bias_differs_from_the_output_channels, 3, 4,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 8}), in(g, {4, 2, 3}), in(g, {3})));
     }},
    {Reason::convolution_kernel_is_larger_than_the_padded_input, 5, 4,
     [](Graph& g) {
       use(graph::conv1d(in(g, {1, 2, 2}), in(g, {4, 2, 5}), {.padding = 1}));
     }},
    {Reason::output_padding_is_not_less_than_the_stride, 2, 2,
     [](Graph& g) {
       use(graph::conv_transpose1d(in(g, {1, 2, 8}), in(g, {2, 4, 3}), {.stride = 2, .output_padding = 2}));
     }},
    {Reason::transposed_convolution_has_an_empty_result, -1, 2,
     [](Graph& g) {
       use(graph::conv_transpose1d(in(g, {1, 2, 1}), in(g, {2, 4, 3}), {.padding = 2}));
     }},
    {Reason::pooling_input_has_the_wrong_rank, 3, 4,
     [](Graph& g) {
       use(graph::max_pool2d(in(g, {1, 2, 8}), {}));
     }},
    {Reason::pooling_needs_a_floating_type, of(int_type), 0,
     [](Graph& g) {
       use(graph::avg_pool2d(in(g, {1, 2, 8, 8}, int_type), {}));
     }},
    {Reason::pooling_window_or_stride_is_not_positive, -1, -1,
     [](Graph& g) {
       use(graph::max_pool2d(in(g, {1, 2, 8, 8}), {.window = -1}));
     }},
    {Reason::pooling_padding_exceeds_half_the_window, 2, 3,
     [](Graph& g) {
       use(graph::max_pool2d(in(g, {1, 2, 8, 8}), {.window = 3, .padding = 2}));
     }},
    {Reason::pooling_window_is_larger_than_the_padded_input, 5, 4,
     [](Graph& g) {
       use(graph::max_pool2d(in(g, {1, 2, 2, 2}), {.window = 5, .padding = 1}));
     }},
    {Reason::adaptive_pooling_needs_an_output_and_an_input, 0, 8,
     [](Graph& g) {
       use(graph::adaptive_avg_pool2d(in(g, {1, 2, 8, 8}), 0));
     }},
    {Reason::interpolation_input_has_the_wrong_rank, 2, 4,
     [](Graph& g) {
       use(graph::interpolate(in(g, {2, 8}), {}));
     }},
    {Reason::interpolation_needs_a_floating_type, of(int_type), 0,
     [](Graph& g) {
       use(graph::interpolate(in(g, {1, 2, 8}, int_type), {}));
     }},
    {Reason::interpolation_needs_an_output_and_an_input, -1, 8,
     [](Graph& g) {
       use(graph::interpolate(in(g, {1, 2, 8}), {.size = -1}));
     }},
    {Reason::interpolation_aligns_corners_only_if_linear, 1, 0,
     [](Graph& g) {
       use(graph::interpolate(in(g, {1, 2, 8}), {.size = 4, .align_corners = graph::AlignCorners::yes}));
     }},
};

inline constexpr Refusal losses[] = {
    {Reason::labels_are_not_integers, of(float_type), 0,
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {3})));
     }},
    {Reason::labels_and_logits_have_different_batch_extents, 1, 3,
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {1}, int_type)));
     }},
    {Reason::labels_and_logits_have_different_batch_extents, 1, 3, // probabilities
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {1, 4})));
     }},
    {Reason::class_weights_are_not_one_for_each_class, 1, 4,
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {3, 4}), {.weight = in(g, {1})}));
     }},
    {Reason::labels_and_logits_have_different_batch_extents, 4, 5, // classes in the middle
     [](Graph& g) {
       use(nn::nll(in(g, {3, 2, 5}), in(g, {3, 4}, int_type), {.axis = 1}));
     }},
    {Reason::class_weights_are_not_one_for_each_class, 1, 4,
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {3}, int_type), {.weight = in(g, {1})}));
     }},
    {Reason::class_weights_are_not_one_for_each_class, -1, 4,
     [](Graph& g) {
       use(nn::nll(in(g, {3, 4}), in(g, {3}, int_type), {.weight = in(g, {3, 4})}));
     }},
    {Reason::label_smoothing_is_outside_0_to_1, 2, 1,
     [](Graph& g) {
       use(nn::cross_entropy(in(g, {3, 4}), in(g, {3}, int_type), {.label_smoothing = 1.5}));
     }},
    {Reason::huber_delta_is_not_positive, 0, 0, [](Graph& g) { use(nn::huber(in(g, {3}), in(g, {3}), {.delta = 0})); }},
    {Reason::smooth_l1_beta_is_negative, -1, 0,
     [](Graph& g) { use(nn::smooth_l1(in(g, {3}), in(g, {3}), {.beta = -0.5})); }},
    {Reason::loss_shapes_differ, 2, 1,
     [](Graph& g) {
       use(nn::mse(in(g, {3, 1}), in(g, {3})));
     }},
    {Reason::bce_of_probabilities_in_half_precision_use_bce_with_logits, of(DType::bfloat16), of(float_type),
     [](Graph& g) { use(nn::bce(in(g, {3}, DType::bfloat16), in(g, {3}))); }},
};

inline constexpr Refusal layers[] = {
    {Reason::parameter_name_is_used_twice, 0, 1,
     [](Graph& g) {
       for (int i = 0; i < 2; ++i) use(nn::parameter(g, "weight", {3}, nn::initialise::zeros()));
     }},
    {Reason::parameter_extent_is_negative, -4, 0,
     [](Graph& g) {
       use(nn::linear(in(g, {2, 3}), -4, "fc"));
     }},
    {Reason::parameter_is_not_reached_by_the_loss, 0, 0,
     [](Graph& g) {
       const Value unused = nn::parameter(g, "unused", {3}, nn::initialise::zeros());
       const Value loss = sum(in(g, {3}));
       const List<int> found = graph::gradients(g, {{loss.id(), loss.id()}}, {unused.id()});
       nn::require_reached(g, unused.id(), found[0]);
     }},
    {Reason::name_is_longer_than_63_characters, 63, 63,
     [](Graph& g) {
       const nn::Scope scope{g, "a_name_of_forty_characters_that_is_too_long"};
       use(nn::linear(in(g, {2, 3}), 4, "within_another_name_that_is_long"));
     }},
    {Reason::dropout_probability_is_outside_0_to_1, 2, 1, [](Graph& g) { use(nn::dropout(in(g, {3}), 1.5)); }},
    {Reason::dropout_probability_is_outside_0_to_1, std::numeric_limits<std::int64_t>::min(), 1,
     [](Graph& g) { use(nn::dropout(in(g, {3}), std::numeric_limits<double>::quiet_NaN())); }},
    {Reason::dropout_probability_is_outside_0_to_1, -1, 1,
     [](Graph& g) {
       use(nn::lstm(in(g, {3, 2, 4}), 5, "l", {.dropout = -0.1}));
     }},
    {Reason::batch_norm_needs_more_than_one_value_per_channel, 1, 2,
     [](Graph& g) {
       use(nn::batch_norm(in(g, {1, 3}), "bn"));
     }},
    {Reason::batch_norm_needs_a_batch_axis_and_a_channel_axis, 1, 2,
     [](Graph& g) { use(nn::batch_norm(in(g, {3}), "bn")); }},
    {Reason::group_norm_channels_are_not_divisible_by_groups, 6, 4,
     [](Graph& g) {
       use(nn::group_norm(in(g, {2, 6, 5}), 4, "gn"));
     }},
    {Reason::layer_norm_needs_that_many_axes, 3, 2,
     [](Graph& g) {
       use(nn::layer_norm(in(g, {2, 6}), "ln", {.axes = 3}));
     }},
    {Reason::buffer_is_updated_twice, 1, 0,
     [](Graph& g) {
       const Value x = in(g, {3});
       const Value b = nn::buffer(g, float_type, "b", x.shape(), nn::initialise::zeros());
       nn::update_buffer(b, x);
       nn::update_buffer(b, x);
     }},
    {Reason::update_of_a_value_that_is_not_a_buffer, 0, 0,
     [](Graph& g) {
       const Value x = in(g, {3});
       nn::update_buffer(x, x);
     }},
    {Reason::padding_index_is_outside, 7, 7,
     [](Graph& g) { use(nn::embedding(in(g, {3}, int_type), 7, 4, "e", {.padding = 7})); }},
    {Reason::attention_ranks_differ, 3, 2,
     [](Graph& g) {
       use(graph::streamed_attention(in(g, {2, 3, 4}), in(g, {3, 4}), in(g, {2, 3, 4})));
     }},
    {Reason::attention_extents_differ, 4, 5,
     [](Graph& g) {
       use(nn::composed_attention(in(g, {2, 3, 4}), in(g, {2, 3, 5}), in(g, {2, 3, 4})));
     }},
    {Reason::attention_dtypes_differ, of(float_type), of(DType::float64),
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(graph::streamed_attention(q, q, in(g, {2, 3, 4}, DType::float64)));
     }},
    {Reason::attention_mask_does_not_fit_the_scores, 2, 3,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(nn::composed_attention(q, q, q, {.mask = in(g, {3, 2}, DType::boolean)}));
     }},
    {Reason::attention_mask_has_more_axes_than_the_scores, 4, 3,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(nn::composed_attention(q, q, q, {.mask = in(g, {1, 2, 3, 3}, DType::boolean)}));
     }},
    {Reason::attention_mask_is_neither_bool_nor_floating, of(int_type), 0,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(nn::composed_attention(q, q, q, {.mask = in(g, {3, 3}, int_type)}));
     }},
    {Reason::attention_padding_mask_needs_a_batch_and_keys, 1, 3,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(nn::composed_attention(q, q, q, {.key_padding_mask = in(g, {3}, DType::boolean)}));
     }},
    {Reason::streamed_attention_cannot_drop_weights, 0, 0,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       const nn::AttentionOptions options{.dropout = 0.5, .form = nn::AttentionForm::streamed};
       use(nn::scaled_dot_product_attention(q, q, q, options));
     }},
    {Reason::heads_do_not_divide_the_width, 3, 4,
     [](Graph& g) {
       const Value q = in(g, {2, 3, 4});
       use(nn::multi_head_attention(q, q, q, 3, "heads"));
     }},
    {Reason::recurrent_layer_needs_steps_rows_and_features, 2, 3,
     [](Graph& g) {
       use(nn::rnn(in(g, {3, 4}), 5, "r"));
     }},
    {Reason::recurrent_layer_has_no_hidden_features, 0, 1,
     [](Graph& g) {
       use(nn::gru(in(g, {3, 2, 4}), 0, "r"));
     }},
    {Reason::recurrent_layer_has_no_layers, 0, 1,
     [](Graph& g) {
       use(nn::lstm(in(g, {3, 2, 4}), 5, "r", {.layers = 0}));
     }},
    {Reason::recurrent_lengths_are_not_integers, of(float_type), 0,
     [](Graph& g) {
       use(nn::rnn(in(g, {3, 2, 4}), 5, "r", {.lengths = in(g, {2})}));
     }},
    {Reason::recurrent_lengths_are_not_one_for_each_row, 3, 2,
     [](Graph& g) {
       use(nn::rnn(in(g, {3, 2, 4}), 5, "r", {.lengths = in(g, {3}, int_type)}));
     }},
    {Reason::recurrent_state_has_another_shape_than_layers_rows_hidden, 3, 2,
     [](Graph& g) {
       use(nn::rnn(in(g, {3, 2, 4}), 5, "r", {.layers = 2, .hidden = in(g, {1, 2, 5})}));
     }},
    {Reason::recurrent_total_length_is_below_the_number_of_steps, 2, 3,
     [](Graph& g) {
       use(nn::rnn(in(g, {3, 2, 4}), 5, "r", {.total_length = 2}));
     }},
};

} // namespace twill::test
