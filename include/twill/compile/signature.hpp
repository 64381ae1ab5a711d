#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Signatures of traced functions: inputs, weights, run-time scalars and results. The trace alone gives them, so a
// question for the number of weights of a model, or the type of its result, does not pay for fusion, which takes many
// times as long. Read next: compile/program_type.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// Names in the words of an error message: the scopes around the call, a weight with those of its own, a dimension, a
/// loss or an operation. Values have those of core/refused.hpp.
template <FixedString Path> struct layer;
template <FixedString Path> struct weight;
template <FixedString Name> struct dimension;
template <FixedString Name> struct loss;
template <FixedString Name> struct operation;
/// The user's call, `at<"model.hpp:41">`.
template <FixedString Site> struct at;
/// The call that opened a scope around it, the innermost first: `inside<"model.hpp:20">`.
template <FixedString Site> struct inside;

/// Never defined: naming it puts the problem, its values, names and line into the compiler's error.
template <Problem P, class... Words> struct refused;

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// A list of words.
template <class... W> struct Words {};
template <graph::Problem P, class... W> graph::refused<P, W...>& refused_by(Words<W...>);
template <class... Left, class... Right> Words<Left..., Right...> operator+(Words<Left...>, Words<Right...>);

/// The values of a fault: extents and other numbers, unless the problem is about something else.
template <graph::Fault F> constexpr auto words_of_values() {
  using enum graph::Problem;
  using namespace with;
  constexpr auto is_one_of = [](auto... problems) { return (... || (F.problem == problems)); };
  if constexpr (is_one_of(matmul_needs_at_least_one_dimension, bmm_needs_three_dimensions_on_both_sides,
                          joined_values_have_different_ranks, tangent_has_another_rank_than_its_primal,
                          cotangent_has_another_rank_than_its_result, attention_ranks_differ,
                          attention_mask_has_more_axes_than_the_scores, loss_shapes_differ,
                          fftconvolve_takes_operands_of_one_rank))
    return Words<left_rank<F.left>, right_rank<F.right>>{};
  else if constexpr (is_one_of(convolution_input_has_the_wrong_rank, convolution_weight_has_the_wrong_rank,
                               pooling_input_has_the_wrong_rank, interpolation_input_has_the_wrong_rank,
                               index_has_another_rank, recurrent_layer_needs_steps_rows_and_features,
                               batch_norm_needs_a_batch_axis_and_a_channel_axis,
                               gradient_of_a_value_that_is_not_a_scalar, matrix_needs_two_axes))
    return Words<rank<F.left>, needed_rank<F.right>>{};
  else if constexpr (is_one_of(axis_is_outside_the_rank, axis_is_named_twice, extent_is_known_only_at_run_time))
    return Words<with::axis<F.left>, rank<F.right>>{};
  else if constexpr (is_one_of(transpose_needs_each_axis_once, layer_norm_needs_that_many_axes))
    return Words<axes<F.left>, rank<F.right>>{};
  else if constexpr (is_one_of(fourier_transform_needs_at_least_one_point))
    return Words<points<F.left>, extent<F.right>>{};
  else if constexpr (is_one_of(checkpoint_sequential_needs_at_least_one_part_and_one_snapshot))
    return Words<parts<F.left>, snapshots<F.right>>{};
  else if constexpr (is_one_of(squeezed_axis_must_have_extent_one))
    return Words<with::axis<F.left>, extent<F.right>>{};
  else if constexpr (is_one_of(parameter_extent_is_negative))
    return Words<extent<F.left>, with::axis<F.right>>{};
  else if constexpr (is_one_of(slice_has_a_step_of_zero))
    return Words<with::axis<F.left>>{};
  else if constexpr (is_one_of(matmul_dtypes_differ, tangent_has_another_type_than_its_primal,
                               cotangent_has_another_type_than_its_result, attention_dtypes_differ,
                               scan_carry_changes_its_dtype, convolution_needs_one_floating_type))
    return Words<left_type<DType{F.left}>, right_type<DType{F.right}>>{};
  else if constexpr (is_one_of(condition_of_where_is_not_bool, labels_are_not_integers,
                               gradient_of_a_value_that_is_not_floating,
                               gradient_with_respect_to_a_value_that_is_not_floating, indices_are_not_integers,
                               attention_mask_is_neither_bool_nor_floating, pooling_needs_a_floating_type,
                               interpolation_needs_a_floating_type, recurrent_lengths_are_not_integers,
                               bce_of_probabilities_in_half_precision_use_bce_with_logits,
                               matrix_is_neither_float32_nor_float64,
                               model_takes_element_types_bool_to_float64_convert_the_tensor))
    return Words<with::type<DType{F.left}>>{};
  else if constexpr (is_one_of(operands_lie_in_different_slots_move_one_with_to, scan_over_values_in_different_slots))
    return Words<left_slot<F.left>, right_slot<F.right>>{};
  else if constexpr (is_one_of(parameter_name_is_used_twice, parameter_is_not_reached_by_the_loss,
                               buffer_is_updated_twice, update_of_a_value_that_is_not_a_buffer,
                               operation_has_no_gradient, operation_has_no_batching_rule, vmap_of_an_update_of_a_buffer,
                               vmap_gives_a_value_of_more_than_8_axes, gradient_inside_a_scan_of_a_value_outside,
                               scans_are_nested_more_than_4_deep, scan_keeps_a_value_of_more_than_8_axes,
                               values_of_different_graphs, two_symbols_must_be_equal,
                               interpolation_aligns_corners_only_if_linear, streamed_attention_cannot_drop_weights,
                               tap_in_the_body_of_a_scan, ranks_work_together_outside_of_scans_only,
                               stage_boundary_inside_of_a_scan_or_a_checkpoint,
                               fit_needs_the_size_of_each_named_dimension,
                               model_has_no_weight_before_which_it_is_to_be_cut, matrix_needs_a_proportion_tall_or_wide,
                               bag_weights_are_for_sums_only, auxiliary_loss_in_the_body_of_a_scan,
                               auxiliary_losses_are_not_in_the_loss_use_with_auxiliary_losses,
                               program_of_the_loss_has_no_auxiliary_losses,
                               rule_of_matrices_needs_whole_weights_on_each_rank))
    return Words<>{};
  else
    return Words<with::left<F.left>, with::right<F.right>>{};
}

/// A text as a template argument, without its beginning where it is longer than clang shows.
template <const graph::Name& Text> consteval auto fixed_text() {
#if defined(__clang__)
  constexpr std::size_t most = 34;
#else
  constexpr std::size_t most = 63;
#endif
  constexpr std::size_t size = Text.size < most ? Text.size : most;
  char text[size + 1]{};
  for (std::size_t i = 0; i < size; ++i) text[i] = Text.characters[Text.size - size + i];
  return FixedString<size + 1>{text};
}

template <graph::Fault F> constexpr graph::Name fault_layer{std::string_view{F.layer}};
template <graph::Fault F> constexpr graph::Name fault_name{std::string_view{F.name}};
/// "model.hpp:41".
template <graph::Fault F>
constexpr graph::Name fault_site = [] {
  graph::Name site{std::string_view{F.file}};
  site.append(":");
  site.append_number(F.line);
  return site;
}();

/// The names of a fault: its weight, or its layer, then a dimension or a loss.
template <graph::Fault F> constexpr auto words_of_names() {
  if constexpr (F.named == graph::Named::Kind::weight)
    return Words<graph::weight<fixed_text<fault_name<F>>()>>{};
  else if constexpr (F.named == graph::Named::Kind::loss)
    return Words<graph::loss<fixed_text<fault_name<F>>()>>{};
  else if constexpr (F.named == graph::Named::Kind::dimension)
    return Words<graph::dimension<fixed_text<fault_name<F>>()>>{};
  else if constexpr (F.named == graph::Named::Kind::operation)
    return Words<graph::operation<fixed_text<fault_name<F>>()>>{};
  else
    return Words<>{};
}
template <graph::Fault F> constexpr auto words_of_layer() {
  if constexpr (F.layer[0] != 0 && F.named != graph::Named::Kind::weight)
    return Words<graph::layer<fixed_text<fault_layer<F>>()>>{};
  else
    return Words<>{};
}
template <graph::Fault F> constexpr auto words_of_site() {
  if constexpr (F.line > 0)
    return Words<graph::at<fixed_text<fault_site<F>>()>>{};
  else
    return Words<>{};
}

/// The call number `Number` that opened a scope.
template <graph::Fault F, int Number>
constexpr graph::Name fault_scope = [] {
  std::string_view all{F.scopes};
  for (int i = 0; i < Number && !all.empty(); ++i)
    all.remove_prefix(all.find(' ') == all.npos ? all.size() : all.find(' ') + 1);
  return graph::Name{all.substr(0, all.find(' '))};
}();
template <graph::Fault F, int Number = 0> constexpr auto words_of_scopes() {
  if constexpr (fault_scope<F, Number>.size > 0)
    return Words<graph::inside<fixed_text<fault_scope<F, Number>>()>>{} + words_of_scopes<F, Number + 1>();
  else
    return Words<>{};
}

/// The error of a fault.
template <graph::Fault F> struct FaultCheck {
  using words = decltype(words_of_values<F>() + words_of_names<F>() + words_of_layer<F>() + words_of_site<F>() +
                         words_of_scopes<F>());
  static_assert(sizeof(refused_by<F.problem>(words{})) >= 1);
};
template <graph::Fault F>
requires(!F.any()) struct FaultCheck<F> {
};

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The sizes of a traced function's signature, and the number of nodes of its trace.
struct SignatureSizes {
  std::size_t inputs = 0, parameters = 0, run_scalars = 0, symbols = 0, outputs = 0, nodes = 0, taps = 0, bounds = 0;
  graph::Fault fault{};
  int slots = 1;
  std::size_t scopes = 0;
};

[[nodiscard]] TWILL_CONSTEXPR SignatureSizes signature_sizes_of(const graph::Graph& graph) {
  return {graph.inputs.size(),  graph.parameters.size(), graph.run_scalars.size(), graph.symbols.size(),
          graph.outputs.size(), graph.nodes.size(),      graph.taps.size(),        graph.bounds.size(),
          graph.fault,          graph.slots(),           graph.scopes.size()};
}

/// The room that programs made of a function are likely to need; the largest is its training step. About twice the size
/// of the examples' training steps: every record of it is initialised, and one too few lowers twice.
[[nodiscard]] TWILL_CONSTEXPR TableSizes room_around(const SignatureSizes& signature) {
  const std::size_t n = signature.nodes;
  const auto room = [](std::size_t count, std::size_t least) { return count > least ? count : least; };
  return {.values = room(n, usual_room.values),
          .operands = room(5 * n / 2, usual_room.operands),
          .instructions = room(3 * n / 4, usual_room.instructions),
          .kernels = room(usual_room.kernels + n / 16, usual_room.kernels),
          .lines = room(usual_room.lines + n / 2, usual_room.lines),
          .shapes = room(n, usual_room.shapes),
          .attributes = room(n / 4, usual_room.attributes),
          .inputs = room(n / 2, usual_room.inputs), // a backward pass takes in what the forward pass kept
          .parameters = room(4 * signature.parameters, usual_room.parameters),
          .run_scalars = usual_room.run_scalars + signature.run_scalars,
          .symbols = usual_room.symbols + signature.symbols,
          .requirements = room(n / 16, usual_room.requirements),
          .loops = room(n / 16, usual_room.loops),
          .taps = 3 * signature.taps, // values, their gradients, and the parts of some
          .bounds = usual_room.bounds + signature.bounds,
          .scopes = usual_room.scopes + signature.scopes};
}

/// A signature as constexpr data. Empty lists hold one unused record, because an array has to.
template <SignatureSizes S> struct FrozenSignature {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  Array<graph::InputInfo, S.inputs> inputs{};
  Array<graph::ParameterInfo, S.parameters> parameters{};
  Array<graph::RunScalarInfo, S.run_scalars> run_scalars{};
  Array<graph::Symbol, S.symbols> symbols{};
  Array<graph::TapInfo, S.taps> taps{};
  Array<graph::InputInfo, S.outputs> outputs{}; ///< element type, shape and slot of each result

  constexpr FrozenSignature() = default;

  /// Copies a signature that has room for more, or the lists of a graph.
  template <class From> constexpr FrozenSignature(const From& from, const SignatureSizes& count) {
    copy_records(from.inputs, count.inputs, inputs);
    copy_records(from.parameters, count.parameters, parameters);
    copy_records(from.run_scalars, count.run_scalars, run_scalars);
    copy_records(from.symbols, count.symbols, symbols);
    copy_records(from.taps, count.taps, taps);
    if constexpr (!std::is_same_v<From, graph::Graph>) copy_records(from.outputs, count.outputs, outputs);
  }

  constexpr explicit FrozenSignature(const graph::Graph& graph) : FrozenSignature{graph, signature_sizes_of(graph)} {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const graph::Node& node = graph.node(graph.outputs[i]);
      outputs[i] = {node.dtype, node.shape, graph.outputs[i], false, node.slot < 0 ? 0 : node.slot};
    }
  }
};

/// Room that most signatures fit into, so that they are traced once.
inline constexpr SignatureSizes usual_signature{8, 384, 32, graph::max_symbols, 8, 0, 0, 0, {}};

/// The result of the first trace: the sizes, and the rest where it fits.
struct SignatureAttempt {
  SignatureSizes sizes{};
  bool fits = false;
  FrozenSignature<usual_signature> frozen{};

  constexpr explicit SignatureAttempt(const graph::Graph& graph)
      : sizes{signature_sizes_of(graph)},
        fits{sizes.inputs <= usual_signature.inputs && sizes.parameters <= usual_signature.parameters &&
             sizes.run_scalars <= usual_signature.run_scalars && sizes.symbols <= usual_signature.symbols &&
             sizes.outputs <= usual_signature.outputs && sizes.taps <= usual_signature.taps} {
    if (fits) frozen = FrozenSignature<usual_signature>{graph};
  }
};

/// The signature of a source. Naming it traces; a faulty trace is refused here.
template <class S> struct Signature {
private:
  static constexpr SignatureAttempt attempt{S::trace()};
  /// False after the compiler has said why the trace is no constant; then nothing that follows is an error too.
  static constexpr bool is_traced = requires { typename std::bool_constant<attempt.fits>; };

  template <SignatureSizes Sizes> static constexpr FrozenSignature<Sizes> freeze() {
    if constexpr (!is_traced)
      return {};
    else if constexpr (attempt.fits)
      return {attempt.frozen, Sizes};
    else
      return FrozenSignature<Sizes>{S::trace()};
  }

public:
  static constexpr SignatureSizes sizes = [] {
    if constexpr (is_traced)
      return attempt.sizes;
    else
      return SignatureSizes{};
  }();
  static_assert(sizeof(detail::FaultCheck<sizes.fault>) >= 1);
  static constexpr FrozenSignature<sizes> frozen = freeze<sizes>();
  /// Whether nothing was refused; after a refusal its types mean nothing.
  static constexpr bool is_sound = is_traced && !sizes.fault.any();

  /// Its inputs, parameters, numbers, symbols and taps, without a program.
  static constexpr TableView view() {
    TableView table{};
    table.inputs = {frozen.inputs.data(), sizes.inputs};
    table.parameters = {frozen.parameters.data(), sizes.parameters};
    table.run_scalars = {frozen.run_scalars.data(), sizes.run_scalars};
    table.symbols = {frozen.symbols.data(), sizes.symbols};
    table.taps = {frozen.taps.data(), sizes.taps};
    table.outputs = static_cast<int>(sizes.outputs);
    table.slots = sizes.slots;
    table.name = call_name_of<S>();
    return table;
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
