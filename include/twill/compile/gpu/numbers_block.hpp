#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Where the run-time numbers of one executor lie on a GPU. Blocks are cut from slabs that the process keeps and stand in no
// pool's books, like the working memory of a stream: a step has as many bytes as its plan says. A block that is used again
// comes after everything that its last owner gave to the device. Read next: compile/gpu/executor.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/event.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::detail {

/// The spare blocks of one device. Never destroyed.
template <gpu::Runtime R> class NumberSlabs {
public:
  struct Spare {
    std::uint64_t* numbers = nullptr;
    std::size_t count = 0;
    gpu::Event<R> last_use{};
  };

  /// A block of at least `count` numbers, free once its event has passed. throws: GpuError
  [[nodiscard]] Spare take(int device, std::size_t count) {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = spare_.size(); i-- > 0;) {
      if (spare_[i].count < count || (spare_[i].count > usual_count && count <= usual_count)) continue;
      std::swap(spare_[i], spare_.back());
      Spare block = std::move(spare_.back());
      spare_.pop_back();
      return block;
    }
    const bool is_usual = count <= usual_count;
    const std::size_t each = is_usual ? usual_count : count;
    const std::size_t blocks = is_usual ? blocks_of_slab : 1;
    void* memory = nullptr;
    const gpu::Using<R> scope{device};
    gpu::check<R>(R::allocate(&memory, blocks * each * sizeof(std::uint64_t)), "allocate", device);
    for (std::size_t i = blocks; i-- > 1;) spare_.push_back({static_cast<std::uint64_t*>(memory) + i * each, each, {}});
    return {static_cast<std::uint64_t*>(memory), each, {}};
  }

  void give_back(Spare block) {
    const std::lock_guard lock{mutex_};
    spare_.push_back(std::move(block));
  }

  [[nodiscard]] static NumberSlabs& of(int device) {
    static auto* const all = new std::array<NumberSlabs, max_devices>{};
    return (*all)[static_cast<std::size_t>(device)];
  }

private:
  static constexpr std::size_t usual_count = 64;
  static constexpr std::size_t blocks_of_slab = 128;

  std::mutex mutex_{};
  std::vector<Spare> spare_{};
};

} // namespace twill::inline v0::compile::detail

namespace twill::inline v0::compile {

/// Memory for some numbers of eight bytes.
template <gpu::GpuDevice D> class NumbersBlock {
  using R = typename D::Runtime;
  using Slabs = detail::NumberSlabs<R>;

public:
  /// throws: GpuError when there is no memory for it
  NumbersBlock(const D& device, std::size_t count) : device_{device} {
    if (count == 0) return;
    block_ = Slabs::of(device.index).take(device.index, count);
    wait(device, block_.last_use);
  }
  NumbersBlock(const NumbersBlock&) = delete;
  NumbersBlock& operator=(const NumbersBlock&) = delete;
  ~NumbersBlock() {
    if (block_.numbers == nullptr) return;
    try {
      block_.last_use = record(device_);
      Slabs::of(device_.index).give_back(std::move(block_));
    } catch (...) { // a device that failed gets nothing back
    }
  }

  [[nodiscard]] std::uint64_t* data() const { return block_.numbers; }

private:
  D device_;
  typename Slabs::Spare block_{};
};

} // namespace twill::inline v0::compile
