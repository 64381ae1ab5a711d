#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Column programs on a GPU: reductions down the first dimension, such as bias gradients and batch statistics. A block
// owns a few chunks of columns, side by side, and a fixed share of the rows, which its threads take in turn; their sums
// are added in shared memory as a tree. Where one block a column would leave processors idle, several share the rows,
// and the last to finish adds their sums. Shares and order depend on shapes and layouts alone, never on the device:
// equal bits everywhere. Read next: kernel/gpu/columns_plan.hpp.

#include <twill/core/config.hpp>
#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/columns_plan.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/lines.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/gpu/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The sums of line I, one for each lane.
template <int I, class T, int Lanes> struct SumSlot { T values[Lanes]{}; };
template <int I, class T, int Lanes> [[nodiscard]] constexpr T* sums_of(SumSlot<I, T, Lanes>& slot) {
  return slot.values;
}

/// The kernel of a column program.
template <class P> struct Columns {
  using L = Lines<P>;
  using Own = ColumnParameters<L::operands>;
  static constexpr int most_threads = column_threads;
  static constexpr int lanes = L::lanes;
  /// Rows that a thread loads before it adds the first.
  static constexpr int rows = rows_of_thread(bytes_of_chunk(summary_of<P>.lines.data(), L::count, lanes));

  struct IsReduction {
    static consteval bool wants(int i) { return L::line(i).kind == LineKind::reduce_columns; }
  };
  struct IsColumnOutput {
    static consteval bool wants(int i) { return L::line(i).kind == LineKind::output && L::line(i).column; }
  };
  using Reductions = typename L::template Where<IsReduction>;
  using ColumnOutputs = typename L::template Where<IsColumnOutput>;

  /// The bytes of all sums of a column, in the form that blocks leave for the last one.
  static constexpr int sum_bytes = 8 * static_cast<int>(Reductions::size());

  template <class Block> constexpr void operator()(const Block& block, const Own& parameters) const {
    typename Block::template Local<Sums> sums;
    block.each([&](int thread) {
      sums[thread] = Sums{};
      add_rows(sums[thread], parameters, block.block(), thread, Reductions{});
    });
    meet(block, parameters, sums, Reductions{});
    if (parameters.shares == 1) return;
    const std::uint32_t group = group_of(parameters, block.block());
    if (!block.is_last(parameters.counters + group, parameters.shares)) return;
    block.each([&](int thread) {
      sums[thread] = Sums{};
      add_shares(sums[thread], parameters, block.block(), thread, Reductions{});
    });
    finish(block, parameters, sums, Reductions{});
  }

private:
  template <class Lines> struct SumFile;
  template <int... I> struct SumFile<Numbers<I...>> : SumSlot<I, typename L::template Computed<I>, lanes>... {};
  using Sums = SumFile<Reductions>;
  struct Row {
    ChunkCursor<L::operands> cursor{};
    Place place{};
    typename L::Leaves leaves{};
  };
  struct LoadedRows {
    Row at[rows]{};
  };

  // The columns and rows of a thread. Blocks of one share of rows follow each other.
  [[nodiscard]] static constexpr std::uint32_t share_of_block(const Own& p, int block) {
    return p.groups.quotient(static_cast<std::uint32_t>(block));
  }
  [[nodiscard]] static constexpr std::uint32_t group_of(const Own& p, int block) {
    return static_cast<std::uint32_t>(block) - share_of_block(p, block) * p.groups.value;
  }
  [[nodiscard]] static constexpr int column_lane(const Own& p, int thread) { return thread & (p.column_lanes - 1); }
  [[nodiscard]] static constexpr int row_lane(const Own& p, int thread) { return thread >> p.column_shift; }
  [[nodiscard]] static constexpr std::uint32_t chunk_of(const Own& p, int block, int thread) {
    return group_of(p, block) * static_cast<std::uint32_t>(p.column_lanes) +
           static_cast<std::uint32_t>(column_lane(p, thread));
  }

  /// Advances a cursor by `count` rows.
  template <int... I>
  static constexpr void move_down(ChunkCursor<L::operands>& cursor, const Own& p, std::int64_t count, Numbers<I...>) {
    (move_one_down<I>(cursor, p.grid.operands[L::line(I).operand].down * count), ...);
  }
  template <int I> static constexpr void move_one_down(ChunkCursor<L::operands>& cursor, std::int64_t distance) {
    constexpr int own = L::line(I).operand;
    if constexpr (L::line(I).kind == LineKind::iota)
      cursor.number[own] += distance;
    else
      cursor.at[own] += distance * static_cast<std::int64_t>(sizeof(typename L::template Element<I>));
  }

  template <int... R>
  static constexpr void add_rows(Sums& sums, const Own& p, int block, int thread, Numbers<R...> reductions) {
    (clear<R>(sums), ...);
    const std::int64_t first = std::int64_t{share_of_block(p, block)} * p.share_rows;
    const std::int64_t last = first + p.share_rows < p.rows ? first + p.share_rows : p.rows;
    std::int64_t row = first + row_lane(p, thread);
    if (row >= last) return; // past the last row
    ChunkCursor<L::operands> cursor{};
    Place place{};
    L::locate(cursor, place, p.grid, chunk_of(p, block, thread), typename L::Moving{});
    if (place.remaining <= 0) return;
    move_down(cursor, p, row, typename L::Moving{});
    TWILL_NO_UNROLL
    for (; row < last; row += std::int64_t{rows} * p.row_lanes)
      some_rows(sums, cursor, place, p, row, last, reductions, All<rows>{});
  }

  template <int... R, int... C>
  static constexpr void some_rows(Sums& sums, ChunkCursor<L::operands>& cursor, const Place& place, const Own& p,
                                  std::int64_t row, std::int64_t last, Numbers<R...> reductions, Numbers<C...>) {
    LoadedRows own{};
    (start(own.at[C], cursor, place, p, row + C * p.row_lanes, last, typename L::Inputs{}), ...);
    (add(sums, own.at[C], p, reductions, typename L::Inputs{}, typename L::Outputs{}), ...);
  }

  /// Issues the loads of a row and moves on to the next.
  template <int... I>
  static constexpr void start(Row& own, ChunkCursor<L::operands>& cursor, const Place& place, const Own& p,
                              std::int64_t row, std::int64_t last, Numbers<I...>) {
    if (row >= last) return;
    own.cursor = cursor;
    own.place = place;
    (L::template load<I, Path::any>(own.leaves, own.cursor, p.grid, own.place), ...);
    if (row + p.row_lanes < last) move_down(cursor, p, p.row_lanes, typename L::Moving{});
  }

  template <int... R, int... I, int... O>
  static constexpr void add(Sums& sums, Row& own, const Own& p, Numbers<R...> reductions, Numbers<I...>,
                            Numbers<O...> outputs) {
    if (own.place.remaining <= 0) return;
    (L::template settle<I>(own.leaves, p.grid), ...);
    typename L::Results results{};
    typename L::Lane lane{};
    TWILL_UNROLL
    for (int number = 0; number < lanes; ++number)
      add_lane(sums, lane, results, own, p, number, typename L::Values{}, outputs, reductions);
    (L::template store<O, Path::any>(results, own.cursor, p.grid, own.place), ...);
  }
  template <int... V, int... O, int... R>
  static constexpr void add_lane(Sums& sums, typename L::Lane& lane, typename L::Results& results, const Row& own,
                                 const Own& p, int number, Numbers<V...>, Numbers<O...>, Numbers<R...>) {
    (L::template compute<V, Path::any>(lane, own.leaves, own.cursor, p.grid, own.place, number), ...);
    (L::template keep<O>(results, lane, number), ...);
    ((sums_of<R>(sums)[number] =
          combine<L::line(R).reduction>(sums_of<R>(sums)[number], value_of<L::line(R).arguments[0]>(lane))),
     ...);
  }

  template <int R> static constexpr void clear(Sums& sums) {
    TWILL_UNROLL
    for (int k = 0; k < lanes; ++k)
      sums_of<R>(sums)[k] = identity<L::line(R).reduction, typename L::template Computed<R>>();
  }

  /// The number of reductions before line R.
  template <int R, int... Each> [[nodiscard]] static consteval int ordinal_of(Numbers<Each...>) {
    return (0 + ... + (Each < R ? 1 : 0));
  }
  /// The place of a share's sums of line R until the last block reads them.
  template <int R>
  [[nodiscard]] static constexpr auto* waiting(const Own& p, std::uint32_t share, std::uint32_t chunk) {
    using T = typename L::template Computed<R>;
    constexpr std::int64_t ordinal = ordinal_of<R>(Reductions{});
    const std::int64_t columns = std::int64_t{p.grid.walk.chunks} * lanes;
    return reinterpret_cast<T*>(p.partial + ((share * std::int64_t{sum_bytes / 8} + ordinal) * columns) * 8) +
           std::int64_t{chunk} * lanes;
  }

  template <int... R> static constexpr void add_shares(Sums& sums, const Own& p, int block, int thread, Numbers<R...>) {
    (clear<R>(sums), ...);
    const std::uint32_t chunk = chunk_of(p, block, thread);
    if (chunk >= p.grid.walk.chunks) return;
    TWILL_NO_UNROLL
    for (auto share = static_cast<std::uint32_t>(row_lane(p, thread)); share < p.shares;
         share += static_cast<std::uint32_t>(p.row_lanes))
      (add_waiting<R>(sums, waiting<R>(p, share, chunk)), ...);
  }
  template <int R, class T> static constexpr void add_waiting(Sums& sums, const T* from) {
    TWILL_UNROLL
    for (int k = 0; k < lanes; ++k) sums_of<R>(sums)[k] = combine<L::line(R).reduction>(sums_of<R>(sums)[k], from[k]);
  }

  /// Combines the sums of a block's rows; a single block stores the results, others leave their sums to the last.
  template <class Block, class Local, int... R>
  static constexpr void meet(const Block& block, const Own& p, Local& sums, Numbers<R...>) {
    (meet_one<R>(block, p, sums, p.shares == 1), ...);
  }
  template <class Block, class Local, int... R>
  static constexpr void finish(const Block& block, const Own& p, Local& sums, Numbers<R...>) {
    (meet_one<R>(block, p, sums, true), ...);
  }
  template <int R, class Block, class Local>
  static constexpr void meet_one(const Block& block, const Own& p, Local& sums, bool stores) {
    using T = typename L::template Computed<R>;
    T* shared = block.template shared<T>();
    block.barrier(); // earlier contents have been read
    block.each([&](int thread) {
      TWILL_UNROLL
      for (int k = 0; k < lanes; ++k) shared[thread * lanes + k] = sums_of<R>(sums[thread])[k];
    });
    block.barrier();
    TWILL_NO_UNROLL
    for (int step = p.row_lanes / 2; step > 0; step /= 2) {
      block.each([&](int thread) {
        if (row_lane(p, thread) >= step) return;
        T* mine = shared + thread * lanes;
        const T* theirs = shared + (thread + step * p.column_lanes) * lanes;
        TWILL_UNROLL
        for (int k = 0; k < lanes; ++k) mine[k] = combine<L::line(R).reduction>(mine[k], theirs[k]);
      });
      block.barrier();
    }
    block.each([&](int thread) {
      const std::uint32_t chunk = chunk_of(p, block.block(), thread);
      if (row_lane(p, thread) != 0 || chunk >= p.grid.walk.chunks) return;
      if (stores)
        store_sums<R>(shared + thread * lanes, p, chunk, ColumnOutputs{});
      else
        leave(waiting<R>(p, share_of_block(p, block.block()), chunk), shared + thread * lanes);
    });
  }
  template <class T> static constexpr void leave(T* to, const T* from) {
    TWILL_UNROLL
    for (int k = 0; k < lanes; ++k) to[k] = from[k];
  }

  /// Stores the outputs that take reduction R.
  template <int R, class T, int... O>
  static constexpr void store_sums(const T* from, const Own& p, std::uint32_t chunk, Numbers<O...>) {
    ChunkCursor<L::operands> cursor{};
    Place place{};
    L::locate(cursor, place, p.grid, chunk, ColumnOutputs{});
    (store_one<R, O>(from, p, cursor, place), ...);
  }
  template <int R, int O, class T>
  static constexpr void store_one(const T* from, const Own& p, const ChunkCursor<L::operands>& cursor,
                                  const Place& place) {
    constexpr Line own = L::line(O);
    if constexpr (own.arguments[0] == R) {
      using E = typename L::template Element<O>;
      Words<E, lanes> words{};
      TWILL_UNROLL
      for (int k = 0; k < lanes; ++k) set_element(words, k, static_cast<E>(from[k]));
      store_chunk<Path::any>(words, cursor.at[own.operand], p.grid.operands[own.operand], p.grid.walk, place);
    }
  }
};

/// Runs a column program over a grid. An output may coincide exactly with an input.
/// throws: what `enqueue` throws    cost: one kernel, unless offsets pass `most`
template <class P, class Queue>
void run_columns(const Queue& queue, Grid grid, const Operand* operands, std::int64_t most = most_elements) {
  using Body = Columns<P>;
  if (grid.rank == 0) grid = Grid(1);
  for (int axis = 1; axis < grid.rank; ++axis)
    if (grid[axis] == 0) return;
  OperandCopies<P> copies{operands};
  typename Body::Own parameters{};
  struct Context {
    const Queue& queue;
    typename Body::Own& parameters;
  } const context{queue, parameters};
  const auto launch = [](const void* given, const Grid& piece) {
    const auto& own = *static_cast<const Context*>(given);
    const twill::gpu::WorkingMemory working = own.queue.working_memory();
    const twill::gpu::LaunchShape shape =
        share_columns(own.parameters, own.parameters.grid.walk, piece[0], Body::lanes, Body::sum_bytes, working);
    enqueue(own.queue, Body{}, shape, own.parameters);
  };
  launch_pieces(grid,
                {copies.bound(), 1, Body::lanes, &parameters.grid.walk, parameters.grid.operands, {launch, &context}},
                most);
}

}}}} // namespace twill::v0::kernel::gpu
