#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Walk over the rows of a grid: keeps the addresses of all operands at the present index of the outer dimensions and
// advances them by additions. Read next: kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/table.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA {

/// The rows of a grid over the dimensions [first, last).
class RowWalk {
public:
  RowWalk(const ProgramTable& program, const Grid& grid, const Operand* bound, int first, int last);

  /// How many rows there are.
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Moves addresses from row 0 to another row.
  void seek(std::int64_t row, std::int64_t* at);

  /// Moves the addresses on by one row.
  void next(std::int64_t* at);
  /// The distance in addresses between rows next to each other, of all operands.
  void distances(std::int64_t* row) const;
  /// Moves the addresses on by one row with these distances, for walks over many rows.
  void next(std::int64_t* at, const std::int64_t* distances);

private:
  void move(int axis, std::int64_t steps, std::int64_t* at) const;

  const ProgramTable* program_;
  const Grid* grid_;
  const Operand* bound_;
  int first_;
  int last_;
  std::int64_t count_ = 1;
  std::int64_t index_[max_rank]; // only the dimensions of the walk are ever set
};

namespace vector_detail {
inline constexpr std::int64_t worth_sharing = 400'000;       ///< additions; below, waking a team costs more
inline constexpr std::int64_t worth_sharing_awake = 100'000; ///< with threads that are awake
} // namespace vector_detail

/// The part of `total` items that a member of a team takes, in multiples of `granule`.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[nodiscard]] constexpr Share share_of(std::int64_t total, std::int64_t granule, int rank, int size) {
  const std::int64_t granules = (total + granule - 1) / granule;
  const std::int64_t begin = granules * rank / size * granule;
  const std::int64_t end = granules * (rank + 1) / size * granule;
  return {.begin = begin, .end = end < total ? end : total};
}

}}}} // namespace twill::v0::kernel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/kernel/walk.ipp>
#endif
