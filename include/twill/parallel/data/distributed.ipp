#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/data/distributed.hpp.

#include <twill/parallel/data/distributed.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY std::uint64_t fingerprint(ListView<graph::ParameterInfo> infos) {
  constexpr std::uint64_t prime = 0x100000001b3;
  std::uint64_t hash = infos.size();
  const auto mix = [&](std::uint64_t number) { hash = (hash ^ number) * prime; };
  for (const graph::ParameterInfo& info : infos) {
    mix(info.name.hash);
    mix(static_cast<std::uint64_t>(info.dtype));
    mix(static_cast<std::uint64_t>(info.role));
    for (int axis = 0; axis < info.shape.rank; ++axis) mix(static_cast<std::uint64_t>(info.shape[axis].factor));
  }
  return hash;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA
