#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Meshes over any communicator, as a function that all ranks of a group call.

#include "tests/parallel/group/collectives.suite.hpp"

#include <twill/parallel/group/mesh.hpp>

namespace twill::test {

template <AnyMesh M, Communicator C> void check_mesh_of(C& world) {
  auto groups = over<M>(world);
  const auto place = groups.mesh().coordinates(world.rank());
  const int columns = groups.mesh().template size<"pipe">();
  auto& row = groups.template along<"pipe">();
  auto& column = groups.template along<"data">();
  require(row.size() == columns && row.rank() == place[1], "a row of a mesh is wrong");
  require(column.size() == world.size() / columns && column.rank() == place[0], "a column of a mesh is wrong");
  std::int64_t sum = world.rank();
  all_reduce(row, &sum, 1);
  require(sum == columns * columns * place[0] + columns * (columns - 1) / 2, "a sum along a row is wrong");
  all_reduce(column, &sum, 1);
  require(sum == world.size() * (world.size() - 1) / 2, "sums along both axes are not that of all ranks");
  auto all = groups.template across<"data", "pipe">();
  require(all.size() == world.size() && all.rank() == world.rank(), "all axes together are not the whole group");
}

/// Columns of every number that divides the group, and a mesh that does not fit it.
template <Communicator C> void check_mesh(C& world) {
  check_mesh_of<Mesh<Axis<"data">, Axis<"pipe", 1>>>(world);
  if (world.size() % 2 == 0) check_mesh_of<Mesh<Axis<"data">, Axis<"pipe", 2>>>(world);
  if (world.size() == 4) check_mesh_of<Mesh<Axis<"data", 2>, Axis<"pipe", 2>>>(world);
  bool is_refused = false;
  try {
    static_cast<void>(over<Mesh<Axis<"data", 5>, Axis<"pipe", 2>>>(world));
  } catch (const ValueError&) {
    is_refused = true;
  }
  require(is_refused, "a mesh of ten ranks was taken for a smaller group");
}

} // namespace twill::test
