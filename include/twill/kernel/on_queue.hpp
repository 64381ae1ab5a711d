#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What code for every kind of device says to call a function that gives work to a GPU's queue. Those functions stand in
// kernel/gpu/, which programs for hosts never read: naming them unqualified with this tag as the first argument finds them
// when a template is instantiated for a GPU. Read next: kernel/gpu/sort.hpp.

#include <twill/core/config.hpp>
#include <twill/device/team_of.hpp>

#include <type_traits>

namespace twill { inline namespace v0 { namespace kernel { namespace gpu {

struct OnQueue {};
inline constexpr OnQueue on_queue{};

}}}} // namespace twill::v0::kernel::gpu

namespace twill { inline namespace v0 { namespace kernel {

/// Whether `launch(device, f)` calls f with a GPU's queue.
template <class D> inline constexpr bool has_queue = !std::is_same_v<team_t<D>, Team>;

}}} // namespace twill::v0::kernel
