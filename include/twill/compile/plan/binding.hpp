#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Binding of a table to sizes: every grid, stride, immediate and arena offset as a number, and the segments of its
// runs. Made once for each batch size and kept; only the addresses outside the arena change between runs. Independent
// of devices. Read next: compile/run/executor.hpp.

#include <twill/compile/plan/segments.hpp>
#include <twill/compile/table.hpp>
#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/run_recorder.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/kernel/coalesce.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/small_launch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// The numbers of all symbols from the extents of the inputs of a call, made at `site` where that is known.
/// throws: ShapeError naming the call, the input, the axis and both values
[[nodiscard]] graph::SymbolValues resolve_symbols(const TableView& table, std::span<const Dims> inputs,
                                                  const CallSite& site = {});

/// The role of an instruction in an update that is made inside a product, see compile/plan/fused_sgd.hpp.
enum class FusedSgdPart : std::uint8_t {
  none,          ///< it runs unchanged
  keeps_factors, ///< a product that is not multiplied: its factors are kept in its place
  updates,       ///< multiplies them, and changes the weight by each element
};

/// One launch with everything but outside addresses filled in.
struct BoundInstruction {
  std::size_t kernel = 0; ///< in the table's list
  kernel::Grid grid{};
  std::size_t first_operand = 0;
  std::size_t operand_count = 0;
  std::size_t first_shape = 0;
  const std::int64_t* attributes = nullptr;
  std::size_t members = 1; ///< instructions of the launch that begins here
  kernel::Collective collective = kernel::Collective::none;
  FusedSgdPart part = FusedSgdPart::none;
  bool has_fused_sgd = false;                 ///< some instruction of the launch that begins here has such a part
  std::size_t product = 0;                    ///< of an update inside a product: the instruction of the product
  const kernel::SmallLaunch* small = nullptr; ///< on hosts, of an instruction that works on few elements
};

/// An operand whose address is given in each run.
struct OutsideOperand {
  std::size_t operand = 0;
  Storage storage = Storage::input;
  std::size_t index = 0;
  std::int64_t start = 0; ///< bytes from the first element to that of the first steps of its loops
};

/// An operand that moves from step to step of a loop.
struct SteppingOperand {
  std::size_t operand = 0;
  std::int64_t step = 0; ///< bytes, or positions
  bool is_position = false;
};

/// Instructions that run for every step, with those of loops inside, which follow in the list, and which operands move
/// then.
struct BoundLoop {
  std::size_t first = 0; ///< instruction
  std::size_t end = 0;
  std::int64_t count = 0;
  std::size_t first_moving = 0;
  std::size_t end_moving = 0;
};

/// An operand that counts the elements of a random tensor from the run's first row on.
struct RandomOperand {
  std::size_t operand = 0;
  std::int64_t elements_per_row = 0;
  std::int64_t start = 0; ///< the position in the first steps of its loops
};

struct KernelFunction;
struct Binding;

/// Runs the instructions of a launch of which some have a part in a fused SGD update.
using FusedSgdFunction = void (*)(const Team&, const Binding&, const KernelFunction&,
                                  std::span<const BoundInstruction>);

struct Binding {
  /// An instruction's launch of its kernel.
  [[nodiscard]] kernel::Launch launch_of(const BoundInstruction& instruction) const;

  graph::SymbolValues symbols{};
  List<BoundInstruction> instructions{};
  List<kernel::SmallLaunch> small{}; ///< see `resolve_small_launches`
  List<kernel::Operand> operands{};
  List<DType> dtypes{};           ///< of each operand
  List<Dims> shapes{};            ///< of the operands of operations
  List<OutsideOperand> outside{}; ///< inputs, outputs and parameters; last those that stay where the parameters stay
  std::size_t first_staying = 0;  ///< among `outside`
  List<OutsideOperand> numbers{}; ///< run-time numbers
  List<OutsideOperand> inside{};  ///< `index` is the offset in the arena
  List<RandomOperand> random{};
  List<BoundLoop> loops{};
  Segments segments{};
  List<SteppingOperand> moving{};
  List<std::size_t> value_bytes{};
  List<SlotArena> arenas{}; ///< for each slot
  std::size_t arena_bytes = 0;
  FusedSgdFunction run_fused_sgd = nullptr; ///< by a pointer: programs without SGD on hosts hold no code for it
  cpu::KeptOrders* orders = nullptr;        ///< of the run's weights, if the caller keeps them
  std::shared_ptr<const std::vector<NodeInfo>> nodes{}; ///< descriptions of the launches, after the first request
};

}}}} // namespace twill::v0::compile::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Refuses an input whose extent along an axis, or whose rank, `axis` -1, is not the declared one.
[[noreturn]] void refuse_shape(const TableView& table, std::span<const Dims> inputs, const CallSite& site,
                               std::size_t input, int axis);

void check_requirements(const TableView& table, const graph::SymbolValues& symbols);

void bind_operand(const OperandBinding& info, const graph::SymbolValues& symbols, kernel::Operand& operand);

/// The distance by which an operand moves in the steps of a loop, backwards where the loop is reversed, and its offset
/// from its first element to the loop's first step.
struct Stepping {
  std::int64_t step = 0;
  std::int64_t start = 0;
};
[[nodiscard]] Stepping stepping_of(const OperandBinding& info, const LoopRegion& loop,
                                   const graph::SymbolValues& symbols);

/// The loops of a table, and how the operands of their instructions move.
void bind_loops(Binding& binding, const TableView& table);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Fills in every number that depends on the sizes. throws: ShapeError naming the layer that they do not suit
[[nodiscard]] Binding bind(const TableView& table, const graph::SymbolValues& symbols);

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/plan/binding.ipp>
#endif
