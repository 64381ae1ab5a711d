#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// GPU work queue: `launch(device, f)` calls `f` with a `Queue` on a GPU, and with a `Team` on a host device. It is a
// stream of one device, with the resources of its kernels. Giving it work returns at once. Kernels and libraries share
// a constant allowance of working memory for each stream, so that nothing is allocated in a steady step and a captured
// graph keeps its addresses. Host threads that share a stream use it in turn: a `WorkingMemory` holds it for one
// sequence of launches. Read next: device/gpu/stream.hpp, kernel/gpu/launch.hpp.

#include <twill/device/cpu/team.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace twill { inline namespace v0 { namespace gpu {

/// Sizes of working memory for libraries, each twice the previous one.
inline constexpr std::size_t library_pieces = 6;

/// The amount of a stream's working memory.
struct Allowance {
  std::size_t bytes = 0; ///< for partial results and library workspaces
  int counter_count = 0; ///< for kernels whose last block ends them
};

/// The working memory of a stream: made with it, and freed with the process.
class WorkingSpace {
public:
  /// No working memory.
  WorkingSpace() = default;
  /// requires: counters that are zero
  WorkingSpace(void* memory, unsigned* counters, const Allowance& size)
      : memory_{memory}, counters_{counters}, size_{size} {}

  /// The amount.
  [[nodiscard]] const Allowance& size() const { return size_; }
  /// Bytes of the device that it holds, with the additional library memory.
  [[nodiscard]] std::size_t held_bytes() const {
    return size_.bytes + sizeof(unsigned) * static_cast<std::size_t>(size_.counter_count) + library_bytes_;
  }

private:
  friend class WorkingMemory;
  void* memory_ = nullptr;
  unsigned* counters_ = nullptr;
  std::array<void*, library_pieces> library_memory_{};
  std::atomic<std::size_t> library_bytes_{0};
  Allowance size_{};
  std::recursive_mutex in_use_{};
};

/// A stream's working memory, held by this host thread: while it lives, no other thread gives the stream work that uses
/// the memory, so a sequence of launches finds the results of its first ones there. Kernels of a stream run in order,
/// so it may be destroyed once the last launch is submitted. A thread that holds it may take it again.
class [[nodiscard]] WorkingMemory {
public:
  /// Waits until no other thread holds it.
  explicit WorkingMemory(WorkingSpace& space) : space_{&space}, held_{space.in_use_} {}

  /// Memory of `size().bytes`.
  [[nodiscard]] void* memory() const { return space_->memory_; }
  /// Zero between kernels: the last block resets its own.
  [[nodiscard]] unsigned* counters() const { return space_->counters_; }
  /// The amount.
  [[nodiscard]] const Allowance& size() const { return space_->size_; }
  /// The additional library memory, by size; null until it is needed. For device/gpu/library_memory.hpp.
  [[nodiscard]] std::array<void*, library_pieces>& library_memory() const { return space_->library_memory_; }
  /// Adds to the bytes of the library memory.
  void count_library_memory(std::size_t bytes) const { space_->library_bytes_ += bytes; }

private:
  WorkingSpace* space_;
  std::unique_lock<std::recursive_mutex> held_;
};

/// Bytes of each stream's allowance.
inline constexpr std::size_t allowance_bytes = std::size_t{32} << 20;
/// Counters of each stream's allowance.
inline constexpr int allowance_counters = 16384;

/// A stream of a device.
template <Runtime R> class Queue {
public:
  using RuntimeType = R; ///< the driver

  /// Refers to both; they live as long as the stream.
  Queue(int device, typename R::Stream stream, const Properties& properties, WorkingSpace& working)
      : device_{device}, stream_{stream}, properties_{&properties}, working_{&working} {}

  /// The ordinal.
  [[nodiscard]] int device() const { return device_; }
  /// The driver's handle.
  [[nodiscard]] typename R::Stream stream() const { return stream_; }
  /// The properties of the device.
  [[nodiscard]] const Properties& properties() const { return *properties_; }
  /// The amount of the stream's working memory.
  [[nodiscard]] const Allowance& allowance() const { return working_->size(); }
  /// The memory, for one sequence of launches: no other thread uses it while the object is alive.
  [[nodiscard]] WorkingMemory working_memory() const { return WorkingMemory{*working_}; }

private:
  int device_;
  typename R::Stream stream_;
  const Properties* properties_;
  WorkingSpace* working_;
};

/// A stream and the resources of its kernels. Never destroyed: a captured graph and a released block may still name it.
template <Runtime R> struct StreamState {
  StreamState(int device, typename R::Stream stream, const Properties& properties, WorkingSpace& space, bool is_shared)
      : working{space}, shares_working{is_shared}, queue{device, stream, properties, space} {}
  StreamState(const StreamState&) = delete;
  StreamState& operator=(const StreamState&) = delete;

  WorkingSpace& working;
  const bool shares_working; ///< with another stream
  Queue<R> queue;
  StreamState* next = nullptr;       ///< of the same device
  StreamState* next_spare = nullptr; ///< among the unused ones
  std::atomic<bool> is_recording{false};
  std::atomic<bool> is_forgotten{false}; ///< its owner may have destroyed it; a new one may get the same handle
  /// On it graphs for this stream are recorded, so that no other thread's work gets into them.
  std::atomic<StreamState*> recorder{nullptr};
};

/// The launch parameters of a kernel.
struct LaunchShape {
  unsigned blocks = 1;          ///< of the grid, which has one dimension
  unsigned threads = 32;        ///< of a block
  std::size_t shared_bytes = 0; ///< of a block
  friend constexpr bool operator==(const LaunchShape&, const LaunchShape&) = default;
};

}}} // namespace twill::v0::gpu

namespace twill { inline namespace v0 {

template <class D>
requires gpu::Runtime<typename D::Runtime>
struct TeamOf<D> {
  using type = gpu::Queue<typename D::Runtime>;
};

}} // namespace twill::v0
