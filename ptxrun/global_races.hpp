#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Races in global memory, between the blocks of a launch and within them: accesses to a word, one of them a weak write, that nothing
// orders. Within a block, barriers order; between blocks, a release that another acquires: a strong write or an atomic after a fence,
// and a strong read or an atomic of the same address. What a release publishes is exact: the accesses before the fence of its own
// thread, and those that a barrier has put before a fence. An acquire counts for its whole block, which is generous.

#include "ptxrun/access.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptxrun {

class GlobalRaces {
public:
  void access(Warp& warp, const Instruction& instruction, int lane, const std::byte* place, const Access& access);

  void fence(Warp& warp, std::uint32_t mask);
  /// Before a strong write of a lane.
  void release(Warp& warp, int lane, std::uint64_t address, Ordering ordering);
  /// After a strong read.
  void acquire(Warp& warp, std::uint64_t address);
  /// All threads of the block have met.
  void barrier(const Block& block);

private:
  struct Event {
    std::uint64_t time = 0; ///< 0: there is none
    std::uint32_t block = 0;
    std::uint16_t thread = 0;
    std::uint8_t bytes = 0; ///< of the word, as a mask
    bool is_strong = false;
  };
  struct Cell { ///< of a word of 4 bytes
    Event write{};
    std::array<Event, 2> reads{};
  };
  using Page = std::array<Cell, 1024>;

  /// The times of all threads' last fences, at a barrier.
  struct Snapshot {
    std::uint64_t time = 0;
    std::uint64_t before = 0; ///< all that the block did until then is before one of the fences
    std::vector<std::uint64_t> fences{};
  };
  /// A thread's last fence.
  struct Fence {
    std::uint64_t time = 0;
    std::uint64_t barrier_time = 0; ///< of its block, and of its warp, when it was executed
    std::uint64_t sync_time = 0;
  };
  /// What a block has published, as far as another block or an address knows.
  struct Published {
    std::uint64_t before = 0;
    std::shared_ptr<const Snapshot> snapshot{};
    std::map<std::uint16_t, Fence> fences{}; ///< by thread
  };
  using Knowledge = std::map<std::uint32_t, Published>; ///< by block

  struct BlockState {
    std::vector<Fence> fences{}; ///< by thread; empty: none
    std::shared_ptr<const Snapshot> snapshot{};
    bool has_new_fences = false;
    Knowledge known{};
  };

  static void merge(Published& into, const Published& from);
  static void merge(Knowledge& into, const Knowledge& from);
  static bool has_published(const Published& published, const Event& event);

  Cell& cell_at(std::uintptr_t word);
  bool is_ordered(const Warp& warp, std::uint16_t thread, const Event& event);
  void report(Warp& warp, const Instruction& instruction, int lane, std::uintptr_t address, const Event& other,
              std::string_view kind, const char* verb);

  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_{};
  std::uintptr_t last_number_ = 0;
  Page* last_page_ = nullptr;
  std::unordered_map<std::uint32_t, BlockState> blocks_{};  ///< those that fence or acquire
  std::unordered_map<std::uint64_t, Knowledge> released_{}; ///< by address
};

} // namespace ptxrun
