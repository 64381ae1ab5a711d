#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plans of matrix products on a GPU before their launch: the walk over a stack of them (axes of the batch that step
// together become one, so that a library can take them as one stride) and the tiles into which twill's own kernel cuts
// a product. Plain numbers, tested on the host. Not in the umbrella. Read next: kernel/gpu/product.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/product_stack.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// The axes of a batch, outermost first. A library walks the innermost by itself; it exists even when it is 1.
struct BatchWalk {
  int rank = 1;
  std::array<std::int64_t, max_rank> extents{1};
  BatchStrides a{};
  BatchStrides b{};
  BatchStrides c{};

  [[nodiscard]] constexpr std::int64_t count() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= extents[static_cast<std::size_t>(axis)];
    return product;
  }
  [[nodiscard]] constexpr std::int64_t inner() const { return extents[static_cast<std::size_t>(rank - 1)]; }
};

/// The offset of one product of a batch, in elements from the first.
struct BatchOffsets {
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t c = 0;
};

/// Merges the axes of a batch that step together, and drops those of one element.
template <class T> [[nodiscard]] constexpr BatchWalk walk_batch(const ProductStack<T>& stack) {
  BatchWalk walk{};
  walk.rank = 0;
  for (int axis = 0; axis < stack.batch.rank; ++axis) {
    const auto from = static_cast<std::size_t>(axis);
    const std::int64_t extent = stack.batch[axis];
    if (extent == 1) continue;
    const auto last = static_cast<std::size_t>(walk.rank - 1);
    if (walk.rank > 0 && walk.a[last] == stack.a.batch[from] * extent && walk.b[last] == stack.b.batch[from] * extent &&
        walk.c[last] == stack.c_batch[from] * extent) {
      walk.extents[last] *= extent;
    } else {
      walk.extents[static_cast<std::size_t>(walk.rank)] = extent;
      ++walk.rank;
    }
    const auto to = static_cast<std::size_t>(walk.rank - 1);
    walk.a[to] = stack.a.batch[from];
    walk.b[to] = stack.b.batch[from];
    walk.c[to] = stack.c_batch[from];
  }
  if (walk.rank == 0) {
    walk.rank = 1;
    walk.extents[0] = 1;
  }
  return walk;
}

/// The offsets of product `number`, counted with the innermost axis fastest.
[[nodiscard]] constexpr BatchOffsets offsets_of(const BatchWalk& walk, std::int64_t number) {
  BatchOffsets offsets{};
  TWILL_NO_UNROLL
  for (int axis = walk.rank - 1; axis >= 0; --axis) {
    const auto at = static_cast<std::size_t>(axis);
    const std::int64_t index = number % walk.extents[at];
    number /= walk.extents[at];
    offsets.a += index * walk.a[at];
    offsets.b += index * walk.b[at];
    offsets.c += index * walk.c[at];
  }
  return offsets;
}

/// The tiles of twill's own product kernel. A wide tile reads every element of A and B 64 times less often than it is
/// used; narrow ones fill the device when there is little to compute.
enum class ProductTile : unsigned char { narrow, wide };

/// Wide tiles when both sides fill one and there is one for every second processor at least.
[[nodiscard]] constexpr ProductTile choose_tile(std::int64_t m, std::int64_t n, std::int64_t count, int processors) {
  constexpr std::int64_t wide = 64;
  if (std::min(m, n) <= wide / 4) return ProductTile::narrow;
  const std::int64_t tiles = ((m + wide - 1) / wide) * ((n + wide - 1) / wide) * count;
  return 2 * tiles >= processors ? ProductTile::wide : ProductTile::narrow;
}

}}}} // namespace twill::v0::kernel::gpu
