#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Transposing copies, whose contiguous axes differ between source and destination: `transpose()` and other permutations
// of axes. Along the two axes concerned, blocks of tiles are copied one after another, so that both sides are read and
// written in whole lines of memory; all other axes are walked. The team shares the blocks. Only copying programs
// compile it. Read next: kernel/tabulate.hpp, which offers it to kernel/rows.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/any_team.hpp>
#include <twill/kernel/native.hpp>
#include <twill/kernel/program.hpp>
#include <twill/kernel/streaming.hpp>
#include <twill/kernel/table.hpp>
#include <twill/kernel/tiles.hpp>
#include <twill/kernel/walk.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {

/// An axis that is cut into blocks. The last block takes the remainder, so none is smaller than a tile.
struct BlockedAxis {
  int axis = 0;
  std::int64_t extent = 0;
  std::int64_t block = 0;
  std::int64_t blocks = 0;

  BlockedAxis(const Grid& grid, int number, std::int64_t elements)
      : axis{number}, extent{grid[number]}, block{elements}, blocks{extent < elements ? 1 : extent / elements} {}

  [[nodiscard]] std::int64_t size(std::int64_t number) const {
    return number + 1 < blocks ? block : extent - number * block;
  }
};

/// The axis along which an operand's elements are contiguous; -1 where none has at least this many elements.
[[nodiscard]] inline int side_by_side(const Grid& grid, const Operand& operand, int least) {
  for (int axis = grid.rank - 1; axis >= 0; --axis)
    if (grid[axis] >= least && operand.strides[static_cast<std::size_t>(axis)] == 1) return axis;
  return -1;
}

/// A copy whose two sides are contiguous along different axes.
template <class Word> class TransposedCopy {
public:
  TransposedCopy(const Grid& grid, const Operand* bound, int read, int written)
      : grid_{grid},
        from_{bound[0]},
        to_{bound[1]},
        read_{grid, read, block_elements},
        written_{grid, written, block_elements},
        from_stride_{from_.strides[static_cast<std::size_t>(written)]},
        to_stride_{to_.strides[static_cast<std::size_t>(read)]},
        panels_{grid.elements() / (read_.extent * written_.extent)},
        streams_{grid.elements() * static_cast<std::int64_t>(sizeof(Word)) >= worth_streaming &&
                 to_stride_ * static_cast<std::int64_t>(sizeof(Word)) % vector_bytes == 0} {}

  /// The number of blocks.
  [[nodiscard]] std::int64_t count() const { return panels_ * read_.blocks * written_.blocks; }

  /// Copies the blocks [first, last).
  void run(std::int64_t first, std::int64_t last) const {
    for (std::int64_t number = first; number < last; ++number) {
      std::int64_t rest = number;
      const std::int64_t w = rest % written_.blocks;
      rest /= written_.blocks;
      const std::int64_t r = rest % read_.blocks;
      rest /= read_.blocks;
      const Word* from = static_cast<const Word*>(from_.data) + r * read_.block + w * written_.block * from_stride_;
      Word* to = static_cast<Word*>(to_.data) + r * read_.block * to_stride_ + w * written_.block;
      for (int axis = grid_.rank - 1; axis >= 0 && rest != 0; --axis) {
        if (axis == read_.axis || axis == written_.axis) continue;
        const std::int64_t index = rest % grid_[axis];
        rest /= grid_[axis];
        from += index * from_.strides[static_cast<std::size_t>(axis)];
        to += index * to_.strides[static_cast<std::size_t>(axis)];
      }
      copy_tiles(to, to_stride_, from, from_stride_, written_.size(w), read_.size(r), streams_);
    }
    if (streams_) finish_streams();
  }

private:
  static constexpr std::int64_t block_elements = 4 * tile_lanes(sizeof(Word));

  const Grid& grid_;
  const Operand& from_;
  const Operand& to_;
  BlockedAxis read_;    ///< along which the source is contiguous
  BlockedAxis written_; ///< along which the destination is contiguous
  std::int64_t from_stride_;
  std::int64_t to_stride_;
  std::int64_t panels_;
  bool streams_;
};

/// Runs a program that copies elements of a size (operand 0 to operand 1) if its sides are contiguous along different
/// axes, of a tile's elements at least. Returns whether they are.
template <class Word>
[[gnu::noinline]] bool run_transposed(const ProgramTable& program, const AnyTeam& team, const Grid& grid,
                                      const Operand* bound) {
  constexpr int least = tile_lanes(sizeof(Word));
  const int written = side_by_side(grid, bound[1], least);
  if (written < 0 || bound[0].strides[static_cast<std::size_t>(written)] == 1) return false;
  const int read = side_by_side(grid, bound[0], least);
  if (read < 0 || bound[1].strides[static_cast<std::size_t>(read)] == 1 || grid.elements() == 0) return false;
  const std::int64_t elements = grid.elements();
  AccessCounts::load(0, elements);
  AccessCounts::store(1, elements);
  const TransposedCopy<Word> copy{grid, bound, read, written};
  if (team.size() > 1 && elements * program.operations >= worth_sharing)
    team.parallel([&copy](int rank, int size) {
      const Share mine = share_of(copy.count(), 1, rank, size);
      copy.run(mine.begin, mine.end);
    });
  else
    copy.run(0, copy.count());
  return true;
}

}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail

#if !TWILL_HEADER_ONLY
namespace twill { inline namespace v0 { namespace kernel { inline namespace TWILL_ISA { namespace vector_detail {
TWILL_INSTANCE template bool run_transposed<integer_t<1>>(const ProgramTable&, const AnyTeam&, const Grid&,
                                                          const Operand*);
TWILL_INSTANCE template bool run_transposed<integer_t<2>>(const ProgramTable&, const AnyTeam&, const Grid&,
                                                          const Operand*);
TWILL_INSTANCE template bool run_transposed<integer_t<4>>(const ProgramTable&, const AnyTeam&, const Grid&,
                                                          const Operand*);
TWILL_INSTANCE template bool run_transposed<integer_t<8>>(const ProgramTable&, const AnyTeam&, const Grid&,
                                                          const Operand*);
}}}}} // namespace twill::v0::kernel::TWILL_ISA::vector_detail
#endif
