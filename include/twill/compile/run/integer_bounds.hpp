#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Bounds checks of indices, labels and lengths before a run that reads them, so that nothing has changed. Only inputs
// of the function are checked: a kernel cannot stop half-way, and an index that a model computes reads zeros and adds
// nothing, see ops/gather.hpp. Host devices check in every run, GPUs in runs that are watched (`step.checked`). Read
// next: compile/run/executor.hpp.

#include <twill/compile/plan/binding.hpp>
#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/copy.hpp>
#include <twill/device/device.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

/// Checks one input, dense in the host's memory.
void check_integers(const TableView& table, const graph::SymbolValues& symbols, const graph::IntegerBounds& bounds,
                    const void* data);

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

/// Calls `look(data)` where a host can read the bytes of a device, after the work that it was given.
template <ComputeDevice D, class Look> void look_at(const D& device, const void* data, std::size_t bytes, Look look) {
  if constexpr (HostDevice<D>) {
    launch(device, [=](const team_t<D>&) { look(data); });
  } else {
    std::vector<std::byte> copy(bytes);
    copy_bytes(Cpu{}, copy.data(), device, data, bytes, CopyOptions{});
    look(copy.data());
  }
}

/// Checks the inputs of a run, which are on the devices of its slots.
/// throws: IndexError naming the layer, the bounds and the value    cost: one pass over indices, labels and lengths
template <ComputeDevice D>
void check_integers(std::span<const D> devices, const TableView& table, const graph::SymbolValues& symbols,
                    std::span<void* const> inputs) {
  for (const graph::IntegerBounds& bounds : table.bounds) {
    const auto input = static_cast<std::size_t>(bounds.input);
    const graph::InputInfo& info = table.inputs[input];
    const auto slot = devices.size() == 1 ? std::size_t{0} : static_cast<std::size_t>(info.slot);
    const auto count = static_cast<std::size_t>(info.shape.elements().evaluate(symbols));
    look_at(devices[slot], inputs[input], count * size_of(info.dtype),
            [&](const void* data) { detail::check_integers(table, symbols, bounds, data); });
  }
}

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/integer_bounds.ipp>
#endif
