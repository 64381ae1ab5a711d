#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of device/cpu/stream.hpp.

#include <twill/device/cpu/stream.hpp>

namespace twill { inline namespace v0 {

TWILL_BODY void Cpu::Event::wait() const {
  if (worker_ != nullptr) worker_->wait(ticket_);
}

TWILL_BODY Cpu::Event record(Cpu device) {
  auto& worker = detail::cpu_state(device).worker;
  return worker.is_current() ? Cpu::Event{} : Cpu::Event{worker, worker.submitted()};
}

}} // namespace twill::v0
