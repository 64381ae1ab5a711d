#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Host callbacks between the launches of one run: they start to add up gradients that are final, wait for weights that
// are read next, or finish an instruction together with others. The table knows where a run can be interrupted: between
// two launches, outside of loops. On a device with a queue the launches before a callback have been submitted, but may
// not be done. Read next: compile/run/executor.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

struct Binding;

/// Acts at some places of a run. An exception ends the run there.
class HostCallback {
public:
  /// Acts at a place: instructions with lower numbers have been given to the device, no others.
  virtual void act(int place, const Binding& binding) = 0;

  /// The places, in ascending order, each once; the number of instructions stands for the end.
  [[nodiscard]] std::span<const int> places() const;

protected:
  ~HostCallback() = default;
  void set_places(std::vector<int> places);

private:
  std::vector<int> places_{};
};

/// Two callbacks as one: at each place of either, the first acts, then the second. Both ignore places of the other.
class BothHostCallbacks final : public HostCallback {
public:
  BothHostCallbacks(HostCallback& first, HostCallback& second);

  TWILL_BODY void act(int place, const Binding& binding) override;

private:
  HostCallback* first_;
  HostCallback* second_;
};

/// The places of one run at which a callback acts, one after the other.
class HostCallbackPlaces {
public:
  /// For a callback that may be null, in a run of a binding.
  HostCallbackPlaces(HostCallback* callback, const Binding& binding)
      : callback_{callback},
        binding_{&binding},
        rest_{callback == nullptr ? std::span<const int>{} : callback->places()} {}

  /// Whether a place is left that comes before the end of these instructions.
  [[nodiscard]] bool is_before(std::size_t end) const { return !rest_.empty() && next() < end; }
  [[nodiscard]] std::size_t next() const { return static_cast<std::size_t>(rest_.front()); }

  /// Acts at the next place.
  void act() {
    const int place = rest_.front();
    rest_ = rest_.subspan(1);
    callback_->act(place, *binding_);
  }
  /// Acts at all places that are left.
  void finish() {
    while (!rest_.empty()) act();
  }

private:
  HostCallback* callback_;
  const Binding* binding_;
  std::span<const int> rest_;
};

/// The first place after an instruction.
[[nodiscard]] TWILL_CONSTEXPR int place_after(const TableView& table, int instruction) {
  int place = instruction + 1;
  if (const int loop = outermost_loop(table, table.instructions[static_cast<std::size_t>(instruction)]); loop >= 0)
    place = table.loops[static_cast<std::size_t>(loop)].last + 1;
  while (static_cast<std::size_t>(place) < table.instructions.size() &&
         table.instructions[static_cast<std::size_t>(place)].continues)
    ++place;
  return place;
}

/// The last place before an instruction.
[[nodiscard]] TWILL_CONSTEXPR int place_before(const TableView& table, int instruction) {
  int place = instruction;
  if (const int loop = outermost_loop(table, table.instructions[static_cast<std::size_t>(instruction)]); loop >= 0)
    place = table.loops[static_cast<std::size_t>(loop)].first;
  while (place > 0 && table.instructions[static_cast<std::size_t>(place)].continues) --place;
  return place;
}

}}}} // namespace twill::v0::compile::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/run/host_callback.ipp>
#endif
