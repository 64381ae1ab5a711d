// SPDX-License-Identifier: Apache-2.0
//
// A mesh of four ranks for a group of five.
//
// expect: mesh_and_group_have_different_numbers_of_ranks
// expect: axes_hold<4>
// expect: group_has<5>

#include <twill/parallel/group/mesh.hpp>

using namespace twill;

using Grid = parallel::Mesh<parallel::Axis<"data", 2>, parallel::Axis<"pipe", 2>>;

#ifdef MISUSE
static_assert(Grid::fits<5>);
#else
static_assert(Grid::fits<4>);
#endif
