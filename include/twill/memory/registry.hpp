#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pools of the process: one for each device, made at first use, exported, and never destroyed, so that tensors with
// static storage duration may outlive everything else, and several shared libraries share one pool. Device types and
// their upstreams have to be exported too. Read next: memory/buffer.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/current.hpp>
#include <twill/memory/pool.hpp>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <mutex>
#include <string>

namespace twill { inline namespace v0 { namespace memory {

namespace detail {
template <class D> struct StreamsOf { using type = DeviceStream<D>; };
template <class D>
requires requires { typename D::PoolStreams; }
struct StreamsOf<D> {
  using type = typename D::PoolStreams;
};
} // namespace detail

/// The pool type of a kind of device; a kind with several streams declares `D::PoolStreams`.
template <class D> struct PoolOf {
  using Streams = typename detail::StreamsOf<D>::type; ///< the policy of streams
  using type = Pool<typename D::Upstream, Streams>;
  /// A pool for a device, which is never destroyed.
  [[nodiscard]] static type* make(const D& device) {
    if constexpr (std::constructible_from<typename D::Upstream, const D&>) {
      return new type{to_string(device), typename D::Upstream(device), Streams{device}};
    } else {
      return new type{to_string(device), typename D::Upstream{}, Streams{device}};
    }
  }
};

/// The type of the pool of a kind of device.
template <class D> using PoolFor = typename PoolOf<D>::type;

namespace detail {

inline constexpr std::size_t most_devices_of_a_kind = 512;

template <class D> struct PoolTable {
  std::array<std::atomic<PoolFor<D>*>, most_devices_of_a_kind> pools{};
  std::mutex making{};
};

template <class D> TWILL_EXPORT PoolTable<D>& pool_table() {
  static constinit PoolTable<D> table;
  return table;
}

template <class D> TWILL_COLD PoolFor<D>& make_pool(const D& device) {
  require_exists(device, "memory");
  if (static_cast<std::size_t>(device.index) >= most_devices_of_a_kind)
    throw DeviceError(join_text({"memory: ", to_string(device), " has no pool; there are pools for ",
                                 most_devices_of_a_kind, " devices of a kind"}));
  PoolTable<D>& table = pool_table<D>();
  auto& slot = table.pools[static_cast<std::size_t>(device.index)];
  std::lock_guard guard{table.making};
  PoolFor<D>* pool = slot.load(std::memory_order_acquire);
  if (pool == nullptr) {
    pool = PoolOf<D>::make(device);
    slot.store(pool, std::memory_order_release);
  }
  return *pool;
}

} // namespace detail

/// The pool of a device. throws: DeviceError when there is no such device
template <DeviceName D> [[nodiscard]] PoolFor<D>& pool(const D& device) {
  const auto index = static_cast<std::size_t>(device.index);
  if (index < detail::most_devices_of_a_kind) [[likely]]
    if (PoolFor<D>* made = detail::pool_table<D>().pools[index].load(std::memory_order_acquire)) [[likely]]
      return *made;
  return detail::make_pool(device);
}

}}} // namespace twill::v0::memory
