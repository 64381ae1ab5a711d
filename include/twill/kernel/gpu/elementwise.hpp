#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise programs on a GPU: each thread takes a few chunks, issues all their loads, then computes and stores one
// chunk after the other. One kernel serves every layout: each operand carries its own access mode, and a chunk that
// crosses the end of its row goes element by element. An output may coincide exactly with an input: the thread that
// stores an element has loaded it before. Read next: kernel/gpu/plan.hpp.

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/leaves.hpp>
#include <twill/kernel/gpu/lines.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/gpu/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The bytes of a chunk of all inputs that move. A row that repeats, such as a bias, counts though caches hold it: a
/// program states the access along the last dimension only, and one kernel takes any other strides.
[[nodiscard]] constexpr int bytes_of_chunk(const Line* lines, int count, int lanes) {
  int bytes = 0;
  for (int i = 0; i < count; ++i)
    if (lines[i].kind == LineKind::input && lines[i].access != Access::uniform)
      bytes += lanes * static_cast<int>(size_of(lines[i].type));
  return bytes;
}

/// Chunks of a thread: 32 bytes in flight for each, 48 KiB for a processor with 1536 of them. One where a program draws
/// random numbers, which takes longer than memory does.
[[nodiscard]] constexpr int chunks_of_thread(int chunk_bytes, bool draws) {
  return draws ? 1 : chunk_bytes <= 8 ? 4 : chunk_bytes <= 16 ? 2 : 1;
}

/// The kernel of an elementwise program.
template <class P> struct Elementwise {
  using L = Lines<P>;
  using Own = Parameters<L::operands>;
  static constexpr int most_threads = 256;
  static constexpr int chunks =
      chunks_of_thread(bytes_of_chunk(summary_of<P>.lines.data(), L::count, L::lanes), L::Draws::size() > 0);
  /// Registers come first where computing takes longer than loading; elsewhere the compiler's choice has more threads.
  static constexpr int least_blocks = L::Draws::size() > 0 || summary_of<P>.steps >= 20 ? 1 : 0;

  template <class Block> constexpr void operator()(const Block& block, const Own& parameters) const {
    run_block(block, parameters, static_cast<std::uint32_t>(block.block()));
  }

  /// The work of a launch's block `number`, which may be another block of a larger grid.
  template <class Block>
  static constexpr void run_block(const Block& block, const Own& parameters, std::uint32_t number) {
    block.each([&](int thread) {
      const std::uint32_t first = number * static_cast<std::uint32_t>(block.threads() * chunks);
      run(parameters, first + static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(block.threads()),
          All<chunks>{});
    });
  }

private:
  struct Chunk {
    ChunkCursor<L::operands> cursor{};
    Place place{};
    typename L::Leaves leaves{};
  };
  struct Chunks {
    Chunk at[chunks]{};
  };

  template <int... C>
  static constexpr void run(const Own& parameters, std::uint32_t first, std::uint32_t apart, Numbers<C...>) {
    Chunks own{};
    (L::locate(own.at[C].cursor, own.at[C].place, parameters, first + C * apart, typename L::Moving{}), ...);
    if constexpr (chunks > 1) {
      if (parameters.walk.is_plain && (own.at[C].place.is_full && ...)) {
        (start<Path::plain>(own.at[C], parameters, typename L::Inputs{}), ...);
        (finish<Path::plain>(own.at[C], parameters, typename L::Inputs{}, typename L::Outputs{}), ...);
        return;
      }
    }
    // with all access modes the code of a chunk is long; its lanes are enough work in flight
    TWILL_NO_UNROLL
    for (int c = 0; c < chunks; ++c) {
      if constexpr (chunks > 1)
        L::locate(own.at[0].cursor, own.at[0].place, parameters, first + static_cast<std::uint32_t>(c) * apart,
                  typename L::Moving{});
      start<Path::any>(own.at[0], parameters, typename L::Inputs{});
      finish<Path::any>(own.at[0], parameters, typename L::Inputs{}, typename L::Outputs{});
      own.at[0].leaves = typename L::Leaves{};
    }
  }

  template <Path Form, int... I> static constexpr void start(Chunk& chunk, const Own& parameters, Numbers<I...>) {
    (L::template load<I, Form>(chunk.leaves, chunk.cursor, parameters, chunk.place), ...);
  }

  template <Path Form, int... I, int... O>
  static constexpr void finish(Chunk& chunk, const Own& parameters, Numbers<I...>, Numbers<O...> outputs) {
    if (Form == Path::any && chunk.place.remaining <= 0) return;
    (L::template settle<I>(chunk.leaves, parameters), ...);
    typename L::Results results{};
    typename L::Lane lane{};
    TWILL_UNROLL
    for (int number = 0; number < L::lanes; ++number)
      one_lane<Form>(lane, results, chunk, parameters, number, typename L::Values{}, outputs);
    (L::template store<O, Form>(results, chunk.cursor, parameters, chunk.place), ...);
  }

  template <Path Form, int... V, int... O>
  static constexpr void one_lane(typename L::Lane& lane, typename L::Results& results, const Chunk& chunk,
                                 const Own& parameters, int number, Numbers<V...>, Numbers<O...>) {
    (L::template compute<V, Form>(lane, chunk.leaves, chunk.cursor, parameters, chunk.place, number), ...);
    (L::template keep<O>(results, lane, number), ...);
  }
};

/// The blocks and threads for `chunks` chunks: blocks of 256 threads, smaller ones while processors would be idle.
[[nodiscard]] constexpr twill::gpu::LaunchShape elementwise_shape(std::uint32_t chunks, int chunks_of_thread,
                                                                  int processors) {
  const auto own = static_cast<std::uint32_t>(chunks_of_thread);
  const std::uint32_t workers = (chunks + own - 1) / own;
  std::uint32_t threads = 256;
  while (threads > 64 && workers / threads < 2 * static_cast<std::uint32_t>(processors)) threads /= 2;
  return {.blocks = (workers + threads - 1) / threads, .threads = threads};
}

/// Runs an elementwise program over a grid. An output may coincide exactly with an input.
/// throws: what `enqueue` throws    cost: one kernel, unless offsets pass `most`
template <class P, class Queue>
void run_elementwise(const Queue& queue, const Grid& grid, const Operand* operands, std::int64_t most = most_elements) {
  using Body = Elementwise<P>;
  if (grid.elements() == 0) return;
  OperandCopies<P> copies{operands};
  typename Body::Own parameters{};
  struct Context {
    const Queue& queue;
    const typename Body::Own& parameters;
  } const context{queue, parameters};
  const auto launch = [](const void* given, const Grid&) {
    const auto& own = *static_cast<const Context*>(given);
    enqueue(own.queue, Body{},
            elementwise_shape(own.parameters.walk.chunks, Body::chunks, own.queue.properties().processors),
            own.parameters);
  };
  launch_pieces(grid, {copies.bound(), 0, Body::L::lanes, &parameters.walk, parameters.operands, {launch, &context}},
                most);
}

}}}} // namespace twill::v0::kernel::gpu
