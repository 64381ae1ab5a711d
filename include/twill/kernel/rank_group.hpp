#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Group of ranks along a named axis, as one rank's program sees it: it carries out calls on runs of bytes that all
// ranks make in the same order. Programs are compiled for an axis with a number of ranks and meet a group when they
// run; parallel/group/rank_group.hpp implements groups of threads, processes or GPUs. Read next: ops/collective.hpp,
// the operations that call a group.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/kernel/primitive.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace kernel {

/// The name of an axis of ranks, at most 16 characters, and its number of ranks, as integers: they are attributes of
/// operations.
struct AxisId {
  std::int64_t low = 0;  ///< characters 0 to 7
  std::int64_t high = 0; ///< the others
  std::int64_t size = 0; ///< ranks; 0: no axis

  constexpr AxisId() = default;
  /// From its form among attributes.
  constexpr AxisId(std::int64_t first, std::int64_t second, std::int64_t ranks)
      : low{first}, high{second}, size{ranks} {}
  /// requires: a name of at most 16 characters of ASCII
  constexpr AxisId(std::string_view name, std::int64_t ranks)
      : low{packed(name, 0)}, high{packed(name, 8)}, size{ranks} {}

  /// Character i of 16; those after the name are zero.
  [[nodiscard]] constexpr char character(int i) const {
    return static_cast<char>((i < 8 ? low : high) >> (8 * (i % 8)) & 0x7f);
  }
  /// The name alone.
  [[nodiscard]] std::string name() const;
  /// Whether both have one name.
  [[nodiscard]] constexpr bool is_named_as(const AxisId& other) const { return low == other.low && high == other.high; }
  friend constexpr bool operator==(const AxisId&, const AxisId&) = default;

private:
  [[nodiscard]] static constexpr std::int64_t packed(std::string_view name, std::size_t from) {
    std::int64_t bits = 0;
    for (std::size_t i = from; i < name.size() && i < from + 8; ++i)
      bits |= static_cast<std::int64_t>(name[i] & 0x7f) << (8 * (i - from));
    return bits;
  }
};

/// A call that all ranks make together.
enum class Collective : std::uint8_t {
  none,
  all_reduce,     ///< the reduction of all sources, everywhere
  all_gather,     ///< the sources of all ranks, in order, everywhere
  reduce_scatter, ///< of the reduction of all sources, a part for each rank
  all_to_all,     ///< part j of rank i's source as part i of rank j's target
  to_next,        ///< the source of each rank, on the rank after it; the last one's on rank 0
  to_previous,    ///< the source of each rank, on the rank before it; rank 0's on the last one
};

/// One call, on memory of the rank's device. Counts are of elements.
struct GroupCall {
  Collective collective = Collective::none; ///< the kind of call
  Reduction reduction = Reduction::sum;     ///< where something is reduced
  DType dtype = DType::float32;             ///< of source and target
  const void* source = nullptr;             ///< what this rank gives
  std::int64_t source_count = 0;            ///< of one rank
  void* target = nullptr;                   ///< where this rank receives the result
  std::int64_t target_count = 0;            ///< of one rank
};

/// One rank's membership in a group along an axis.
class TWILL_EXPORT RankGroup {
public:
  /// Along this axis.
  explicit RankGroup(const AxisId& axis) : axis_{axis} {}
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;
  virtual ~RankGroup() = default;

  /// The axis along which the ranks are numbered.
  [[nodiscard]] const AxisId& axis() const { return axis_; }
  /// The number of this rank along the axis.
  [[nodiscard]] virtual int rank() const = 0;
  /// Runs a call in the order of the device's stream; work given to the device afterwards may use the memory again.
  /// throws: when a rank failed, is missing, or made another call
  virtual void run(const GroupCall& call) = 0;
  /// Tells the other ranks that this one cannot go on.
  virtual void fail(const std::exception_ptr& cause) { static_cast<void>(cause); }

private:
  AxisId axis_;
};

/// The groups that a program is a member of, one for each axis. Copies share them.
class RankGroups {
public:
  RankGroups() = default;

  /// Adds a group, in place of one along an axis of the same name.
  void add(std::shared_ptr<RankGroup> group);
  /// The group along the axis of this name; null where there is none.
  [[nodiscard]] RankGroup* find(const AxisId& axis) const;
  /// All groups, in the order in which they were added.
  [[nodiscard]] const std::vector<std::shared_ptr<RankGroup>>& all() const { return groups_; }

  /// Tells the other ranks of all groups that this one cannot go on.
  void fail(const std::exception_ptr& cause) const;

private:
  std::vector<std::shared_ptr<RankGroup>> groups_{};
};

}}} // namespace twill::v0::kernel

#if TWILL_HEADER_ONLY
#include <twill/kernel/rank_group.ipp>
#endif
