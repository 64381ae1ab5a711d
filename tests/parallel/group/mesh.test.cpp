// SPDX-License-Identifier: Apache-2.0
//
// Meshes as arithmetic, their groups over threads, and the bytes that each operation is counted with.

#include <twill/device/device.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/group/mesh.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <catch2/catch.hpp>

#include <numeric>
#include <stdexcept>
#include <vector>

using namespace twill;
using namespace twill::parallel;

namespace {

using Grid = Mesh<Axis<"data", 2>, Axis<"pipe", 3>, Axis<"tensor", 2>>;
using OpenGrid = Mesh<Axis<"data">, Axis<"pipe", 3>>;

std::vector<ThreadCommunicator<Cpu>> group_of(int ranks) {
  return thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(ranks)), {.timeout_ms = 20'000});
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

} // namespace

static_assert(AnyMesh<Grid> && !AnyMesh<int>);
static_assert(Grid::static_ranks == 12 && Grid::fits<12> && OpenGrid::static_ranks == dyn && OpenGrid::fits<9>);
static_assert(Grid{}.rank_of({1, 2, 0}) == 10 && Grid{}.coordinate<"pipe">(10) == 2 && Grid{}.size<"tensor">() == 2);
static_assert(OpenGrid(4).ranks() == 12 && OpenGrid::of_ranks(9).size<"data">() == 3);
static_assert(Grid::has<"pipe"> && !Grid::has<"expert">);

TEST_CASE("ranks and coordinates of a mesh are each other's inverse", "[parallel][PAR-7]") {
  const Grid grid;
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    CHECK(grid.rank_of(grid.coordinates(rank)) == rank);
    const auto [color, key] = grid.color_and_key<"data", "tensor">(rank);
    CHECK(color == grid.coordinate<"pipe">(rank));
    CHECK(key == grid.coordinate<"data">(rank) * 2 + grid.coordinate<"tensor">(rank));
  }
}

TEST_CASE("a mesh that does not fit its group is refused with both numbers", "[parallel][PAR-7]") {
  CHECK_THROWS_WITH(Grid::of_ranks(8), "mesh: its axes hold 12 ranks, the group has 8");
  CHECK_THROWS_WITH(OpenGrid::of_ranks(8), "mesh: its written axes hold 3 ranks, which does not divide 8");
  CHECK_THROWS_WITH(OpenGrid::of_ranks(0), "mesh: its written axes hold 3 ranks, which does not divide 0");
  CHECK_THROWS_WITH(OpenGrid(0), "mesh: axis \"data\" has at least one rank, got 0");
  CHECK_THROWS_WITH(Grid{}.coordinates(12), "mesh: a rank is in [0, 12), got 12");
  CHECK_THROWS_WITH(Grid{}.rank_of({0, 3, 0}), "mesh: axis \"pipe\" has 3 places, got 3");
  auto communicators = group_of(2);
  CHECK_THROWS_WITH((MeshGroups<ThreadCommunicator<Cpu>, OpenGrid>(communicators[0], OpenGrid(1))),
                    "mesh: its axes hold 3 ranks, the group has 2");
}

TEST_CASE("each rank of a mesh has a group along each axis and across several", "[parallel][PAR-7]") {
  auto communicators = group_of(12);
  run_ranks(communicators, [](auto& world) {
    auto groups = over<Grid>(world);
    const auto place = groups.mesh().coordinates(world.rank());
    require(groups.template along<"pipe">().size() == 3, "a group has another size than its axis");
    require(groups.template along<"pipe">().rank() == place[1], "a rank is not its coordinate");
    int sum = world.rank();
    all_reduce(groups.template along<"tensor">(), &sum, 1);
    require(sum == 2 * Grid{}.rank_of({place[0], place[1], 0}) + 1, "the sum along the last axis is wrong");
    auto plane = groups.template across<"data", "pipe">();
    require(plane.size() == 6 && plane.rank() == place[0] * 3 + place[1], "a plane is not in the order of the mesh");
    sum = 1;
    all_reduce(plane, &sum, 1);
    require(sum == 6, "the sum over a plane is wrong");
    require(groups.template coordinate<"data">() == place[0], "a coordinate is wrong");
  });
}

TEST_CASE("traffic is counted by operation, and what one rank sends another receives", "[parallel][PAR-4]") {
  constexpr std::int64_t count = 1000;
  for (const int ranks : {1, 2, 3, 5}) {
    auto communicators = group_of(ranks);
    run_ranks(communicators, [&](auto& communicator) {
      std::vector<float> whole(static_cast<std::size_t>(count * ranks));
      std::vector<float> part(static_cast<std::size_t>(count));
      all_reduce(communicator, part.data(), count);
      all_reduce(communicator, part.data(), 3);
      reduce(communicator, part.data(), count, ranks - 1);
      reduce_scatter(communicator, whole.data(), part.data(), count);
      all_gather(communicator, part.data(), whole.data(), count);
      gather(communicator, part.data(), whole.data(), count);
      scatter(communicator, whole.data(), part.data(), count);
      broadcast(communicator, part.data(), count);
      barrier(communicator);
      if (ranks > 1 && communicator.rank() == 0) send(communicator, part.data(), 7, 1);
      if (communicator.rank() == 1) receive(communicator, part.data(), 7, 0);
    });
    OperationTraffic sum;
    for (const auto& communicator : communicators)
      for (std::size_t i = 0; i < operation_count; ++i)
        sum.add(static_cast<Operation>(i), communicator.traffic()[static_cast<Operation>(i)]);
    const std::int64_t others = ranks - 1;
    CHECK(sum.total().sent_bytes == sum.total().received_bytes);
    // 2 S (n - 1) / n each, S of them in all.
    CHECK(sum[Operation::all_reduce] == Transfer{2 * ranks, 2 * 1003 * 4 * others, 2 * 1003 * 4 * others});
    CHECK(sum[Operation::reduce_scatter].sent_bytes == count * 4 * others * ranks);
    CHECK(sum[Operation::all_gather].received_bytes == count * 4 * others * ranks);
    CHECK(sum[Operation::broadcast] == Transfer{ranks, count * 4 * others, count * 4 * others});
    CHECK(sum[Operation::barrier] == Transfer{ranks, 0, 0});
    CHECK(sum[Operation::send].sent_bytes == (ranks > 1 ? 28 : 0));
    CHECK(communicators[0].traffic()[Operation::scatter].sent_bytes == count * 4 * others);
    CHECK(communicators[0].traffic()[Operation::gather].received_bytes == count * 4 * others);
  }
}

TEST_CASE("ranks may use the cores of the process and start on the first device, whatever was pinned or set before",
          "[parallel][PAR-9]") {
  const int ranks = 24; // more than there are kept threads
  const std::vector<int> cores = twill::cpu::cores_of_process();
  auto group = thread_communicators(std::vector<Cpu>(ranks), {.timeout_ms = 60'000});
  std::vector<std::vector<int>> found(ranks);
  std::vector<int> devices(ranks);
  const auto play = [&] {
    run_ranks(group, [&](auto& member) {
      const auto rank = static_cast<std::size_t>(member.rank());
      found[rank] = twill::cpu::affinity_of_thread();
      devices[rank] = current_device<Cpu>().index;
      set_device(Cpu{Cpu::count() - 1});
    });
  };
  submit(Cpu{Cpu::count() - 1}, play).wait(); // in a thread that is pinned
  for (std::size_t rank = 1; rank < found.size(); ++rank) CHECK(found[rank] == cores);
  play();
  CHECK(devices == std::vector<int>(ranks));
  CHECK(current_device<Cpu>() == Cpu{0});
}
