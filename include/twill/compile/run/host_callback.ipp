#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/run/host_callback.hpp.

#include <twill/compile/run/host_callback.hpp>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY std::span<const int> HostCallback::places() const { return places_; }

TWILL_BODY void HostCallback::set_places(std::vector<int> places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places_ = std::move(places);
}

TWILL_BODY BothHostCallbacks::BothHostCallbacks(HostCallback& first, HostCallback& second)
    : first_{&first}, second_{&second} {
  std::vector<int> places{first.places().begin(), first.places().end()};
  places.insert(places.end(), second.places().begin(), second.places().end());
  set_places(std::move(places));
}

TWILL_BODY void BothHostCallbacks::act(int place, const Binding& binding) {
  first_->act(place, binding);
  second_->act(place, binding);
}

}}}} // namespace twill::v0::compile::TWILL_ISA
