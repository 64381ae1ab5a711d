#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pinned host memory, to and from which a GPU copies while all threads go on. It is an ordinary buffer of a host device
// whose memory comes from a pool that the driver pinned. A copy in progress keeps the memory: it is reused when the
// copy is done, and no thread waits for that. Read next: device/gpu/copy.hpp, tensor/gpu/pin_memory.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/memory.hpp>
#include <twill/device/gpu/copy.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/pool.hpp>
#include <twill/memory/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace memory {

/// Upstream of pinned memory.
template <gpu::Runtime R> class PinnedUpstream {
public:
  /// throws: std::bad_alloc when the machine has none left, GpuError
  [[nodiscard]] void* allocate(std::size_t bytes) {
    gpu::require_no_recording<R>("allocate_pinned", 0);
    const gpu::Using<R> scope{some_device()};
    void* memory = nullptr;
    const gpu::Status status = R::allocate_pinned(&memory, bytes);
    if (R::is_out_of_memory(status)) throw std::bad_alloc{};
    gpu::check<R>(status, "allocate_pinned", 0);
    return memory;
  }
  void release(void* memory, std::size_t) noexcept {
    if (!gpu::process_is_ending) static_cast<void>(R::release_pinned(memory));
  }
  [[nodiscard]] std::size_t total_bytes() const { return Cpu::Upstream{Cpu{}}.total_bytes(); }
  [[nodiscard]] std::size_t free_bytes() const { return Cpu::Upstream{Cpu{}}.free_bytes(); }

private:
  /// A device in use, so that pinning memory creates no context elsewhere; otherwise the driver's current one.
  [[nodiscard]] static int some_device() {
    for (const auto& slot : gpu::device_table<R>().states)
      if (const auto* state = slot.load(std::memory_order_acquire)) return state->index();
    int device = 0;
    gpu::check<R>(R::device_in_use(&device), "device_in_use", 0);
    return device;
  }
};

/// The pinned memory of a process, for all devices of one driver.
template <gpu::Runtime R> class PinnedPool final : public BlockKeeper {
public:
  using PoolType = Pool<PinnedUpstream<R>>;

  /// The pool of the process, made at first use and never destroyed.
  [[nodiscard]] TWILL_EXPORT static PinnedPool& get() {
    static auto* const pool = new PinnedPool;
    return *pool;
  }

  /// A buffer of a host device. throws: OutOfMemoryError, GpuError, CaptureError while this thread records a graph
  [[nodiscard]] Buffer<Cpu> allocate(Cpu device, std::size_t bytes) {
    if (bytes == 0) return Buffer<Cpu>{device, 0};
    sweep();
    auto use = std::make_unique<Use>();
    Block* const block = use->block = pool_.allocate(bytes);
    try {
      const std::lock_guard lock{mutex_};
      in_use_.insert(place_of(block->address), use.get());
    } catch (...) {
      pool_.release(block);
      throw;
    }
    static_cast<void>(use.release());
    block->keeper = this;
    return Buffer<Cpu>::of_block(device, block);
  }

  /// Whether an address is in pinned memory that has an owner.
  [[nodiscard]] bool holds(const void* address) {
    const std::lock_guard lock{mutex_};
    return find(address) != nullptr;
  }

  /// Records that work before the event uses the memory; false when it is not in this pool.
  bool note_use(const void* address, const gpu::Event<R>& last) {
    std::vector<gpu::Event<R>> earlier{};
    {
      const std::lock_guard lock{mutex_};
      Use* const use = find(address);
      if (use == nullptr) return false;
      if (use->last.size() >= most_events) earlier.swap(use->last);
      use->last.push_back(last);
    }
    if (earlier.empty()) return true;
    earlier.erase(std::remove_if(earlier.begin(), earlier.end(), is_done), earlier.end());
    const std::lock_guard lock{mutex_};
    Use* const use = find(address); // the caller holds the memory
    use->last.insert(use->last.end(), earlier.begin(), earlier.end());
    return true;
  }

  /// Gives memory whose copies are done back to the driver; returns its bytes.
  std::size_t empty_cache() {
    sweep();
    return pool_.empty_cache();
  }

  [[nodiscard]] MemoryStats stats() const { return pool_.stats(); }
  [[nodiscard]] PoolType& pool() { return pool_; }

private:
  using Event = gpu::Event<R>;
  static constexpr std::size_t most_events = 8;

  /// A block that has an owner, or that copies still use.
  struct Use {
    Block* block = nullptr;
    std::vector<Event> last{};
    Use* next = nullptr; ///< among those that wait for their copies
  };

  PinnedPool() : pool_{join_text({"pinned memory of ", R::name})} {
    gpu::pinned_memory<R> = [](const void* address, const Event& last) { return get().note_use(address, last); };
  }

  [[nodiscard]] static bool is_done(const Event& event) {
    if (gpu::recorded_graph<R>() != 0 || gpu::process_is_ending) return false; // the driver cannot be asked
    try {
      return event.is_complete();
    } catch (...) { // a device that failed copies nothing any more
      return true;
    }
  }

  /// Under the lock: the first block after an address.
  [[nodiscard]] auto place_of(const void* address) {
    return std::upper_bound(in_use_.begin(), in_use_.end(), static_cast<const std::byte*>(address),
                            [](const std::byte* byte, const Use* use) { return byte < use->block->address; });
  }

  /// Under the lock: the block that contains an address, or null.
  [[nodiscard]] Use* find(const void* address) {
    const auto after = place_of(address);
    if (after == in_use_.begin()) return nullptr;
    Use* const use = *(after - 1);
    return static_cast<const std::byte*>(address) < use->block->address + use->block->bytes ? use : nullptr;
  }

  void take_back(Block* block) noexcept override {
    {
      const std::lock_guard lock{mutex_};
      const auto place = place_of(block->address) - 1;
      (*place)->next = std::exchange(waiting_, *place);
      in_use_.erase(place);
    }
    sweep();
  }

  /// Returns blocks that no copy uses any more to the pool. The driver is called without the lock.
  void sweep() noexcept {
    Use* asked = nullptr;
    {
      const std::lock_guard lock{mutex_};
      asked = std::exchange(waiting_, nullptr);
    }
    while (asked != nullptr) {
      Use* const use = std::exchange(asked, asked->next);
      if (std::all_of(use->last.begin(), use->last.end(), is_done)) {
        use->block->keeper = nullptr;
        pool_.release(use->block);
        delete use;
      } else {
        const std::lock_guard lock{mutex_};
        use->next = std::exchange(waiting_, use);
      }
    }
  }

  PoolType pool_;
  std::mutex mutex_{};
  std::vector<Use*> in_use_{}; ///< by address
  Use* waiting_ = nullptr;     ///< released, with copies in progress
};

}}} // namespace twill::v0::memory
