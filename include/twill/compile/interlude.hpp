#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What the host does between the launches of one run: start to add up gradients that are final, wait for what is read next,
// or finish an instruction together with others. Where a run can be interrupted is known to the table: between two launches,
// outside of loops. On a device with a queue the launches before an interlude have been given to it, and may not be done.
// Read next: parallel/data/buckets.hpp.

#include <twill/compile/table.hpp>
#include <twill/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace twill::inline v0::compile::inline TWILL_ISA {

struct Binding;

/// Acts at some places of a run. What it throws ends the run there.
class Interlude {
public:
  /// At a place: instructions with lower numbers have been given to the device, no others.
  virtual void reach(int place, const Binding& binding) = 0;

  /// The places, in ascending order, each once; the number of instructions stands for the end.
  [[nodiscard]] std::span<const int> places() const { return places_; }

protected:
  ~Interlude() = default;
  void set_places(std::vector<int> places);

private:
  std::vector<int> places_{};
};

/// Two interludes as one: at each place of either, the first acts, then the second. Both ignore places that are not theirs.
class BothInterludes final : public Interlude {
public:
  BothInterludes(Interlude& first, Interlude& second);

  void reach(int place, const Binding& binding) override;

private:
  Interlude* first_;
  Interlude* second_;
};

/// The first place behind an instruction.
[[nodiscard]] TWILL_CONSTEXPR int place_behind(const TableView& table, int instruction) {
  int place = instruction + 1;
  if (const int loop = table.instructions[static_cast<std::size_t>(instruction)].loop; loop >= 0)
    place = table.loops[static_cast<std::size_t>(loop)].last + 1;
  while (static_cast<std::size_t>(place) < table.instructions.size() &&
         table.instructions[static_cast<std::size_t>(place)].continues)
    ++place;
  return place;
}

/// The last place before an instruction.
[[nodiscard]] TWILL_CONSTEXPR int place_before(const TableView& table, int instruction) {
  int place = instruction;
  if (const int loop = table.instructions[static_cast<std::size_t>(instruction)].loop; loop >= 0)
    place = table.loops[static_cast<std::size_t>(loop)].first;
  while (place > 0 && table.instructions[static_cast<std::size_t>(place)].continues) --place;
  return place;
}

} // namespace twill::inline v0::compile::inline TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/compile/interlude.ipp>
#endif
