#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Program types of constexpr tables. `Compiled<Source>` runs every pass once for a tag type, whose trace is then known
// only by that short name; `kernels<Source>` are the functions of its distinct kernels, made from `kernel::Program`
// types that equal pieces of different models share. Faulty traces stop here. Read next: compile/run/executor.hpp.

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/signature.hpp>
#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/common_programs.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/run.hpp>
#include <twill/kernel/small_launch.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// The kernel of an operation: specialise it for a constexpr `graph::Operation` with a static template `run<T>(const
/// Team&, const kernel::Launch&)`, overloaded on, or generic in, the teams of the devices that it knows. If it needs
/// memory on hosts, `reserve<T>(const Team&, const kernel::Launch&)` takes as much in each thread that will need it;
/// `resolve<T>(const kernel::Launch&)` may give the `kernel::SmallLaunch` of launches on few elements.
template <const graph::Operation* O> struct KernelOf;

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// A kernel over bound operands on a host device's team: the function of an operation, or the table of a fused program.
struct KernelFunction {
  void (*operation)(const Team&, const kernel::Launch&) = nullptr;
  const kernel::ProgramTable* program = nullptr;

  void operator()(const Team& team, const kernel::Launch& launch) const {
    if (program != nullptr)
      kernel::run_table(*program, kernel::AnyTeam{team}, launch.grid, launch.operands);
    else
      operation(team, launch);
  }

  /// Takes the working memory of such a call in each thread that will need it, and computes nothing.
  void reserve(const Team& team, kernel::Launch launch) const {
    if (program != nullptr) return kernel::reserve_table(*program, kernel::AnyTeam{team}, launch.grid, launch.operands);
    launch.only_reserves = true;
    operation(team, launch);
  }

  /// The small launch of calls that differ from this one by addresses alone; one without `run` where there is none.
  [[nodiscard]] kernel::SmallLaunch resolve(kernel::Launch launch) const {
    if (program != nullptr) return kernel::small_launch(*program, launch.grid, launch.operands);
    kernel::SmallLaunch resolved{};
    launch.only_reserves = true;
    launch.resolved = &resolved;
    if (operation != nullptr) operation(Team::serial(), launch);
    return resolved;
  }
};

/// A kernel for a team that starts kernels by name, where several launches can be one kernel.
template <class TeamType> struct StartedKernel {
  void (*run)(const TeamType&, const kernel::Launch&) = nullptr;
  void (*run_joined)(const TeamType&, const kernel::JoinedLaunch*, std::size_t) = nullptr; ///< where a table has such
};

/// The function that runs one kernel on a team of this type.
template <class TeamType>
using KernelFunctionOn = std::conditional_t<std::is_same_v<TeamType, Team>, KernelFunction, StartedKernel<TeamType>>;

/// A source is a tag type whose `trace()` gives a finished `graph::Graph`.
template <class S>
concept Source = requires {
  { S::trace() } -> std::same_as<graph::Graph>;
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// The place of result k among the values.
TWILL_CONSTEXPR std::size_t place_of_output(const TableView& table, std::size_t k) {
  std::size_t found = 0;
  for (std::size_t v = 0; v < table.values.size(); ++v)
    if (table.values[v].storage == Storage::output && table.values[v].index == static_cast<int>(k)) found = v;
  return found;
}

template <class S, class TeamType> std::span<const KernelFunctionOn<TeamType>> kernels_of();

/// An operation on a host device's team. If it does not reserve memory, only the threads are made sure of.
template <const graph::Operation* O, class T> void run_operation(const Team& team, const kernel::Launch& launch) {
  if (launch.only_reserves) [[unlikely]] {
    if (launch.resolved != nullptr) {
      if constexpr (requires { KernelOf<O>::template resolve<T>(launch); })
        *launch.resolved = KernelOf<O>::template resolve<T>(launch);
      return;
    }
    if constexpr (requires { KernelOf<O>::template reserve<T>(team, launch); })
      return KernelOf<O>::template reserve<T>(team, launch);
    else
      return team.parallel([](int, int) {});
  }
  KernelOf<O>::template run<T>(team, launch);
}

/// The one function of a program for a team that starts kernels by name, for all models.
template <class TeamType, class... Lines> void run_program(const TeamType& team, const kernel::Launch& launch) {
  run(kernel::Program<Lines...>{}, team, launch.grid, launch.operands);
}

template <class TeamType, class... Lines>
void run_joined_program(const TeamType& team, const kernel::JoinedLaunch* launches, std::size_t count) {
  run_joined(kernel::Program<Lines...>{}, team, launches, count);
}

template <class S, class TeamType, std::size_t K, std::size_t First, std::size_t... I>
constexpr KernelFunctionOn<TeamType> program_function(std::index_sequence<I...>) {
  if constexpr (std::is_same_v<TeamType, Team>)
    return {nullptr,
            &kernel::table_of<kernel::Program<typename kernel::TypeOfLine<S::parts.lines[First + I]>::type...>>};
  else if constexpr (S::parts.is_joined[K])
    return {&run_program<TeamType, typename kernel::TypeOfLine<S::parts.lines[First + I]>::type...>,
            &run_joined_program<TeamType, typename kernel::TypeOfLine<S::parts.lines[First + I]>::type...>};
  else
    return {&run_program<TeamType, typename kernel::TypeOfLine<S::parts.lines[First + I]>::type...>, nullptr};
}

template <class S, class TeamType, std::size_t K> constexpr KernelFunctionOn<TeamType> kernel_function() {
  constexpr KernelInfo info = S::parts.kernels[K];
  if constexpr (S::parts.is_without_kernel[K])
    return {};
  else if constexpr (info.kind == KernelKind::operation && std::is_same_v<TeamType, Team>)
    return {&run_operation<S::operation(K), scalar_t<info.dtype>>, nullptr};
  else if constexpr (info.kind == KernelKind::operation)
    return {&KernelOf<S::operation(K)>::template run<scalar_t<info.dtype>>, nullptr};
  else
    return program_function<S, TeamType, K, static_cast<std::size_t>(info.first_line)>(
        std::make_index_sequence<static_cast<std::size_t>(info.line_count)>{});
}

template <class S, class TeamType, std::size_t... K>
constexpr std::array<KernelFunctionOn<TeamType>, sizeof...(K)> kernel_functions(std::index_sequence<K...>) {
  return {kernel_function<S, TeamType, K>()...};
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The room that a source is likely to need: a source may give its own.
template <Source S> [[nodiscard]] constexpr TableSizes room_of() {
  if constexpr (requires { S::room(); })
    return S::room();
  else
    return usual_room;
}

/// The tables of a source. Naming it compiles the trace; a faulty one is refused here. The parts that types are made of
/// are small arrays: compilers take time for each look into a constant in proportion to its whole size.
template <Source S> struct Compiled {
private:
  static constexpr TableSizes room = room_of<S>();
  static constexpr Attempt<room> attempt{lower(S::trace())};

  template <TableSizes Sizes> static constexpr Frozen<Sizes> freeze_all() {
    if constexpr (fits(Sizes, room)) {
      return {attempt.frozen.table, attempt.frozen.operations, Sizes};
    } else {
      const Lowered lowered = lower(S::trace());
      return {lowered, lowered.operations, Sizes};
    }
  }

public:
  static constexpr TableSizes sizes = attempt.sizes;
  static_assert(sizeof(detail::FaultCheck<sizes.fault>) >= 1);

private:
  static constexpr Frozen<sizes> frozen = freeze_all<sizes>();

public:
  static constexpr FrozenTable<sizes> table = frozen.table; ///< without the operations, which no run refers to
  static constexpr ProgramParts<sizes> parts{frozen};
  static constexpr const graph::Operation* operation(std::size_t kernel) { return parts.operations[kernel]; }
  static constexpr TableView view() {
    TableView all = view_of(table);
    all.name = call_name_of<S>();
    return all;
  }
  template <class TeamType> static std::span<const KernelFunctionOn<TeamType>> kernels() {
    return detail::kernels_of<S, TeamType>();
  }

  /// Element type, shape and slot of a result.
  template <std::size_t K> static constexpr ValueInfo output() {
    return table.values[detail::place_of_output(view(), K)];
  }
};

/// The kernels of a source, in the order of its table. Device kinds with one type of team share them.
template <Source S, class TeamType = Team>
inline constexpr auto
    kernels = detail::kernel_functions<Compiled<S>, TeamType>(std::make_index_sequence<Compiled<S>::sizes.kernels>{});

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {
template <class S, class TeamType> std::span<const KernelFunctionOn<TeamType>> kernels_of() {
  return compile::kernels<S, TeamType>;
}
}}}}} // namespace twill::v0::compile::detail::TWILL_ISA
