// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/parallel.md, which need MPI.

#include <twill/parallel/messages/mpi.hpp>
#include <twill/twill.hpp>

using namespace twill;

// clang-format off

void processes() {
  { const parallel::MpiEnvironment mpi; }
  { auto communicator = parallel::mpi_communicator(); }
}
