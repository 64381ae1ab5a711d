#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs a program the way a GPU would, block by block on the host, over operands that lie in memory in any way: dimensions
// permuted, padded, backwards, broadcast, starting at any element. Memory is of exactly the size that may be touched, so a
// sanitizer sees whatever else a kernel reads or writes. Outputs are compared with the reference's bit for bit.

#include <tests/kernel/harness.hpp>
#include <tests/support/host_block.hpp>

#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/gpu/parameters.hpp>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace gpu_test {

using namespace kernel_test;

/// Runs the blocks of a launch in order; stands for a queue of a device.
struct BlockQueue {
  twill::gpu::Properties device{.processors = 4};
  twill::gpu::WorkingSpace* working = nullptr; ///< none: no working memory
  std::vector<twill::gpu::LaunchShape>* launches = nullptr;
  [[nodiscard]] const twill::gpu::Properties& properties() const { return device; }
  [[nodiscard]] twill::gpu::WorkingMemory working_memory() const {
    static twill::gpu::WorkingSpace none{};
    return twill::gpu::WorkingMemory{working != nullptr ? *working : none};
  }
};

template <class Body, class Parameters>
void enqueue(const BlockQueue& queue, Body body, const twill::gpu::LaunchShape& shape, const Parameters& parameters) {
  static_assert(sizeof(Parameters) <= twill::kernel::gpu::most_parameter_bytes);
  if (shape.threads > static_cast<unsigned>(Body::most_threads)) throw std::logic_error("too many threads");
  const std::unique_ptr<double[]> shared{new double[shape.shared_bytes / sizeof(double) + 1]};
  for (unsigned block = 0; block < shape.blocks; ++block)
    body(twill::test::HostBlock(static_cast<int>(block), static_cast<int>(shape.blocks),
                                static_cast<int>(shape.threads), reinterpret_cast<std::byte*>(shared.get())),
         parameters);
  if (queue.launches != nullptr) queue.launches->push_back(shape);
}

/// How freely operands may lie.
enum class Layouts {
  plain,   ///< as the harness binds them: no gaps but what the program asks for
  aligned, ///< any, with rows that start at multiples of 16 bytes
  any,
};

/// The operands of a program, in memory of their own.
template <class P> struct Laid {
  struct Held {
    std::unique_ptr<std::byte[]> bytes; ///< aligned to 16
    std::size_t size = 0;
    DType type{};
    bool is_output = false;
  };
  std::vector<Held> held;
  std::vector<Operand> operands;

  static constexpr int gathered_reach = 6; ///< of the values that the harness's int64 memory holds

  Laid(const Grid& grid, unsigned seed, Layouts layouts) {
    std::mt19937 random{seed};
    const auto chance = [&](int one_in) { return std::uniform_int_distribution<int>{1, one_in}(random) == 1; };
    const int last = grid.rank - 1;
    for (const Line& line : summary_of<P>.lines) {
      if (line.operand < 0) continue;
      Operand operand{};
      if (line.kind == LineKind::immediate) {
        const Memory value{line.type, 1, random};
        std::memcpy(&operand.bits, value.data(), value.bytes());
      } else if (line.kind == LineKind::iota) {
        operand.bits = static_cast<std::uint64_t>(std::int64_t{-40} + static_cast<std::int64_t>(seed % 3));
        operand.strides = contiguous_strides(grid).extents;
        if (layouts != Layouts::plain && chance(3))
          for (int axis = 0; axis < grid.rank; ++axis)
            operand.strides[static_cast<std::size_t>(axis)] *= chance(2) ? -1 : 3;
      } else {
        bind(line, grid, last, layouts, random, chance, operand);
      }
      operands.push_back(operand);
    }
  }

  template <class Chance>
  void bind(const Line& line, const Grid& grid, int last, Layouts layouts, std::mt19937& random, const Chance& chance,
            Operand& operand) {
    const bool is_output = line.kind == LineKind::output;
    const auto size = static_cast<std::int64_t>(size_of(line.type));
    const bool is_free = layouts != Layouts::plain;
    // from the innermost in memory to the outermost
    std::vector<int> order{};
    for (int axis = last; axis >= 0; --axis) order.push_back(axis);
    const bool last_is_first = line.kind != LineKind::output && line.access == Access::contiguous;
    if (is_free && chance(2)) std::shuffle(order.begin() + (last_is_first && last >= 0 ? 1 : 0), order.end(), random);
    std::int64_t next = 1;
    for (const int axis : order) {
      std::int64_t& stride = operand.strides[static_cast<std::size_t>(axis)];
      const bool promised = axis == last && !is_output;
      const bool is_uniform = promised && line.access == Access::uniform;
      const bool is_reduced = is_output && ((line.column && axis == 0) ||
                                            (axis == last && line.uniform && summary_of<P>.shape == KernelShape::row));
      const bool is_broadcast = is_free && !is_output && !(promised && line.access == Access::contiguous) && chance(4);
      if (is_uniform || is_reduced || is_broadcast) continue;
      if (promised && line.access == Access::strided && chance(2)) next *= 3;
      if (is_free && axis != last && chance(3)) next += 5;
      if (layouts == Layouts::aligned && axis != last) next = (next * size + 15) / 16 * 16 / size;
      stride = next;
      next *= std::max<std::int64_t>(grid[axis], 1);
      if (is_free && !(promised && line.access == Access::contiguous) && chance(6)) stride = -stride;
    }
    std::int64_t lowest = 0, highest = 0;
    for (int axis = 0; axis <= last; ++axis) {
      const std::int64_t reach =
          operand.strides[static_cast<std::size_t>(axis)] * std::max<std::int64_t>(grid[axis] - 1, 0);
      (reach < 0 ? lowest : highest) += reach;
    }
    if (line.kind == LineKind::gather) {
      lowest -= gathered_reach;
      highest += gathered_reach;
    }
    std::int64_t before = layouts == Layouts::any && chance(2) ? std::uniform_int_distribution<int>{1, 3}(random) : 0;
    if (layouts == Layouts::aligned) before = (-lowest * size + 15) / 16 * 16 / size + lowest;
    const std::int64_t elements = grid.elements() == 0 && !is_output ? before : before + highest - lowest + 1;
    const Memory values{line.type, elements, random};
    held.push_back({std::unique_ptr<std::byte[]>{new std::byte[values.bytes()]}, values.bytes(), line.type, is_output});
    std::memcpy(held.back().bytes.get(), values.data(), values.bytes());
    operand.data = held.back().bytes.get() + (before - lowest) * size;
  }
};

/// What differs between two sets of the same operands' outputs, gaps included: 0 for equal bits.
template <class P> double difference_of(const Laid<P>& mine, const Laid<P>& theirs) {
  double worst = 0;
  for (std::size_t i = 0; i < mine.held.size(); ++i) {
    const auto& a = mine.held[i];
    const auto& b = theirs.held[i];
    for (std::size_t at = 0; at < a.size; at += size_of(a.type)) {
      if (std::memcmp(a.bytes.get() + at, b.bytes.get() + at, size_of(a.type)) == 0) continue;
      const double x = as_double(a.type, a.bytes.get() + at), y = as_double(a.type, b.bytes.get() + at);
      if (std::isnan(x) && std::isnan(y)) continue;
      const double error = std::abs(x - y) / std::max(1.0, std::abs(y));
      worst = std::max(worst, std::isnan(error) || error == 0 ? std::numeric_limits<double>::infinity() : error);
    }
  }
  return worst;
}

} // namespace gpu_test
