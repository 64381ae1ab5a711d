// SPDX-License-Identifier: Apache-2.0
//
// Memory that belongs to several at once, on an emulated GPU: that of other libraries in twill's hands, and twill's in theirs.
// It goes back to whom it belongs after the work of all that use it, and costs no more the more streams have used it.

#include "tests/support/emulated_device.hpp"

#include <twill/device/gpu/copy.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/memory/lent.hpp>
#include <twill/memory/statistics.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

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

TEST_CASE("memory of others that is dropped in a recording goes back when the recording ends", "[memory][MEM-1]") {
  const Bytes own(D{0}, bytes);
  const gpu::Stream<D> side{D{0}};
  std::optional<gpu::Event<R>> last{};
  bool was_done = false;
  const auto note = [&](const int* number) {
    was_done = last->is_complete();
    delete number;
  };
  std::weak_ptr<int> kept{};
  const auto lent_and_in_use = [&] {
    const std::shared_ptr<int> owner{new int{0}, note};
    kept = owner;
    Bytes lent = memory::lend(D{0}, own.data(), bytes, owner);
    lent.record_stream(side.handle());
    REQUIRE(R::fill(lent.data(), 7, bytes, side.handle()) == 0);
    last.emplace(gpu::state_of(D{0}), side.handle());
    return lent;
  };
  SECTION("that succeeds") {
    Bytes lent = lent_and_in_use();
    const auto graph = gpu::capture(D{0}, [&] {
      lent.reset();
      REQUIRE_FALSE(kept.expired());
    });
    CHECK(graph.reason() == std::string{});
  }
  SECTION("that is dropped") {
    Bytes lent = lent_and_in_use();
    const gpu::Capture<D> recording{D{0}};
    lent.reset();
    REQUIRE_FALSE(kept.expired());
  }
  CHECK(kept.expired());
  CHECK(was_done);
}

TEST_CASE("memory that the recording's own stream was told of serves again when the recording ends",
          "[memory][MEM-1]") {
  Bytes outside(D{0}, bytes);
  const void* const address = outside.data();
  auto graph = gpu::capture(D{0}, [&] {
    const auto recorder = current_queue(D{0}).stream();
    Bytes inside(D{0}, bytes);
    inside.record_stream(recorder);
    outside.record_stream(recorder);
    outside.reset();
    inside.reset();
    CHECK(memory_allocated(D{0}) == 2 * bytes); // nobody may have them yet
  });
  CHECK(graph.reason() == std::string{});
  CHECK(memory_allocated(D{0}) == 0);
  synchronize(D{0});
  CHECK(Bytes(D{0}, bytes).data() == address);
  graph = {};
  synchronize(D{0});
  CHECK(empty_cache(D{0}) > 0);
  CHECK(memory_reserved(D{0}) == 0);
}

TEST_CASE("where no event can be had, a stream that only the memory was told of is waited for", "[memory][MEM-6]") {
  R::Stream own{};
  REQUIRE(R::use_device(0) == 0);
  REQUIRE(R::create_stream(&own) == 0);
  Bytes memory(D{0}, bytes);
  const Bytes there(D{0}, bytes);
  const bool is_lent = GENERATE(false, true);
  Bytes used = is_lent ? memory::lend(D{0}, memory.data(), bytes, std::make_shared<int>(0)) : std::move(memory);
  used.record_stream(own);
  REQUIRE(R::copy(there.data(), used.data(), bytes, own) == 0);
  Machine::get().fault = {"record_event", 1, 999};
  used.reset();
  CHECK(own.data->finished == own.data->queued);
  CHECK(Machine::get().fault.at == 0);
  Machine::get().fault = {};
  forget_stream(D{0}, own);
  REQUIRE(R::destroy_stream(own) == 0);
}
