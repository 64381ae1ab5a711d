// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/parallel.md, which need NCCL.

#include <twill/cuda.cuh>
#include <twill/parallel/nccl/nccl.cuh>

using namespace twill;

// clang-format off

void ranks_of_nccl(Cuda device, const parallel::NcclId& id) {
  { auto ranks = parallel::nccl_communicators({Cuda{0}, Cuda{1}}); }
  { const parallel::NcclId id = parallel::nccl_id(); }
  { auto communicator = parallel::nccl_communicator(device, 0, 2, id); }
}
