// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of a launch. Blocks run one after another; one that exceeds its turn, since it waits for another or is long, is put
// aside with its state while others have theirs. As many blocks are begun as a device would hold.

#include "ptxrun/findings.hpp"
#include "ptxrun/global_races.hpp"
#include "ptxrun/machine.hpp"
#include "ptxrun/options.hpp"
#include "ptxrun/shared_races.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <random>
#include <utility>

namespace ptxrun {

Bytes allocate(std::size_t bytes) {
  return Bytes{
      static_cast<std::byte*>(std::aligned_alloc(1024, (std::max<std::size_t>(bytes, 1) + 1023) / 1024 * 1024))};
}

Grid::Grid(Kernel& launched, const Launch& how)
    : kernel{launched},
      launch{how},
      threads{how.block.x * how.block.y * how.block.z},
      blocks{std::uint64_t{how.grid.x} * how.grid.y * how.grid.z},
      shared_bytes{launched.traits.static_shared_bytes + static_cast<std::uint32_t>(how.dynamic_shared_bytes)} {
  if (options().checks_global_races) global_races = std::make_unique<GlobalRaces>();
}
Grid::~Grid() = default;

// Memory that was not written has values that show: large negative numbers, addresses that are never registered.
Block::Block(Grid& of, std::uint32_t n) : grid{of}, index{n}, warps((of.threads + 31) / 32) {
  const Kernel& kernel = grid.kernel;
  registers = allocate(kernel.register_bytes * warps.size());
  std::memset(registers.get(), 0xCD, kernel.register_bytes * warps.size());
  shared = allocate(grid.shared_bytes);
  std::memset(shared.get(), 0xCB, grid.shared_bytes);
  if (const std::size_t bytes = std::size_t{kernel.traits.local_bytes} * grid.threads; bytes != 0) {
    local = allocate(bytes);
    std::memset(local.get(), 0xCE, bytes);
  }
  if (options().checks_shared_races) shared_races = std::make_unique<SharedRaces>(grid.shared_bytes);
  for (std::uint32_t w = 0; w < warps.size(); ++w) {
    Warp& warp = warps[w];
    // Handlers only read constants.
    warp.banks = {registers.get() + std::size_t{w} * kernel.register_bytes,
                  const_cast<std::byte*>(kernel.constants.data())};
    warp.block = this;
    warp.index = w;
    const std::uint32_t lanes = std::min<std::uint32_t>(32, grid.threads - w * 32);
    warp.exists = warp.alive = lanes == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << lanes) - 1;
    fill_special_registers(warp);
  }
}
Block::~Block() = default;

namespace {

constexpr std::int64_t long_turn = 1 << 18; ///< in instructions of a warp
constexpr std::size_t long_rounds = 16;     ///< of such turns, after which waiting for a change is called endless
constexpr std::size_t short_rounds = 1000;  ///< of shuffled turns

class Scheduler {
public:
  explicit Scheduler(Grid& grid)
      : grid_{grid},
        capacity_{resident_blocks(grid.kernel, grid.launch)},
        random_{options().shuffle_seed + grid.kernel.launches} {
    if (options().shuffle_seed == 0) return;
    // A device begins blocks roughly as they are numbered, and programs rely on it: a block may wait for those before it.
    order_.resize(grid.blocks);
    std::iota(order_.begin(), order_.end(), 0U);
    for (std::size_t begin = 0; begin < order_.size(); begin += capacity_)
      std::shuffle(order_.begin() + static_cast<std::ptrdiff_t>(begin),
                   order_.begin() + static_cast<std::ptrdiff_t>(std::min(begin + capacity_, order_.size())), random_);
  }

  void run_all() {
    while (grid_.outcome == Outcome::success && (begun_ < grid_.blocks || !aside_.empty())) {
      if (begun_ < grid_.blocks && aside_.size() < capacity_) {
        auto block =
            std::make_unique<Block>(grid_, order_.empty() ? static_cast<std::uint32_t>(begun_) : order_[begun_]);
        ++begun_;
        take_turn(std::move(block));
        continue;
      }
      if (options().shuffle_seed != 0) std::swap(aside_.front(), aside_[random_() % aside_.size()]);
      std::unique_ptr<Block> block = std::move(aside_.front());
      aside_.pop_front();
      take_turn(std::move(block));
      watch_for_waiting();
    }
  }

private:
  void take_turn(std::unique_ptr<Block> block) {
    std::vector<Warp*> order;
    for (Warp& warp : block->warps) order.push_back(&warp);
    while (grid_.outcome == Outcome::success) {
      if (options().shuffle_seed != 0) std::ranges::shuffle(order, random_);
      bool is_over = true, is_interrupted = false;
      for (Warp* const warp : order) {
        if (warp->runnable() != 0) run(*warp, turn());
        if (grid_.outcome != Outcome::success) return;
        is_over = is_over && warp->alive == 0;
        is_interrupted = is_interrupted || warp->runnable() != 0;
      }
      if (is_over) return;
      release_barriers(*block);
      if (is_interrupted) break;
    }
    aside_.push_back(std::move(block));
  }

  std::int64_t turn() {
    if (options().shuffle_seed == 0) return long_turn;
    return static_cast<std::int64_t>(1) << (random_() % 12); // from single instructions to whole loops
  }

  /// All warps that could go on poll memory, and no one has changed it for several rounds: it will never change.
  void watch_for_waiting() {
    if (++turns_ < aside_.size() * (options().shuffle_seed == 0 ? long_rounds : short_rounds)) return;
    turns_ = 0;
    bool is_idle = std::exchange(changes_, grid_.changes) == grid_.changes && !aside_.empty();
    for (const auto& block : aside_) {
      for (Warp& warp : block->warps) {
        const bool has_polled = std::exchange(warp.has_polled, false);
        is_idle = is_idle && (has_polled || warp.runnable() == 0);
      }
    }
    if (!is_idle) return;
    for (const Warp& warp : aside_.front()->warps) {
      if (warp.runnable() == 0) continue;
      const int lane = std::countr_zero(warp.runnable());
      const Instruction& instruction = grid_.kernel.code[warp.counters[static_cast<std::size_t>(lane)]];
      report_finding("endless loop", &grid_.kernel, &instruction,
                     describe_thread(warp, lane) +
                         " and all other blocks that have begun wait for a change of memory; " +
                         std::to_string(grid_.blocks - begun_) + " blocks have not begun");
      break;
    }
    grid_.fail(Outcome::launch_timeout);
  }

  Grid& grid_;
  std::size_t capacity_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> order_{}; ///< of the blocks; empty: as they are numbered
  std::deque<std::unique_ptr<Block>> aside_{};
  std::uint64_t begun_ = 0;
  std::uint64_t turns_ = 0;
  std::uint64_t changes_ = 0;
};

} // namespace

Outcome run(Kernel& kernel, const Launch& launch) {
  static auto* const one_at_a_time = new std::mutex;
  const std::lock_guard lock{*one_at_a_time};
  if (const LaunchFault fault = fault_of(kernel, launch); fault.outcome != Outcome::success) {
    report_finding(fault.kind, &kernel, nullptr, fault.detail);
    return fault.outcome;
  }
  const auto begin = std::chrono::steady_clock::now();
  Grid grid{kernel, launch};
  Scheduler{grid}.run_all();
  ++kernel.launches;
  kernel.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return grid.outcome;
}

} // namespace ptxrun
