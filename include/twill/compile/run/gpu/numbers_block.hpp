#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of memory for the run-time scalars of one executor on a GPU. They are cut from slabs that the process keeps
// and no pool counts, like the working memory of a stream: a step has as many bytes as its plan says. A block is used
// again only on the stream of its last owner, whose order keeps the two apart; so no query of the driver is needed, not
// even when a process ends. Read next: compile/run/gpu/capture.hpp.

#include <twill/core/config.hpp>
#include <twill/device/gpu/gpu.hpp>
#include <twill/device/gpu/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { namespace detail {

/// The spare blocks of one device. Never destroyed.
template <gpu::Runtime R> class NumberSlabs {
public:
  struct Spare {
    std::uint64_t* numbers = nullptr;
    std::size_t count = 0;
    std::optional<typename R::Stream> stream{}; ///< of its last use
  };

  /// A block of at least `count` numbers for work on a stream. throws: GpuError
  [[nodiscard]] Spare take(int device, std::size_t count, typename R::Stream stream) {
    const std::lock_guard lock{mutex_};
    for (std::size_t i = spare_.size(); i-- > 0;) {
      if (spare_[i].count < count || (spare_[i].count > usual_count && count <= usual_count)) continue;
      if (spare_[i].stream && !(*spare_[i].stream == stream)) continue;
      std::swap(spare_[i], spare_.back());
      Spare block = std::move(spare_.back());
      spare_.pop_back();
      return block;
    }
    const bool is_usual = count <= usual_count;
    const std::size_t each = is_usual ? usual_count : count;
    const std::size_t blocks = is_usual ? blocks_of_slab : 1;
    void* memory = nullptr;
    spare_.reserve(made_ + blocks); // so that all can come back, whatever fails then
    const gpu::Using<R> scope{device};
    gpu::check<R>(R::allocate(&memory, blocks * each * sizeof(std::uint64_t)), "allocate", device);
    made_ += blocks;
    for (std::size_t i = blocks; i-- > 1;)
      spare_.push_back({static_cast<std::uint64_t*>(memory) + i * each, each, std::nullopt});
    return {static_cast<std::uint64_t*>(memory), each, std::nullopt};
  }

  void give_back(Spare block) noexcept {
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
  std::vector<Spare> spare_{}; ///< with room for all blocks
  std::size_t made_ = 0;
};

}}}} // namespace twill::v0::compile::detail

namespace twill { inline namespace v0 { namespace compile {

/// Memory for some numbers of eight bytes.
template <gpu::GpuDevice D> class NumbersBlock {
  using R = typename D::Runtime;
  using Slabs = detail::NumberSlabs<R>;

public:
  /// throws: GpuError when there is no memory for it
  NumbersBlock(const D& device, std::size_t count) : device_{device} {
    if (count == 0) return;
    const auto stream = current_queue(device).stream();
    block_ = Slabs::of(device.index).take(device.index, count, stream);
    block_.stream = stream;
  }
  NumbersBlock(const NumbersBlock&) = delete;
  NumbersBlock& operator=(const NumbersBlock&) = delete;
  ~NumbersBlock() {
    if (block_.numbers != nullptr) Slabs::of(device_.index).give_back(std::move(block_));
  }

  /// Notes the stream on which the numbers are used from now on.
  void note_stream(typename R::Stream stream) { block_.stream = stream; }

  [[nodiscard]] std::uint64_t* data() const { return block_.numbers; }

private:
  D device_;
  typename Slabs::Spare block_{};
};

}}} // namespace twill::v0::compile
