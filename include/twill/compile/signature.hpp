#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Signatures of traced functions: inputs, weights, run-time scalars and results. The trace alone gives them, so a
// question for the number of weights of a model, or the type of its result, does not pay for fusion, which takes many
// times as long. Read next: compile/program_type.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>
#include <twill/core/text.hpp>
#include <twill/graph/graph.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace graph { inline namespace TWILL_ISA {

/// The two values of a fault, and its call, `at<"model.hpp:41">`, in the words of an error message.
template <std::int64_t Left> struct left;
template <std::int64_t Right> struct right;
template <FixedString Site> struct at;

/// Never defined: naming it puts the problem, its values and its line into the compiler's error.
template <Problem P, class LeftValue, class RightValue, class AtSite> struct refused;

}}}} // namespace twill::v0::graph::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// "model.hpp:41".
template <graph::Fault F> consteval auto site_of() {
  constexpr auto characters = [](auto take) {
    for (const char* c = F.file; *c != 0; ++c) take(*c);
    take(':');
    int power = 1;
    while (F.line / power >= 10) power *= 10;
    for (; power > 0; power /= 10) take(static_cast<char>('0' + F.line / power % 10));
  };
  constexpr std::size_t size = [=] {
    std::size_t count = 0;
    characters([&](char) { ++count; });
    return count;
  }();
  char text[size + 1]{};
  char* to = text;
  characters([&](char c) { *to++ = c; });
  return FixedString<size + 1>{text};
}

template <graph::Fault F> constexpr bool check_fault() {
  if constexpr (F.any())
    return sizeof(graph::refused<F.problem, graph::left<F.left>, graph::right<F.right>, graph::at<site_of<F>()>>) >= 1;
  return true;
}

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

  template <SignatureSizes Sizes> static constexpr FrozenSignature<Sizes> freeze() {
    if constexpr (attempt.fits)
      return {attempt.frozen, Sizes};
    else
      return FrozenSignature<Sizes>{S::trace()};
  }

public:
  static constexpr SignatureSizes sizes = attempt.sizes;
  static_assert(detail::check_fault<sizes.fault>());
  static constexpr FrozenSignature<sizes> frozen = freeze<sizes>();

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
    return table;
  }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
