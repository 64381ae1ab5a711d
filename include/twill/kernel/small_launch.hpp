#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches of a few packs on a host device, resolved once for a grid and the strides of its operands: in such a launch
// decisions about layouts, ends of rows, shares of threads and libraries take longer than the arithmetic. A run takes
// the addresses and calls the functions that a general launch would call, in its order, so the bits are equal. Read
// next: compile/run/launch.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// A resolved launch of a program or of a matrix product. It runs in the calling thread.
struct SmallLaunch {
  static constexpr std::size_t most_operands = 16;
  using Run = void (*)(const SmallLaunch& own, const Operand* operands);

  static constexpr std::size_t most_reductions = 4;

  /// An operand that is copied: a row that repeats, or the end of a row that does not fill a pack, into a register's
  /// room.
  struct Copy {
    int operand = 0;
    int bytes = 0; ///< of the elements
    int room = 0;  ///< of a row that repeats, in whole registers
    int shift = 0; ///< bytes of the row that are not copied
  };

  Run run = nullptr; ///< null for a launch that is not small
  const ProgramTable* program = nullptr;
  std::int64_t rows = 0;                            ///< that are not run as one, or of a product's result
  std::int64_t columns = 0;                         ///< the elements of a row; of a row of a product's result
  std::int64_t inner = 0;                           ///< of a product; of a program: the elements in whole packs
  std::array<std::int64_t, most_operands> stride{}; ///< along the row; of a product's factors, down and along
  std::array<std::int64_t, most_operands> down{};   ///< bytes from row to row
  std::array<int, most_operands> source{};          ///< bytes from the first operand to each one's address or number
  std::array<Copy, most_operands> copies{};         ///< rows that repeat, then ends of inputs, then ends of outputs
  std::array<Copy, most_operands> sums{};           ///< results of reductions: operand, and `shift` is their place
  std::array<std::uint64_t, most_reductions> identity{}; ///< of a row's reductions, again and again in eight bytes
  int repeated = 0;                                      ///< the end of each kind among the copies
  int inputs = 0;
  int outputs = 0;
  int sum_count = 0;
};

/// The resolved launch of a program; one without `run` where the launch is not small, or needs the general way.
[[nodiscard]] SmallLaunch small_launch(const ProgramTable& program, const Grid& grid, const Operand* operands);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/small_launch.ipp>
#endif
