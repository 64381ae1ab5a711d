#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Copies between devices. A copy is work of both devices: it starts after everything given to the source and to the
// destination before it, and everything given to either afterwards comes after it, so no stream ever reads a
// half-written tensor. With `non_blocking` the caller does not wait; the order does not change. A kind adds its own
// overloads of `copy_bytes`, found by the types of both devices. Read next: device/device.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/stream.hpp>
#include <twill/device/meta/meta.hpp>

#include <cstddef>
#include <cstring>
#include <span>

namespace twill { inline namespace v0 {

/// Options of a copy to another device.
struct CopyOptions {
  bool non_blocking = false; ///< return before the copy is done; both buffers must live until it is
};

namespace detail {
/// Splits a copy over the team if it is long enough to be worth waking it.
void copy_on_team(const Team& team, void* to, const void* from, std::size_t bytes);

/// A copy that waits for its source. A single task type, so that devices compile code for only one.
struct LateCopy {
  Cpu::Event source_ready{};
  void* to = nullptr;
  const void* from = nullptr;
  std::size_t bytes = 0;

  void operator()() const;
};
} // namespace detail

/// Copies between host devices, or within one. The ranges must not overlap.
void copy_bytes(Cpu to_device, void* to, Cpu from_device, const void* from, std::size_t bytes,
                CopyOptions options = {});

/// A copy as work of the destination alone, after `ready`. The source's other work goes on; code that overwrites the
/// source waits for the event. On a host device, whose work is the caller's, the caller waits and copies.
Cpu::Event pull_bytes(Cpu to_device, void* to, Cpu, const void* from, std::size_t bytes,
                      std::span<const Cpu::Event> ready);

/// Does nothing: a copy within `Meta` has no bytes.
inline void copy_bytes(Meta, void*, Meta, const void*, std::size_t, CopyOptions = {}) {}

/// Does nothing: bytes copied to `Meta` are dropped.
template <DeviceName D>
requires D::has_memory void copy_bytes(Meta, void*, const D&, const void*, std::size_t, CopyOptions = {}) {}

/// A copy out of `Meta`, which has no bytes to read. throws: DeviceError
template <DeviceName D>
requires D::has_memory void copy_bytes(const D& to_device, void*, Meta from_device, const void*, std::size_t bytes,
                                       CopyOptions = {}) {
  throw DeviceError(join_text({"copy_bytes: ", bytes, " bytes from ", to_string(from_device), " to ",
                               to_string(to_device), ", but a meta device has no memory; run on a device that has"}));
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/device/copy.ipp>
#endif
