#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tables of quick builds: traced and checked by the compiler like any other, but differentiated, fused and planned by
// the same functions at run time, at their first use. Their fused programs are interpreted (kernel/interpret.hpp), so a
// model makes neither constants nor kernels. Only host devices have them. Read next: compile/table_for.hpp.

#include <twill/compile/program_type.hpp>
#include <twill/compile/traced.hpp>
#include <twill/core/config.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {
class InterpretedProgram;
}}}} // namespace twill::v0::kernel::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The function of an operation for one element type.
struct OperationKernel {
  OperationKey key{};
  void (*run)(const Team&, const kernel::Launch&) = nullptr;
};

/// A table that was made at run time, and its kernels.
class QuickTable {
public:
  /// throws: ValueError for a graph that cannot be lowered
  QuickTable(graph::Graph traced, std::span<const OperationKernel> operations);
  QuickTable(const QuickTable&) = delete;
  QuickTable& operator=(const QuickTable&) = delete;
  ~QuickTable();

  [[nodiscard]] TableView view() const;
  [[nodiscard]] std::span<const KernelFunction> kernels() const;

private:
  std::unique_ptr<const Lowered> lowered_;
  std::vector<std::unique_ptr<const kernel::InterpretedProgram>> programs_{};
  std::vector<KernelFunction> kernels_{};
};

/// The table of a source: `Compiled` of quick builds.
template <Source S> struct Quick {
private:
  static constexpr OperationKeys operations = Traced<S>::operations;

  /// Null for a call of a group or a copy: these have no kernel.
  template <std::size_t I> static OperationKernel function() {
    constexpr OperationKey key = operations.keys[I];
    if constexpr (requires { sizeof(KernelOf<key.operation>); })
      return {key, &detail::run_operation<key.operation, scalar_t<key.dtype>>};
    else
      return {key, nullptr};
  }
  template <std::size_t... I> static std::array<OperationKernel, sizeof...(I)> functions(std::index_sequence<I...>) {
    return {function<I>()...};
  }

  static const QuickTable& table() {
    static const QuickTable made{trace_of<S>(), functions(std::make_index_sequence<operations.count>{})};
    return made;
  }

public:
  static constexpr SignatureSizes sizes = Traced<S>::sizes;
  static_assert(
      operations.count <= OperationKeys::most,
      "twill: quick builds take models of at most 64 operations and element types; build it without TWILL_QUICK");

  /// Element type, shape and slot of a result.
  template <std::size_t K> static constexpr graph::InputInfo output() { return Traced<S>::template output<K>(); }

  static TableView view() {
    TableView all = table().view();
    all.name = call_name_of<S>();
    return all;
  }
  template <class TeamType> static std::span<const KernelFunction> kernels() { return table().kernels(); }
};

}}}} // namespace twill::v0::compile::TWILL_ISA
