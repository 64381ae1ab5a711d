#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What a traced function shows to the outside: its inputs, weights, run-time numbers and results. The trace alone tells
// that, so whoever only asks how many weights a model has, or what type its result is, does not pay for fusing it, which
// takes many times as long. Read next: compile/program_type.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill::inline v0::graph::inline TWILL_ISA {

/// The two values of a fault, and where it was made, in the words of an error message.
template <std::int64_t Left> struct left;
template <std::int64_t Right> struct right;
template <int Line> struct line;

/// Never defined: naming it puts the problem, its values and its line into the compiler's error.
template <Problem P, class LeftValue, class RightValue, class AtLine> struct refused;

} // namespace twill::inline v0::graph::inline TWILL_ISA

namespace twill::inline v0::compile::detail::inline TWILL_ISA {

template <graph::Fault F> constexpr bool check_fault() {
  if constexpr (F.any())
    return sizeof(graph::refused<F.problem, graph::left<F.left>, graph::right<F.right>, graph::line<F.line>>) >= 1;
  return true;
}

} // namespace twill::inline v0::compile::detail::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// How much of each a traced function shows, and how many nodes its trace has.
struct FaceSizes {
  std::size_t inputs = 0, parameters = 0, knobs = 0, symbols = 0, outputs = 0, nodes = 0, taps = 0, bounds = 0;
  graph::Fault fault{};
  int slots = 1;
  std::size_t scopes = 0;
};

[[nodiscard]] TWILL_CONSTEXPR FaceSizes face_sizes_of(const graph::Graph& graph) {
  return {graph.inputs.size(),  graph.parameters.size(), graph.knobs.size(), graph.symbols.size(),
          graph.outputs.size(), graph.nodes.size(),      graph.taps.size(),  graph.bounds.size(),
          graph.fault,          graph.slots(),           graph.scopes.size()};
}

/// The room that programs made of a function are likely to need, the largest being its training step.
/// About twice what the training steps of the examples take: every record of it is initialised, and one too few lowers twice.
[[nodiscard]] TWILL_CONSTEXPR TableSizes room_around(const FaceSizes& face) {
  const std::size_t n = face.nodes;
  const auto room = [](std::size_t count, std::size_t least) { return count > least ? count : least; };
  return {.values = room(n, usual_room.values),
          .operands = room(5 * n / 2, usual_room.operands),
          .instructions = room(3 * n / 4, usual_room.instructions),
          .kernels = room(usual_room.kernels + n / 16, usual_room.kernels),
          .lines = room(usual_room.lines + n / 2, usual_room.lines),
          .shapes = room(n, usual_room.shapes),
          .attributes = room(n / 4, usual_room.attributes),
          .inputs = room(n / 2, usual_room.inputs), // a backward pass takes in what the forward pass kept
          .parameters = room(4 * face.parameters, usual_room.parameters),
          .knobs = usual_room.knobs + face.knobs,
          .symbols = usual_room.symbols + face.symbols,
          .requirements = room(n / 16, usual_room.requirements),
          .loops = room(n / 16, usual_room.loops),
          .taps = 3 * face.taps, // values, their gradients, and the parts of some
          .bounds = usual_room.bounds + face.bounds,
          .scopes = usual_room.scopes + face.scopes};
}

/// A face as constexpr data. Empty lists hold one unused record, because an array has to.
template <FaceSizes S> struct FrozenFace {
  template <class T, std::size_t N> using Array = std::array<T, N == 0 ? 1 : N>;

  Array<graph::InputInfo, S.inputs> inputs{};
  Array<graph::ParameterInfo, S.parameters> parameters{};
  Array<graph::KnobInfo, S.knobs> knobs{};
  Array<graph::Symbol, S.symbols> symbols{};
  Array<graph::TapInfo, S.taps> taps{};
  Array<graph::InputInfo, S.outputs> outputs{}; ///< element type, shape and slot of each result

  constexpr FrozenFace() = default;

  /// From a face that has room for more, or from the lists of a graph.
  template <class From> constexpr FrozenFace(const From& from, const FaceSizes& count) {
    copy_records(from.inputs, count.inputs, inputs);
    copy_records(from.parameters, count.parameters, parameters);
    copy_records(from.knobs, count.knobs, knobs);
    copy_records(from.symbols, count.symbols, symbols);
    copy_records(from.taps, count.taps, taps);
    if constexpr (!std::is_same_v<From, graph::Graph>) copy_records(from.outputs, count.outputs, outputs);
  }

  constexpr explicit FrozenFace(const graph::Graph& graph) : FrozenFace{graph, face_sizes_of(graph)} {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      const graph::Node& node = graph.node(graph.outputs[i]);
      outputs[i] = {node.dtype, node.shape, graph.outputs[i], false, node.slot < 0 ? 0 : node.slot};
    }
  }
};

/// Room that most faces fit into, so that they are traced once.
inline constexpr FaceSizes usual_face{8, 384, 32, graph::max_symbols, 8, 0, 0, 0, {}};

/// The result of the first trace: the sizes, and the rest where it fits.
struct FaceAttempt {
  FaceSizes sizes{};
  bool fits = false;
  FrozenFace<usual_face> frozen{};

  constexpr explicit FaceAttempt(const graph::Graph& graph)
      : sizes{face_sizes_of(graph)},
        fits{sizes.inputs <= usual_face.inputs && sizes.parameters <= usual_face.parameters &&
             sizes.knobs <= usual_face.knobs && sizes.symbols <= usual_face.symbols &&
             sizes.outputs <= usual_face.outputs && sizes.taps <= usual_face.taps} {
    if (fits) frozen = FrozenFace<usual_face>{graph};
  }
};

/// The face of a source. Naming it traces; a faulty trace is refused here.
template <class S> struct Face {
private:
  static constexpr FaceAttempt attempt{S::trace()};

  template <FaceSizes Sizes> static constexpr FrozenFace<Sizes> freeze() {
    if constexpr (attempt.fits)
      return {attempt.frozen, Sizes};
    else
      return FrozenFace<Sizes>{S::trace()};
  }

public:
  static constexpr FaceSizes sizes = attempt.sizes;
  static_assert(detail::check_fault<sizes.fault>());
  static constexpr FrozenFace<sizes> frozen = freeze<sizes>();

  /// Its inputs, parameters, numbers, symbols and taps, without a program.
  static constexpr TableView view() {
    TableView table{};
    table.inputs = {frozen.inputs.data(), sizes.inputs};
    table.parameters = {frozen.parameters.data(), sizes.parameters};
    table.knobs = {frozen.knobs.data(), sizes.knobs};
    table.symbols = {frozen.symbols.data(), sizes.symbols};
    table.taps = {frozen.taps.data(), sizes.taps};
    table.outputs = static_cast<int>(sizes.outputs);
    table.slots = sizes.slots;
    return table;
  }
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
