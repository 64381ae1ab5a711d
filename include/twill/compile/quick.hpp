#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tables of quick builds: traced and checked by the compiler like any other, but differentiated, fused and planned by the same
// functions at run time, when they are first used. Their fused programs are interpreted (kernel/interpret.hpp), so that a
// model makes neither constants nor kernels. Only host devices have them. Read next: compile/table_for.hpp.

#include <twill/compile/face.hpp>
#include <twill/compile/program_type.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/operation.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::kernel::inline TWILL_ISA {
class InterpretedProgram;
} // namespace twill::inline v0::kernel::inline TWILL_ISA

namespace twill::inline v0::compile::inline TWILL_ISA {

/// An operation with a kernel of its own, for one element type.
struct OperationKey {
  const graph::Operation* operation = nullptr;
  DType dtype = DType::float32;
};

/// Those of a trace, each once.
struct OperationKeys {
  static constexpr std::size_t most = 64;
  std::array<OperationKey, most> keys{};
  std::size_t count = 0; ///< above `most` if there are too many

  constexpr explicit OperationKeys(const graph::Graph& graph) {
    for (const graph::Node& node : graph.nodes)
      if (node.kind == graph::Kind::operation) add({node.operation, graph::typing_type(graph, node)});
  }

  TWILL_CONSTEXPR void add(const OperationKey& key) {
    for (std::size_t i = 0; i < count && i < most; ++i)
      if (graph::is_same(*keys[i].operation, *key.operation) && keys[i].dtype == key.dtype) return;
    if (count < most) keys[count] = key;
    ++count;
  }
};

/// The function of an operation for one element type.
struct OperationKernel {
  OperationKey key{};
  void (*run)(const Team&, const kernel::Call&) = nullptr;
};

/// A table that was made at run time, and its kernels.
class QuickTable {
public:
  /// throws: ValueError for a graph that cannot be lowered
  QuickTable(graph::Graph traced, std::span<const OperationKernel> operations);
  QuickTable(const QuickTable&) = delete;
  QuickTable& operator=(const QuickTable&) = delete;
  ~QuickTable();

  [[nodiscard]] TableView view() const { return view_of(*lowered_); }
  [[nodiscard]] std::span<const KernelFunction> kernels() const { return kernels_; }

private:
  std::unique_ptr<const Lowered> lowered_;
  std::vector<std::unique_ptr<const kernel::InterpretedProgram>> programs_{};
  std::vector<KernelFunction> kernels_{};
};

/// The table of a source: `Compiled` of quick builds.
template <Source S> struct Quick {
private:
  struct Attempt {
    FaceAttempt face;
    OperationKeys operations;
    constexpr explicit Attempt(const graph::Graph& graph) : face{graph}, operations{graph} {}
  };
  static constexpr Attempt attempt{S::trace()};

  /// Null for what a group or a copy does: it has no kernel.
  template <std::size_t I> static OperationKernel function() {
    constexpr OperationKey key = attempt.operations.keys[I];
    if constexpr (requires { sizeof(KernelOf<key.operation>); })
      return {key, &detail::run_operation<key.operation, scalar_t<key.dtype>>};
    else
      return {key, nullptr};
  }
  template <std::size_t... I> static std::array<OperationKernel, sizeof...(I)> functions(std::index_sequence<I...>) {
    return {function<I>()...};
  }

  static const QuickTable& table() {
    static const QuickTable made{S::trace(), functions(std::make_index_sequence<attempt.operations.count>{})};
    return made;
  }

public:
  static constexpr FaceSizes sizes = attempt.face.sizes;
  static_assert(detail::check_fault<sizes.fault>());
  static_assert(
      attempt.operations.count <= OperationKeys::most,
      "twill: quick builds take models of at most 64 operations and element types; build it without TWILL_QUICK");

  /// Element type, shape and slot of a result.
  template <std::size_t K> static constexpr graph::InputInfo output() {
    if constexpr (attempt.face.fits)
      return attempt.face.frozen.outputs[K];
    else
      return Face<S>::frozen.outputs[K];
  }

  static TableView view() { return table().view(); }
  template <class TeamType> static std::span<const KernelFunction> kernels() { return table().kernels(); }
};

} // namespace twill::inline v0::compile::inline TWILL_ISA
