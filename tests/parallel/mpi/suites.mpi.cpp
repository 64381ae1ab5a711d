// SPDX-License-Identifier: Apache-2.0
//
// One process of those that mpirun starts: `suites.mpi <part>`. Ends with 0 when all is well; what is wrong goes to stderr. The
// parts `dies` and `throws` end badly, and the test reads what mpirun makes of that. Time is real here, since MPI's own waits are in
// no simulation: delays are short, and one time-out of two seconds is waited for; all others are tested in virtual time, on the same
// engine over a fake network.

#include "tests/parallel/group/collectives.suite.hpp"
#include "tests/parallel/group/failures.suite.hpp"
#include "tests/parallel/group/mesh.suite.hpp"
#include "tests/parallel/mpi/models.hpp"

#include <twill/parallel/messages/mpi.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace twill;
using namespace twill::parallel;

namespace {

/// Sums whose bits depend on the order, of all types that are rounded.
template <Communicator C> std::vector<double> sums(C& communicator) {
  std::vector<double> result;
  const auto add = [&]<class T>(T) {
    for (const std::int64_t count : {1, 77, 1000}) {
      auto values = test::values_of<T>(communicator.rank(), count, 5);
      for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<double>(values[i]) / 3);
      all_reduce(communicator, values.data(), count);
      for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(values[i]));
      all_reduce(communicator, values.data(), count, Reduction::mean);
      for (std::int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(values[i]));
    }
  };
  add(float{});
  add(double{});
  add(half{});
  add(bfloat16{});
  return result;
}

/// The group of the processes has the bits of a group of as many threads.
void check_bits(MpiCommunicator<>& world) {
  auto threads = thread_communicators(std::vector<Cpu>(static_cast<std::size_t>(world.size())));
  std::vector<double> wanted;
  run_ranks(threads, [&](auto& rank) {
    auto result = sums(rank);
    if (rank.rank() == 0) wanted = std::move(result);
  });
  const auto got = sums(world);
  test::require(got.size() == wanted.size() && std::memcmp(got.data(), wanted.data(), got.size() * sizeof(double)) == 0,
                "processes and threads differ in a bit");
  test::require(world.traffic()[Operation::all_reduce].calls == 24, "calls are counted wrongly");
}

void check_suites() {
  auto world = mpi_communicator();
  test::check_communicator(world);
  test::check_mesh(world);
  // Megabytes, for which MPI makes sender and receiver meet.
  std::vector<float> large(3'000'001, 1.0F);
  auto reducing = world.start(Call::all_reduce(elements(large.data(), 3'000'001)));
  test::check_messages(world);
  reducing.wait();
  test::require(large == std::vector<float>(large.size(), static_cast<float>(world.size())), "a large sum is wrong");
  auto fresh = world.split(0, world.rank());
  check_bits(fresh);
}

/// Ranks that come late, in groups that come and go.
void check_late_ranks() {
  auto world = mpi_communicator();
  for (unsigned turn = 0; turn < 50; ++turn) {
    std::mt19937 engine(turn * 16 + static_cast<unsigned>(world.rank()));
    std::this_thread::sleep_for(std::chrono::microseconds(engine() % 3000));
    test::check_operations<float>(world, 1 + static_cast<std::int64_t>(turn) * 7, turn);
    test::check_messages(world);
    test::check_handles(world);
    test::check_sub_groups(world);
    test::check_mesh(world);
  }
}

void check_failures() {
  test::check_failures(
      [](std::int64_t timeout_ms, auto f) {
        auto world = mpi_communicator(MPI_COMM_WORLD, Cpu{}, {.timeout_ms = timeout_ms});
        f(world);
      },
      {.are_threads = false});
}

/// Keeps a process: mpirun ends all as soon as one has ended, and the others have to say something first.
struct Stay {
  bool applies = false;
  ~Stay() {
    if (applies) std::this_thread::sleep_for(std::chrono::seconds(60));
  }
};

/// What `f` is refused with.
template <class F> std::string refusal_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// A level of threads that twill cannot do with.
int run_with_one_thread() {
  MPI_Init(nullptr, nullptr);
  const std::string text = refusal_of([] { static_cast<void>(mpi_communicator()); });
  MPI_Finalize();
  return text.starts_with("mpi_communicator: MPI was initialised for processes of one thread") ? 0 : 1;
}

/// The user's own MPI: initialised here, a communicator in another order, and messages of its own beside twill's.
int run_with_own_mpi() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  int result = 0;
  {
    const MpiEnvironment environment; // finds MPI initialised and leaves it so
    auto group = mpi_communicator(reversed);
    int mine = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&mine, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
    test::check_operations<double>(group, 9, 1);
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (group.rank() != size - 1 - rank || mine != (rank + size - 1) % size) result = 1;
    std::string text{};
    std::thread other{[&] { text = refusal_of([&] { barrier(group); }); }};
    other.join();
    if (level == MPI_THREAD_FUNNELED &&
        !text.starts_with("mpi: MPI was initialised for calls of its main thread alone"))
      result = 1;
  }
  MPI_Comm_free(&reversed);
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over != 0) return 1;
  MPI_Finalize();
  return result;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "";
  try {
    if (part == "own") return run_with_own_mpi();
    if (part == "single") return run_with_one_thread();
    const MpiEnvironment environment;
    if (part == "suites") check_suites();
    if (part == "models") check_models();
    if (part == "cube") check_cube();
    if (part == "late") check_late_ranks();
    if (part == "failures") check_failures();
    if (part == "dies" || part == "throws") {
      Stay after_world{};
      auto world = mpi_communicator();
      barrier(world);
      after_world.applies = world.rank() == 1;
      if (world.rank() == 1 && part == "dies") std::raise(SIGKILL);
      if (world.rank() == 1) throw std::runtime_error("rank 1 threw what nobody caught");
      try {
        while (true) barrier(world);
      } catch (const CommunicatorError& error) { // said before anything else: mpirun ends all as soon as one has ended
        std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
        throw;
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "", error.what());
    return 1;
  }
}
