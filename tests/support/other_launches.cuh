#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Launches in other forms than planned: a suite's shapes reach one way through a kernel, and its other ways are tried on the
// work of the same suite. TWILL_LAUNCHES names the form:
// - `stepped`: operands are reached element by element; blocks own rows, which begin at odd addresses;
// - `indexed`: operands divide the number of an element; rows are read again in each stage, from shared memory where it can
//   hold them;
// - `cut`: columns and rows are shared out to several blocks, those that were are not.
// A suite includes this before it launches: `enqueue` for twill's kernels is found beside them, by their names.

#include <twill/device/cuda/runtime.cuh>
#include <twill/device/gpu/queue.hpp>
#include <twill/kernel/cuda/block.cuh>
#include <twill/kernel/gpu/arrange.hpp>
#include <twill/kernel/gpu/columns.hpp>
#include <twill/kernel/gpu/elementwise.hpp>
#include <twill/kernel/gpu/joined.hpp>
#include <twill/kernel/gpu/parameters.hpp>
#include <twill/kernel/gpu/rows.hpp>
#include <twill/kernel/gpu/rows_body.hpp>
#include <twill/kernel/gpu/rows_shape.hpp>

#include <tests/support/other_walks.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <cuda_runtime.h>

namespace twill::test {

/// Memory that launches may use and keep: a recorded one runs again later.
class Scratch {
public:
  /// So many bytes on the current device; null where there is no more and a recording forbids to ask for some.
  [[nodiscard]] static std::byte* take(std::size_t bytes) {
    static std::mutex mutex;
    static std::map<int, Scratch> of_devices;
    const std::lock_guard lock{mutex};
    int device = 0;
    cudaGetDevice(&device);
    Scratch& own = of_devices[device];
    if (own.left_ < bytes) {
      own.left_ = std::max(bytes, std::size_t{256} << 20);
      void* fresh = nullptr;
      if (cudaMalloc(&fresh, own.left_) != cudaSuccess) return own.left_ = 0, cudaGetLastError(), nullptr;
      own.next_ = static_cast<std::byte*>(fresh);
    }
    std::byte* const taken = own.next_;
    own.next_ += bytes;
    own.left_ -= bytes;
    return taken;
  }

private:
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

/// Operands of a row program moved to odd addresses, and back.
class Misaligned {
public:
  Misaligned(cudaStream_t stream, const kernel::gpu::RowJob& job, kernel::gpu::RowOperand* operands,
             const OperandFacts* facts, int count)
      : stream_{stream} {
    for (int o = 0; o < count; ++o)
      if (facts[o].in_memory() && facts[o].kind != kernel::LineKind::gather)
        ranges_.push_back(range_of(job, operands[o], facts[o], o));
    if (outputs_meet()) ranges_.clear();
    for (Range& range : ranges_) {
      constexpr std::size_t unit = 256;
      const std::size_t odd = reinterpret_cast<std::uintptr_t>(range.first) % unit +
                              static_cast<std::size_t>((1 + range.operand % 3) * facts[range.operand].bytes);
      range.copy = Scratch::take((range.bytes + odd) / unit * unit + unit);
      if (range.copy == nullptr) continue;
      range.copy += odd;
      move(range.copy, range.first, range.bytes);
      operands[range.operand].data = range.copy + (operands[range.operand].data - range.first);
    }
  }

  /// What outputs got.
  void move_back() {
    for (const Range& range : ranges_)
      if (range.copy != nullptr && range.is_output) move(range.first, range.copy, range.bytes);
  }

private:
  struct Range {
    int operand = 0;
    bool is_output = false;
    std::byte* first = nullptr;
    std::size_t bytes = 0;
    std::byte* copy = nullptr;
  };

  static Range range_of(const kernel::gpu::RowJob& job, const kernel::gpu::RowOperand& operand,
                        const OperandFacts& facts, int number) {
    std::int64_t low = 0, high = facts.bytes;
    const auto reach = [&](std::int64_t by) { (by < 0 ? low : high) += by; };
    reach((job.length - 1) * operand.along * facts.bytes);
    std::int64_t outermost = job.rows;
    for (int axis = 0; axis < job.between; ++axis) {
      reach((std::int64_t{job.extents[axis].value} - 1) * operand.outer[axis]);
      outermost /= job.extents[axis].value;
    }
    reach((outermost - 1) * operand.down);
    return {number, facts.kind == kernel::LineKind::output, operand.data + low, static_cast<std::size_t>(high - low)};
  }
  [[nodiscard]] bool outputs_meet() const {
    for (const Range& a : ranges_)
      for (const Range& b : ranges_)
        if (&a != &b && a.is_output && b.is_output && a.first < b.first + b.bytes && b.first < a.first + a.bytes)
          return true;
    return false;
  }
  void move(void* to, const void* from, std::size_t bytes) {
    if (cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_) != cudaSuccess)
      throw std::runtime_error("an operand could not be moved");
  }

  cudaStream_t stream_;
  std::vector<Range> ranges_{};
};

/// Counts rows by two dimensions where their number has an even factor.
inline void split_rows(kernel::gpu::RowJob& job, kernel::gpu::RowOperand* operands, int count) {
  if (job.between > 0 || job.rows == 0 || job.rows % 2 != 0) return;
  job.between = 1;
  job.extents[0] = Divisor{static_cast<std::uint32_t>(job.rows / 2)};
  for (int o = 0; o < count; ++o) {
    operands[o].outer[0] = operands[o].down;
    operands[o].down *= job.rows / 2;
  }
}

/// So few threads that each has as many vectors of a row as it can take, if the row is as long.
[[nodiscard]] inline int fewest_threads(const kernel::gpu::RowTraits& traits, std::int64_t length, int vectors_each) {
  int threads = 1;
  while (threads < kernel::gpu::warp_threads &&
         std::int64_t{threads} * vectors_each * traits.vector < length + traits.vector)
    threads *= 2;
  return threads;
}

/// A launch of rows in the form that is asked for; `planned` is what the library would do. If it is `narrow`, with fewer
/// threads than the library would take, else with more.
[[nodiscard]] inline kernel::gpu::RowLaunch other_row_launch(Form form, const kernel::gpu::RowTraits& traits,
                                                             const kernel::gpu::RowExtent& extent,
                                                             std::size_t shared_bytes, bool narrow) {
  using namespace kernel::gpu;
  RowExtent many = extent;
  many.rows = 4096; // which are not cut
  RowLaunch launch = choose_row_launch(traits, many, shared_bytes);
  const RowLaunch cut = choose_row_launch(traits, {1, std::int64_t{1} << 29, false}, shared_bytes);
  launch.shared_bytes = cut.shared_bytes; // which blocks take to exchange what their warps found
  if (form == Form::stepped) {
    launch.shared_elements = 0;
    const int fewest = fewest_threads(traits, extent.length, traits.vectors);
    const bool fits = launch.mode == RowMode::once && fewest < warp_threads;
    launch.width = narrow && fits ? fewest : std::max(launch.width, 2 * warp_threads);
  } else {
    launch.mode = RowMode::again;
    launch.width = std::clamp(launch.width, 2 * warp_threads, traits.pass_threads);
    if (narrow) launch.width = std::max(1, fewest_threads(traits, extent.length, traits.pass_vectors) / 2);
    const std::int64_t elements = (extent.length + traits.vector + 15) / 16 * 16;
    const std::size_t needed = cut.shared_bytes + static_cast<std::size_t>(elements * traits.kept_bytes);
    launch.shared_elements = 0;
    if (form == Form::indexed && !narrow && traits.revisits && traits.kept_bytes > 0 && needed <= shared_bytes) {
      launch.shared_elements = elements;
      launch.shared_bytes = needed;
    }
  }
  if (form == Form::cut) {
    launch.width = cut.width;
    launch.chunk_elements = (extent.length + 2) / 3;
    launch.chunks = (extent.length + launch.chunk_elements - 1) / launch.chunk_elements;
  }
  launch.threads = std::max(launch.width, warp_threads);
  return launch;
}

} // namespace twill::test

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

/// A piece of a grid, walked in the form that is asked for.
template <class P> void walk_otherwise(Walk& walk, OperandParameters* operands) {
  const auto change = test::form_of_launches() == test::Form::stepped   ? test::step_operands
                      : test::form_of_launches() == test::Form::indexed ? test::index_operands
                                                                        : nullptr;
  if (change != nullptr) change(walk, operands, operand_facts_of<P>.data(), summary_of<P>.operands, Lines<P>::lanes);
}

template <class P>
void enqueue(const twill::gpu::Queue<CudaRuntime>& queue, Elementwise<P> body, const twill::gpu::LaunchShape& shape,
             const typename Elementwise<P>::Own& parameters) {
  typename Elementwise<P>::Own own = parameters;
  walk_otherwise<P>(own.walk, own.operands);
  twill::gpu::LaunchShape blocks = shape;
  const std::uint32_t chunks_of_block = shape.threads * static_cast<std::uint32_t>(Elementwise<P>::chunks);
  blocks.blocks = (own.walk.chunks + chunks_of_block - 1) / chunks_of_block;
  twill::enqueue<Elementwise<P>, typename Elementwise<P>::Own>(queue, body, blocks, own);
}

template <class P>
void enqueue(const twill::gpu::Queue<CudaRuntime>& queue, JoinedElementwise<P> body,
             const twill::gpu::LaunchShape& shape, const typename JoinedElementwise<P>::Own& parameters) {
  typename JoinedElementwise<P>::Own own = parameters;
  twill::gpu::LaunchShape blocks = shape;
  blocks.blocks = 0;
  const std::uint32_t chunks_of_block = shape.threads * static_cast<std::uint32_t>(Elementwise<P>::chunks);
  for (int i = 0; i < own.count; ++i) {
    walk_otherwise<P>(own.members[i].walk, own.members[i].operands);
    own.first_block[i] = blocks.blocks;
    blocks.blocks += (own.members[i].walk.chunks + chunks_of_block - 1) / chunks_of_block;
  }
  twill::enqueue<JoinedElementwise<P>, typename JoinedElementwise<P>::Own>(queue, body, blocks, own);
}

template <class P>
void enqueue(const twill::gpu::Queue<CudaRuntime>& queue, Columns<P> body, const twill::gpu::LaunchShape& shape,
             const typename Columns<P>::Own& parameters) {
  using Own = typename Columns<P>::Own;
  Own own = parameters;
  twill::gpu::LaunchShape blocks = shape;
  const auto take_rows = [&](std::int64_t of_block) {
    own.share_rows = std::max<std::int64_t>(1, of_block);
    own.shares =
        static_cast<std::uint32_t>(std::max<std::int64_t>(1, (own.rows + own.share_rows - 1) / own.share_rows));
    blocks.blocks = own.groups.value * own.shares;
  };
  const test::Form form = test::form_of_launches();
  if (form == test::Form::cut) {
    const std::int64_t third = (own.rows + 2) / 3;
    take_rows(own.shares > 1 ? own.rows : (third + own.row_lanes - 1) / own.row_lanes * own.row_lanes);
  } else if (form != test::Form::planned) { // one block has all rows of its columns, one thread if they are few
    walk_otherwise<P>(own.grid.walk, own.grid.operands);
    if (own.rows <= 1024) own.column_lanes = column_threads; // a sum of more in turn would lose digits
    own.column_shift = std::countr_zero(static_cast<unsigned>(own.column_lanes));
    own.row_lanes = column_threads / own.column_lanes;
    const auto wide = static_cast<std::uint32_t>(own.column_lanes);
    own.groups = Divisor{(own.grid.walk.chunks + wide - 1) / wide};
    take_rows(own.rows);
  }
  twill::enqueue<Columns<P>, Own>(queue, body, blocks, own);
}

/// Set while rows are launched as a form of the tests says.
inline thread_local bool is_other_row_launch = false;

template <class P, RowMode M>
void enqueue(const twill::gpu::Queue<CudaRuntime>& queue, RowBody<P, M> body, const twill::gpu::LaunchShape& shape,
             const typename RowProgram<P>::Parameters& parameters) {
  using Parameters = typename RowProgram<P>::Parameters;
  const bool was_cut = parameters.job.chunks.value > 1;
  const test::Form form = test::form_of_launches();
  if (form == test::Form::planned || is_other_row_launch || parameters.job.length == 0 ||
      (form == test::Form::cut && was_cut))
    return twill::enqueue<RowBody<P, M>, Parameters>(queue, body, shape, parameters);
  if (was_cut && (parameters.job.stage > 0 || parameters.job.first_row > 0)) return; // the first launch did all of it
  Parameters own = parameters;
  test::split_rows(own.job, own.operands, summary_of<P>.operands);
  const RowExtent extent{own.job.rows, own.job.length, false};
  const bool narrow = (extent.rows + extent.length) % 2 == 1; // as often as not, and each time for these rows
  const RowLaunch launch =
      test::other_row_launch(form, row_plan_of<P>.traits, extent, queue.properties().shared_bytes, narrow);
  test::Misaligned moved{queue.stream(), own.job, own.operands, operand_facts_of<P>.data(), summary_of<P>.operands};
  is_other_row_launch = true;
  launch_rows<P>(queue, launch, own);
  is_other_row_launch = false;
  moved.move_back();
}

}}}} // namespace twill::v0::kernel::gpu
