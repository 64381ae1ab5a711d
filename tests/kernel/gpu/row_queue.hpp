#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Row programs of GPUs, run block by block on the host beside the reference of the host's kernels. The blocks of a launch run
// in an order that changes from launch to launch, shared memory holds garbage at first, and so do partial results.

#include <tests/kernel/harness.hpp>
#include <tests/support/host_block.hpp>

#include <twill/kernel/gpu/rows.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace kernel_test {

/// Stands for a queue of a device, and runs what it is given at once.
class RowQueue {
public:
  explicit RowQueue(twill::gpu::Properties device = h200(), std::size_t allowance_bytes = std::size_t{1} << 20)
      : device_{std::move(device)},
        memory_{new std::byte[allowance_bytes]},
        working_{memory_.get(), counters_.data(), {allowance_bytes, static_cast<int>(counters_.size())}} {
    std::memset(memory_.get(), 0xff, allowance_bytes);
  }
  [[nodiscard]] static twill::gpu::Properties h200() {
    return {.name = "H200", .processors = 132, .shared_bytes = 227 << 10, .major = 9};
  }
  [[nodiscard]] const twill::gpu::Properties& properties() const { return device_; }
  [[nodiscard]] twill::gpu::WorkingMemory working_memory() const { return twill::gpu::WorkingMemory{working_}; }

  struct Launch {
    unsigned blocks, threads;
    std::size_t shared_bytes;
  };
  mutable std::vector<Launch> launches{};
  [[nodiscard]] bool counters_are_zero() const {
    return std::all_of(counters_.begin(), counters_.end(), [](unsigned counter) { return counter == 0; });
  }

  template <class Body, class Parameters>
  friend void enqueue(const RowQueue& queue, Body body, const twill::gpu::LaunchShape& shape,
                      const Parameters& parameters) {
    REQUIRE(shape.threads <= static_cast<unsigned>(Body::most_threads));
    REQUIRE(shape.shared_bytes <= queue.device_.shared_bytes);
    REQUIRE(shape.threads % 32 == 0);
    const auto shared = std::make_unique<std::byte[]>(shape.shared_bytes);
    std::vector<int> order(shape.blocks);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937{static_cast<unsigned>(queue.launches.size())});
    for (const int block : order) {
      if (shape.shared_bytes > 0) std::memset(shared.get(), 0xff, shape.shared_bytes);
      body(twill::test::HostBlock(block, static_cast<int>(shape.blocks), static_cast<int>(shape.threads), shared.get()),
           parameters);
    }
    queue.launches.push_back({shape.blocks, shape.threads, shape.shared_bytes});
  }

private:
  twill::gpu::Properties device_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<unsigned> counters_ = std::vector<unsigned>(1024);
  mutable twill::gpu::WorkingSpace working_;
};

using twill::kernel::gpu::choose_row_launch;
using twill::kernel::gpu::row_plan_of;
using twill::kernel::gpu::RowExtent;
using twill::kernel::gpu::RowLaunch;
using twill::kernel::gpu::RowMode;
using twill::kernel::gpu::RowTraits;

/// Runs a program as chosen, or as told.
template <class P>
void run_rows_on(const RowQueue& queue, const Grid& grid, const Operand* operands,
                 const std::optional<RowLaunch>& launch = {}) {
  if (launch) {
    typename twill::kernel::gpu::RowProgram<P>::Parameters parameters{};
    twill::kernel::gpu::bind_rows<P>(grid, operands, parameters);
    twill::kernel::gpu::launch_rows<P>(queue, *launch, parameters);
  } else {
    twill::kernel::gpu::run_row_program(P{}, queue, grid, operands);
  }
  REQUIRE(queue.counters_are_zero());
}

/// How far a program's results on random operands lie from the reference's.
template <class P>
double row_difference(const Grid& grid, const std::optional<RowLaunch>& launch = {}, unsigned seed = 1) {
  const Bound<P> ours{grid, seed}, expected{grid, seed};
  run_rows_on<P>(RowQueue{}, grid, ours.operands.data(), launch);
  reference::run(P{}, grid, expected.operands.data());
  return difference_of(ours, expected);
}

} // namespace kernel_test
