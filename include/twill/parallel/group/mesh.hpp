#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Meshes of ranks, grids with named axes: `Mesh<Axis<"data", 2>, Axis<"pipe", 2>>` places 4 ranks, the last axis
// running fastest, as NumPy numbers elements. An omitted size is given at run time: `Mesh<Axis<"data">, Axis<"pipe",
// 2>>(3)`. If all sizes are given, a mismatch is a compile error (`fits<Ranks>`); else an exception with both numbers.
// A mesh is only arithmetic; `MeshGroups` gives each rank its communicators along the axes.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// One direction of a mesh: its number of ranks, or `dyn`.
template <FixedString Name, std::int64_t Size = dyn> struct Axis {
  static_assert(Size > 0 || Size == dyn, "twill: an axis of a mesh has at least one rank");
  static constexpr std::string_view name = Name.view(); ///< its name in models and groups
  static constexpr std::int64_t size = Size;            ///< ranks along it; `dyn`: set at run time
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

template <class... Axes> [[nodiscard]] consteval bool names_differ() {
  const std::string_view names[] = {Axes::name...};
  for (std::size_t i = 0; i < sizeof...(Axes); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  return true;
}

// Shown by the compiler for a mesh of the wrong size: never defined.
template <std::int64_t Ranks> struct axes_hold;
template <std::int64_t Ranks> struct group_has;
template <class Axes, class Group> struct mesh_and_group_have_different_numbers_of_ranks;

template <std::int64_t Held, std::int64_t Ranks> [[nodiscard]] consteval bool mesh_fits() {
  if constexpr (Held != dyn && Held != Ranks)
    static_cast<void>(sizeof(mesh_and_group_have_different_numbers_of_ranks<axes_hold<Held>, group_has<Ranks>>));
  return true;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Ranks in a grid with named axes, the last of which runs fastest.
template <class... Axes> class Mesh {
  static_assert(sizeof...(Axes) > 0, "twill: a mesh has at least one axis");
  static_assert(detail::names_differ<Axes...>(), "twill: two axes of a mesh have one name");

public:
  static constexpr std::size_t axes = sizeof...(Axes); ///< their number
  /// of them, without a size of their own
  static constexpr std::size_t open_axes = (std::size_t{Axes::size == dyn} + ...);
  /// The number of ranks, or `dyn` while a size is open.
  static constexpr std::int64_t static_ranks = open_axes > 0 ? dyn : (Axes::size*...);
  /// One coordinate along each axis.
  using Coordinates = std::array<int, axes>;

  /// The omitted sizes, in order. throws: ValueError for one that is not positive
  template <std::convertible_to<std::int64_t>... Sizes>
  requires(sizeof...(Sizes) == open_axes) explicit(sizeof...(Sizes) > 0) constexpr Mesh(Sizes... open)
      : Mesh{std::array{std::int64_t{open}..., std::int64_t{}}} {}

  /// The mesh filled by a number of ranks, with at most one open axis. throws: ValueError if they do not fill it
  [[nodiscard]] static constexpr Mesh of_ranks(std::int64_t ranks) {
    static_assert(open_axes <= 1, "twill: a number of ranks determines one open axis of a mesh");
    if constexpr (open_axes == 0) {
      const Mesh mesh;
      mesh.require_ranks(ranks);
      return mesh;
    } else {
      constexpr std::int64_t written = ((Axes::size == dyn ? 1 : Axes::size) * ...);
      if (ranks < 1 || ranks % written != 0)
        throw ValueError(join_text({"mesh: its written axes hold ", written, " ranks, which does not divide ", ranks}));
      return Mesh(ranks / written);
    }
  }

  /// True for the number of ranks of the mesh and for any while an axis is open; another does not compile.
  template <std::int64_t Ranks> static constexpr bool fits = detail::mesh_fits<static_ranks, Ranks>();

  /// The number of ranks of the mesh.
  [[nodiscard]] constexpr std::int64_t ranks() const {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes_) product *= size;
    return product;
  }

  /// The place of an axis. An unknown name does not compile.
  template <FixedString Name> [[nodiscard]] static consteval std::size_t index_of() {
    const std::string_view names[] = {Axes::name...};
    std::size_t index = 0;
    while (index < axes && names[index] != Name.view()) ++index;
    return index;
  }
  /// Whether there is an axis of this name.
  template <FixedString Name> static constexpr bool has = index_of<Name>() < axes;

  /// Ranks along an axis.
  template <FixedString Name> [[nodiscard]] constexpr int size() const {
    static_assert(has<Name>, "twill: the mesh has no axis of this name");
    return static_cast<int>(sizes_[index_of<Name>()]);
  }
  /// A rank's coordinate along an axis.
  template <FixedString Name> [[nodiscard]] constexpr int coordinate(int rank) const {
    static_assert(has<Name>, "twill: the mesh has no axis of this name");
    return coordinates(rank)[index_of<Name>()];
  }
  /// A rank's coordinates. throws: IndexError if it is outside
  [[nodiscard]] constexpr Coordinates coordinates(int rank) const {
    if (rank < 0 || rank >= ranks()) throw IndexError(join_text({"mesh: a rank is in [0, ", ranks(), "), got ", rank}));
    Coordinates result{};
    for (std::size_t axis = axes; axis-- > 0;) {
      result[axis] = static_cast<int>(rank % sizes_[axis]);
      rank = static_cast<int>(rank / sizes_[axis]);
    }
    return result;
  }
  /// The rank at these coordinates. throws: IndexError for a place outside
  [[nodiscard]] constexpr int rank_of(const Coordinates& place) const {
    std::int64_t rank = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (place[axis] < 0 || place[axis] >= sizes_[axis])
        throw IndexError(
            join_text({"mesh: axis \"", names_[axis], "\" has ", sizes_[axis], " places, got ", place[axis]}));
      rank = rank * sizes_[axis] + place[axis];
    }
    return static_cast<int>(rank);
  }

  /// Ranks with equal first numbers differ along the named axes only. The second number is a rank's place among them.
  template <FixedString... Names> [[nodiscard]] constexpr std::pair<int, int> color_and_key(int rank) const {
    static_assert((has<Names> && ...), "twill: the mesh has no axis of this name");
    const Coordinates place = coordinates(rank);
    std::array<bool, axes> is_named{};
    ((is_named[index_of<Names>()] = true), ...);
    std::int64_t color = 0;
    std::int64_t key = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      std::int64_t& number = is_named[axis] ? key : color;
      number = number * sizes_[axis] + place[axis];
    }
    return {static_cast<int>(color), static_cast<int>(key)};
  }

  /// throws: ValueError with both numbers unless this number of ranks fills the mesh
  constexpr void require_ranks(std::int64_t got) const {
    if (got != ranks()) throw ValueError(join_text({"mesh: its axes hold ", ranks(), " ranks, the group has ", got}));
  }

private:
  static constexpr std::array<std::string_view, axes> names_{Axes::name...};

  // One more than there are open axes: an empty array would be a special case.
  constexpr explicit Mesh(const std::array<std::int64_t, open_axes + 1>& open) {
    std::size_t next = 0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if (sizes_[axis] == dyn) sizes_[axis] = open[next++];
      if (sizes_[axis] < 1)
        throw ValueError(join_text({"mesh: axis \"", names_[axis], "\" has at least one rank, got ", sizes_[axis]}));
    }
  }

  std::array<std::int64_t, axes> sizes_{Axes::size...};
};

/// Whether M is a `Mesh`.
template <class M> inline constexpr bool is_mesh = false;
template <class... Axes> inline constexpr bool is_mesh<Mesh<Axes...>> = true;
/// A `Mesh`, of any axes.
template <class M>
concept AnyMesh = is_mesh<M>;

/// One rank's communicators in a mesh. Construction is a collective call of the whole group, which has to outlive it.
template <Communicator C, AnyMesh M> class MeshGroups {
public:
  /// throws: ValueError with both numbers if the group does not fill the mesh; an exception of one rank ends the whole
  /// group
  MeshGroups(C& world, M mesh) : world_{&world}, mesh_{mesh} {
    mesh_.require_ranks(world.size());
    along_.reserve(M::axes);
    try {
      for (std::size_t axis = 0; axis < M::axes; ++axis) along_.push_back(split_along(axis));
    } catch (...) { // other ranks would wait for this rank's part
      world.fail(std::current_exception());
      throw;
    }
  }

  /// The mesh, all of whose sizes are known.
  [[nodiscard]] const M& mesh() const { return mesh_; }
  /// The communicator of all its ranks.
  [[nodiscard]] C& world() { return *world_; }
  /// The ranks that differ from this one along an axis only; its rank there is its coordinate.
  template <FixedString Name> [[nodiscard]] C& along() {
    static_assert(M::template has<Name>, "twill: the mesh has no axis of this name");
    return along_[M::template index_of<Name>()];
  }
  /// The communicator by the place of its axis in the mesh.    requires: there are more axes
  [[nodiscard]] C& along_axis(std::size_t axis) { return along_[axis]; }
  template <FixedString Name> [[nodiscard]] int coordinate() const {
    return mesh_.template coordinate<Name>(world_->rank());
  }
  /// The ranks that differ along several axes, in the order of the mesh: a collective call of the whole group.
  template <FixedString... Names> [[nodiscard]] C across() {
    const auto [color, key] = mesh_.template color_and_key<Names...>(world_->rank());
    return world_->split(color, key);
  }

private:
  [[nodiscard]] C split_along(std::size_t axis) {
    auto place = mesh_.coordinates(world_->rank());
    const int key = place[axis];
    place[axis] = 0; // the first rank along this axis represents all of them
    return world_->split(mesh_.rank_of(place), key);
  }

  C* world_;
  M mesh_;
  std::vector<C> along_;
};

/// The mesh over a group, an open axis taking the remaining ranks: `auto groups = over<Mesh<Axis<"data">,
/// ...>>(world)`.
template <AnyMesh M, Communicator C> [[nodiscard]] MeshGroups<C, M> over(C& world) {
  return MeshGroups<C, M>(world, M::of_ranks(world.size()));
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
