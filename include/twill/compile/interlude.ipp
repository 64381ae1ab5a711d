#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/interlude.hpp.

#include <twill/compile/interlude.hpp>

namespace twill::inline v0::compile::inline TWILL_ISA {

TWILL_BODY void Interlude::set_places(std::vector<int> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places_ = std::move(places);
}

TWILL_BODY BothInterludes::BothInterludes(Interlude& first, Interlude& second) : first_{&first}, second_{&second} {
  std::vector<int> places{first.places().begin(), first.places().end()};
  places.insert(places.end(), second.places().begin(), second.places().end());
  set_places(std::move(places));
}

TWILL_BODY void BothInterludes::reach(int place, const Binding& binding) {
  first_->reach(place, binding);
  second_->reach(place, binding);
}

} // namespace twill::inline v0::compile::inline TWILL_ISA
