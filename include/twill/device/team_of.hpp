#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Team type of a device kind, on which its kernels run: `launch(device, f)` calls `f(const team_t<D>&)`. On a host
// device that is a `Team` of threads, on a GPU the `Queue` of a stream, whose kind specialises `TeamOf`. Code that is
// overloaded on the team serves all kinds that share one. Read next: device/cpu/team.hpp, device/gpu/queue.hpp.

#include <twill/device/cpu/team.hpp>

namespace twill { inline namespace v0 {

/// The type of `team_t`; a kind whose kernels are not host code specialises it.
template <class D> struct TeamOf {
  using type = Team; ///< threads of a host device
};

/// The team of a device kind.
template <class D> using team_t = typename TeamOf<D>::type;

}} // namespace twill::v0
