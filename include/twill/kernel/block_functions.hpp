#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions over blocks of values, one for each primitive and type: the vocabulary of interpreted programs. A block
// holds values side by side in the type that they are computed in (float for the 16-bit types, bytes of 0 and 1 for
// truth values); a shared argument is one repeated pack. They loop over the packs of kernel/apply_pack.hpp, so the bits
// are those of compiled programs. Not in the umbrella. Read next: kernel/interpreted_stage.hpp.

#include <twill/core/dtype.hpp>
#include <twill/kernel/block_packs.hpp>
#include <twill/kernel/primitive.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// Computes a block of `count` values, whole packs of the calling program.
using BlockFunction = void (*)(std::byte* to, const BlockArgument* from, std::int64_t count);

/// Computes one value that a row shares, in scalar arithmetic.
using SharedValueFunction = void (*)(std::byte* to, const std::byte* const* from);

/// The functions that compute a line of an interpreted program.
struct LineFunctions {
  BlockFunction block = nullptr;
  SharedValueFunction shared = nullptr;
};

/// Functions of a primitive on arguments of a type (`where`: of its second); null where the primitive does not take it.
[[nodiscard]] LineFunctions functions_of(Primitive primitive, DType type);

/// The functions of a conversion.
[[nodiscard]] LineFunctions functions_of_cast(DType to, DType from);

/// Functions that bring elements of a type into blocks and out of them.
struct ElementFunctions {
  /// Loads elements `j` to `j + count` of a row.
  void (*load)(std::byte* to, std::int64_t at, std::int64_t stride, std::int64_t j, std::int64_t count) = nullptr;
  /// Loads elements of a gathered row; `live`: how many have an address, `plain` for all.
  void (*gather)(std::byte* to, std::int64_t at, std::int64_t stride, StoreMode live, std::int64_t j,
                 const BlockArgument& offsets, std::int64_t count) = nullptr;
  void (*store)(std::int64_t at, std::int64_t stride, StoreMode mode, std::int64_t j, const std::byte* from,
                std::int64_t count) = nullptr;
  void (*load_shared)(std::byte* slot, const void* from) = nullptr;
  void (*store_shared)(const std::byte* slot, std::int64_t at, std::int64_t stride, std::int64_t count) = nullptr;
  void (*store_sums)(const std::byte* sums, std::int64_t at, std::int64_t stride, std::int64_t count) = nullptr;
};

[[nodiscard]] const ElementFunctions& functions_of_elements(DType type);

/// Functions of a reduction over blocks. Its sums are `lanes` times accumulators values, side by side.
struct ReductionFunctions {
  /// Combines `count` values with 1, 2 or 4 accumulators in turn. requires: whole rounds
  using Accumulate = void (*)(std::byte* sums, const std::byte* values, std::int64_t count);
  Accumulate accumulate[3] = {};
  /// Initialises sums. requires: a multiple of the lanes
  void (*start)(std::byte* sums, std::int64_t count) = nullptr;
  /// Reduces down the columns: adds a few rows, `pitch` bytes apart, to sums, or begins the sums with them.
  void (*rows)(std::byte* sums, bool add, const std::byte* values, std::int64_t pitch, std::int64_t height,
               std::int64_t count) = nullptr;
  void (*finish)(const std::byte* accumulators, int block_bytes, std::byte* slot) = nullptr;
  void (*tree)(std::byte* first, std::int64_t stride_bytes, std::int64_t count) = nullptr;
  void (*clear)(std::byte* sums, std::int64_t count) = nullptr;
  void (*add)(std::byte* sums, const std::byte* more, std::int64_t columns) = nullptr;
};

/// Functions of a reduction of values of a type in a program of `lanes` lanes; null where it does not take the type.
[[nodiscard]] ReductionFunctions functions_of(Reduction reduction, DType type, int lanes, int accumulators);

/// Fills a block with a value that a row shares.
void fill_block(std::byte* to, const std::byte* value, int bytes, std::int64_t count);

/// The reciprocal of a shared float or double, as a pack that all elements share.
void fill_reciprocal(std::byte* to, const std::byte* value, bool is_double);

/// Fills a block with indices `j` to `j + count` of a row.
void load_indices(std::byte* to, std::int64_t at, std::int64_t stride, std::int64_t j, std::int64_t count);

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/block_functions.ipp>
#include <twill/kernel/block_memory.ipp>
#include <twill/kernel/block_reductions.ipp>
#endif
