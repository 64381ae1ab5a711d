#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Argument-dependent lookup of functions that give work to a GPU's queue, for code that serves every kind of device.
// They are in kernel/gpu/, which programs for hosts never include: unqualified calls with this tag as the first
// argument find them when a template is instantiated for a GPU. Read next: kernel/gpu/sort.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

struct OnQueue {};
inline constexpr OnQueue on_queue{};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel {

/// Whether `launch(device, f)` calls f with a GPU's queue.
template <class D> inline constexpr bool has_queue = !std::is_same_v<team_t<D>, Team>;

}}} // namespace twill::v0::kernel
