#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Fused programs: a straight-line list of small named lines, as a type. The type is the key of a kernel, so two equal
// pieces of different networks share one. Lines are numbered from 0; each defines a value that later lines name by its
// number. Types, steps and kinds of leaf are in the type; extents, strides, addresses and constants are operands. Lazy
// expressions and the graph compiler both produce programs. Read next: kernel/run.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/primitive.hpp>

#include <array>
#include <cstdint>

namespace twill { inline namespace v0 { namespace cpu {
class KeptOrders;
}}} // namespace twill::v0::cpu

namespace twill { inline namespace v0 { namespace kernel {

/// How a leaf moves along the last dimension of the grid: by one element, not at all, or by any stride.
enum class Access : std::uint8_t { contiguous, uniform, strided };

/// A leaf that reads memory. Takes an operand.
template <Scalar T, Access A> struct In {};

/// A leaf whose value is in the operand itself. Takes an operand.
template <Scalar T> struct Immediate {};

/// A leaf that gives its position: the int64 `base + sum over d of index[d] * strides[d]`. Takes an operand.
struct Iota {};

/// A leaf that reads where an int64 line says: the element `value(Argument) + sum over d of index[d] * strides[d]`
/// after `data`. A is the movement of the strides alone. Takes an operand. The argument's author is responsible for the
/// addresses; an output must not overlap the gathered elements, nor the sources of the argument.
template <Scalar T, int Argument, Access A = Access::uniform> struct Gather {};

/// One primitive applied to earlier values of one common type (`where`: bool, T, T; the random draws: four int64).
template <Primitive P, int... Arguments> struct Step {};

/// A conversion, as static_cast converts; to bool: different from zero.
template <Scalar T, int Argument> struct Cast {};

/// Combines a value over the last dimension of the grid (the row); the result is uniform in the row.
template <Reduction R, int Argument> struct Reduce {};

/// Like `Reduce`, to bits that depend on the row alone, and not on what else the program computes: in one accumulator,
/// and no division by the result becomes a product.
template <Reduction R, int Argument> struct ReduceInOrder {};

/// Combines a value over the first dimension of the grid (down the columns); only `Out` may use the result.
template <Reduction R, int Argument> struct ReduceColumns {};

/// Stores an earlier value, which has to be of type T. Takes an operand: stride 0 along the reduced dimension.
template <Scalar T, int Argument> struct Out {};

/// The whole program; `Out` lines come last.
template <class... Lines> struct Program {};

/// The binding of a leaf or an output, in the order of the lines that take operands.
struct Operand {
  void* data = nullptr;                         ///< In, Gather, Out: the element at index 0 of the grid
  std::uint64_t bits = 0;                       ///< Immediate: the value's bit pattern, low bytes first; Iota: the base
  std::array<std::int64_t, max_rank> strides{}; ///< In, Gather, Out, Iota: in elements, one for each dimension
};

/// The iteration space. The last dimension is the row.
using Grid = Dims;

/// One of several launches of a program that share a kernel.
struct JoinedLaunch {
  const Grid* grid = nullptr;        ///< what it runs over
  const Operand* operands = nullptr; ///< in the order of the lines that take some
};

inline namespace TWILL_ISA {

struct SmallLaunch;

/// A launch, as an operation's `run` receives it.
struct Launch {
  const Grid& grid;                  ///< what it runs over
  const Operand* operands = nullptr; ///< the inputs, then the results; a further result that is not read has no data

  // For operations only.
  const Dims* shapes = nullptr;             ///< of each operand, in its own axes
  const DType* dtypes = nullptr;            ///< of each operand
  const std::int64_t* attributes = nullptr; ///< the integers that the operation was traced with
  cpu::KeptOrders* orders = nullptr; ///< of weights and their gradients in other runs, see device/cpu/kept_orders.hpp
  bool only_reserves = false;        ///< takes the working memory of the launch and computes nothing
  SmallLaunch* resolved = nullptr;   ///< of a launch that only reserves: it is resolved instead, if it can be
};

} // namespace TWILL_ISA

}}} // namespace twill::v0::kernel
