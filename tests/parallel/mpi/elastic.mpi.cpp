// SPDX-License-Identifier: Apache-2.0
//
// One process of an elastic run: `elastic <none|rank> <none|dies|throws|ends> <folder>`. When the run starts for the
// first time, the rank kills itself, throws, or ends the launcher as a batch system does, while the others are in the
// middle of the sixth step; a later start goes on.

#include "tests/parallel/data/elastic_training.hpp"

#include <twill/parallel/data/elastic_process.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/messages/mpi.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

using namespace twill;

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string failing = argv[1];
  const std::string how = argv[2];
  const std::string folder = argv[3];
  std::int64_t first = -1;
  const auto batch = [&](auto& communicator, std::int64_t step, const parallel::Rows& own) {
    if (first < 0) std::printf("begins with step %d\n", static_cast<int>(first = step));
    if (first == 0 && step == 5) {
      parallel::barrier(communicator); // all ranks have committed step 4
      const bool fails = std::to_string(communicator.rank()) == failing;
      if (fails && how == "dies") static_cast<void>(std::raise(SIGKILL));
      if (fails && how == "throws") throw std::runtime_error("the device is gone");
      if (fails && how == "ends") static_cast<void>(kill(getppid(), SIGTERM));
      if (how == "ends") std::this_thread::sleep_for(std::chrono::minutes(1)); // or until SIGTERM comes here as well
    }
    return test::elastic::batch_of(communicator, step, own);
  };
  const auto train = [&](auto& communicator, parallel::ElasticState& state) {
    test::elastic::train<1>(communicator, state, batch);
  };
  manual_seed_all(7);
  // region: process
  try {
    const parallel::MpiEnvironment mpi;
    parallel::ElasticState state{parallel::ElasticFiles{.folder = folder, .save_every = 100}};
    auto world = parallel::mpi_communicator();
    parallel::run_elastic(world, state, [&](auto& communicator) { train(communicator, state); });
    return 0;
  } catch (const std::exception& error) { // names the rank at fault; the launcher starts again
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  // end region
}
