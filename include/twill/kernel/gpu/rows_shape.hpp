#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launch shape of a row program: the threads that own a row. A part of a warp owns a short one, so that a warp runs
// several; then a warp, then a block. Rows that fit into the registers of their team are read once; longer ones are in
// shared memory from the first stage on, and beyond that each stage reads and computes again. A few long rows are cut
// into chunks, and each stage is a launch whose last block combines the chunks' results. Nothing depends on a device's
// number of processors, so neither do the bits of a sum. Read next: kernel/gpu/rows_place.hpp.

#include <twill/kernel/gpu/block.hpp>
#include <twill/kernel/gpu/rows_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The rows of a launch.
struct RowExtent {
  std::int64_t rows = 1;
  std::int64_t length = 1;
  bool is_aligned = true; ///< all rows begin where a vector may
};

/// The launch of a row program.
struct RowLaunch {
  RowMode mode = RowMode::once;
  int threads = 128;                ///< of a block
  int width = 32;                   ///< of these, the ones that own a row
  std::int64_t shared_elements = 0; ///< of a row, kept in shared memory; 0: each stage reads the row again
  std::int64_t chunks = 1;          ///< of a row; more than one: a launch for each stage
  std::int64_t chunk_elements = 0;  ///< of all but the last
  std::size_t shared_bytes = 0;
  [[nodiscard]] constexpr int teams() const { return threads / width; }
  friend constexpr bool operator==(const RowLaunch&, const RowLaunch&) = default;
};

namespace detail {

inline constexpr int exchange_slots = 32;             ///< one for each warp of a block
inline constexpr int exchange_bytes = 8;              ///< of a slot
inline constexpr int chunk_threads = 256;             ///< of a block that owns a chunk
inline constexpr int chunk_blocks = 2048;             ///< goal of a launch over chunks: several waves on any device
inline constexpr int few_rows = 512;                  ///< fewer blocks than that cannot fill a device
inline constexpr std::int64_t worth_chunks = 16384;   ///< elements of a row, if one launch does it all
inline constexpr std::int64_t worth_launches = 65536; ///< if it takes a launch for each stage
inline constexpr std::int64_t most_elements = std::int64_t{1} << 30; ///< that 32-bit offsets count

[[nodiscard]] constexpr std::int64_t whole(std::int64_t number, std::int64_t of) { return (number + of - 1) / of * of; }

/// Two sets of slots for the reductions of a stage, so that a stage needs one barrier.
[[nodiscard]] constexpr std::size_t exchange_room(const RowTraits& traits) {
  return static_cast<std::size_t>(2 * traits.reductions * exchange_slots * exchange_bytes);
}

/// The number of threads that share `vectors` vectors, if each takes up to `most` and, in parts of a warp, two.
[[nodiscard]] constexpr std::int64_t width_of(std::int64_t vectors, int most) {
  const std::int64_t few = most < 2 ? 1 : 2;
  std::int64_t width = 1;
  while (width < warp_threads && width * few < vectors) width *= 2;
  if (vectors <= std::int64_t{warp_threads} * most) return width;
  return whole((vectors + most - 1) / most, warp_threads);
}

} // namespace detail

/// Chooses the launch of a program with these traits. `shared_bytes`: the most that the device gives a block.
[[nodiscard]] constexpr RowLaunch choose_row_launch(const RowTraits& traits, const RowExtent& extent,
                                                    std::size_t shared_bytes) {
  RowLaunch launch{};
  const std::int64_t room = extent.length + (extent.is_aligned ? 0 : traits.vector - 1);
  const std::int64_t vectors = (room + traits.vector - 1) / traits.vector;
  const bool is_single = traits.stages == 1;
  const bool is_few = is_single ? extent.rows < detail::few_rows && extent.length >= detail::worth_chunks
                                : extent.rows < detail::few_rows / 4 && extent.length >= detail::worth_launches;
  if (is_few || extent.length > detail::most_elements) {
    const std::int64_t tile = std::int64_t{detail::chunk_threads} * traits.pass_vectors * traits.vector;
    const std::int64_t of_row = extent.rows < detail::chunk_blocks ? detail::chunk_blocks / extent.rows : 1;
    launch.mode = RowMode::again;
    launch.threads = launch.width = detail::chunk_threads;
    launch.chunk_elements = detail::whole((extent.length + of_row - 1) / of_row, tile);
    if (launch.chunk_elements > detail::most_elements) launch.chunk_elements = detail::most_elements / tile * tile;
    launch.chunks = (extent.length + launch.chunk_elements - 1) / launch.chunk_elements;
    launch.shared_bytes = detail::exchange_room(traits);
    return launch;
  }
  std::int64_t width = detail::width_of(vectors, traits.vectors);
  launch.mode = !is_single && width <= traits.most_threads ? RowMode::once : RowMode::again;
  if (launch.mode == RowMode::again) {
    width = detail::width_of(vectors, traits.pass_vectors);
    if (width > traits.pass_threads) width = traits.pass_threads;
    const std::int64_t elements = detail::whole(vectors * traits.vector, 16);
    const std::size_t needed = detail::exchange_room(traits) +
                               static_cast<std::size_t>(elements) * static_cast<std::size_t>(traits.kept_bytes);
    if (traits.revisits && traits.kept_bytes > 0 && width >= warp_threads && needed <= shared_bytes) {
      launch.shared_elements = elements;
      launch.shared_bytes = needed;
    }
  }
  launch.width = static_cast<int>(width);
  // several rows a block where they are short, but not with idle processors
  const bool is_large = extent.rows * width >= 32768;
  launch.threads = launch.width > warp_threads ? launch.width : is_large ? 4 * warp_threads : warp_threads;
  if (launch.shared_bytes == 0 && launch.width > warp_threads) launch.shared_bytes = detail::exchange_room(traits);
  if (launch.shared_elements > 0) launch.threads = launch.width;
  return launch;
}

}}}} // namespace twill::v0::kernel::gpu
