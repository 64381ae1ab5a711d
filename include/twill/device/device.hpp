#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Device concepts: the requirements on a device kind, so that memory, tensors, models and wrappers are generic in it. A
// kind is a small value type with an ordinal; the functions are found by overload, so generic code calls them
// unqualified. Not checked by the compiler: work launched on a device is ordered, a recorded event passes when all work
// before it is done, and copies are ordered with the work of both devices. Read next: device/cpu/cpu.hpp.

#include <twill/device/copy.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/cpu/memory.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/device/current.hpp>
#include <twill/device/generator.hpp>
#include <twill/device/meta/meta.hpp>

#include <concepts>
#include <cstddef>
#include <string>

namespace twill { inline namespace v0 {

/// A source of large pieces of memory for a pool, which never reads or writes them. Addresses are aligned at least to
/// the granularity of the pool. All functions may be called from several threads at once.
template <class U>
concept MemorySource = requires(U& source, const U& seen, void* memory, std::size_t bytes) {
  { source.allocate(bytes) } -> std::same_as<void*>; // throws std::bad_alloc
  { source.release(memory, bytes) }
  noexcept;
  { seen.total_bytes() } -> std::same_as<std::size_t>;
  { seen.free_bytes() } -> std::same_as<std::size_t>;
};

/// A point in the order of a device's work.
template <class E>
concept DeviceEvent = std::copyable<E> && requires(const E& event) {
  { event.is_complete() } -> std::same_as<bool>;
  {event.wait()};
};

/// The event of a device kind.
template <class D> using event_t = typename D::Event;

/// A kind of device.
template <class D>
concept Device = DeviceName<D> && MemorySource<typename D::Upstream> &&
    std::constructible_from<typename D::Upstream, D> && DeviceEvent<typename D::Event> &&
    requires(const D& device, const typename D::Event& event, void (*task)(), void* to, const void* from,
             std::size_t bytes) {
  { device_name(device) } -> std::same_as<std::string>;
  { record(device) } -> std::same_as<typename D::Event>;
  wait(event);
  wait(device, event);
  synchronize(device);
  submit(device, task).wait();
  copy_bytes(device, to, device, from, bytes, CopyOptions{});
  { generator(device).next() } -> std::same_as<RandomDraw>;
};

/// A kind on which kernels run, at least formally.
template <class D>
concept ComputeDevice = Device<D> && requires(const D& device, void (*kernel)(const team_t<D>&)) {
  launch(device, kernel);
};

/// A kind whose kernels are host code.
template <class D>
concept HostDevice = ComputeDevice<D> && std::same_as<team_t<D>, Team>;

}} // namespace twill::v0
