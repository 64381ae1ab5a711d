// SPDX-License-Identifier: Apache-2.0
//
// Memory that belongs to several at once, on an emulated GPU: that of other libraries in twill's hands, and twill's in theirs.
// It goes back to whom it belongs after the work of all that use it, and costs no more the more streams have used it.

#include "tests/support/emulated_device.hpp"

#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/lent.hpp>
#include <twill/memory/statistics.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>

using namespace twill;

namespace {

using D = Emulated;
using R = EmulatedRuntime;
using Bytes = memory::Buffer<D>;
using Machine = emulation::Machine;
constexpr std::size_t bytes = 4096;

} // namespace

TEST_CASE("memory that a thousand streams have used in turn costs no more than that of one", "[memory][MEM-1]") {
  Bytes own(D{0}, bytes);
  Bytes lent = memory::lend(D{0}, own.data(), bytes, std::make_shared<int>(0));
  const auto use = [&] {
    const gpu::Stream<D> side{D{0}};
    own.record_stream(side.handle());
    lent.record_stream(side.handle());
  };
  use();
  const auto events = Machine::get().live_events;
  for (int i = 1; i < 1000; ++i) use();
  CHECK(Machine::get().live_events == events);
  lent.reset();
  own.reset();
  CHECK(memory_allocated(D{0}) == 0);
}
