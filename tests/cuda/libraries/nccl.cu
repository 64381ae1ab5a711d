// SPDX-License-Identifier: Apache-2.0
//
// One rank of NCCL on a GPU: every collective of a group of one, sums in a step's order, sub-groups, and what is refused.
// Groups of several GPUs run where there are several, two ranks on one GPU where NCCL lets them.

#include <tests/support/skip.hpp>
#include <tests/support/suite.hpp>

#include <twill/device/cuda/cuda.cuh>
#include <twill/memory/buffer.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/nccl/nccl.cuh>
#include <twill/parallel/threads/ranks.hpp>

#include <cstdint>
#include <cstdlib>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace twill;
using namespace twill::parallel;
using test::Case;
using test::Needs;

template <class T> memory::Buffer<Cuda> on_device(const Cuda& device, const std::vector<T>& values) {
  memory::Buffer<Cuda> buffer(device, values.size() * sizeof(T));
  copy_bytes(device, buffer.data(), Cpu{0}, values.data(), values.size() * sizeof(T), CopyOptions{});
  return buffer;
}
template <class T> std::vector<T> on_host(const Cuda& device, const memory::Buffer<Cuda>& memory, std::size_t count) {
  std::vector<T> values(count);
  copy_bytes(Cpu{0}, values.data(), device, memory.data(), count * sizeof(T), CopyOptions{});
  synchronize(device);
  return values;
}

/// Every collective of this rank, whatever the size of its group.
void play(NcclCommunicator& ranks) {
  const Cuda device = ranks.device();
  const int size = ranks.size();
  const auto n = static_cast<std::size_t>(size);
  const std::vector<float> values{1.0F + static_cast<float>(ranks.rank()), 2.0F, 3.0F};
  const auto data = on_device(device, values);
  auto* const floats = static_cast<float*>(data.data());
  all_reduce(ranks, floats, 3);
  test::require_equal(on_host<float>(device, data, 3)[1], 2.0F * static_cast<float>(size));
  broadcast(ranks, floats, 3, 0);
  reduce(ranks, floats, 3, 0);
  const auto whole = on_device(device, std::vector<float>(3 * n));
  auto* const parts = static_cast<float*>(whole.data());
  all_gather(ranks, floats, parts, 3);
  const auto turned = on_device(device, std::vector<float>(3 * n));
  all_to_all(ranks, parts, static_cast<float*>(turned.data()), 3);
  gather(ranks, floats, parts, 3, 0);
  scatter(ranks, parts, floats, 3, 0);
  reduce_scatter(ranks, parts, floats, 3, Reduction::max);
  const auto bytes = on_device(device, std::vector<std::uint8_t>{0, 1, 1});
  ranks.run(Call::all_reduce({bytes.data(), 3, DType::boolean}, Reduction::all));
  test::require(on_host<std::uint8_t>(device, bytes, 3) == std::vector<std::uint8_t>{0, 1, 1});
  const auto started = on_device(device, values);
  ranks.start(Call::all_reduce({started.data(), 3, DType::float32})).wait();
  test::require_equal(on_host<float>(device, started, 3)[2], 3.0F * static_cast<float>(size));
  auto part = ranks.split(0, -ranks.rank());
  test::require_equal(part.size(), size);
  test::require_equal(part.rank(), size - 1 - ranks.rank());
  barrier(part);
  ranks.finish();
}

void one_rank_talks_to_itself() {
  auto group = nccl_communicators({Cuda{0}}, {.timeout_ms = 60'000});
  test::require_equal(group[0].rank(), 0);
  test::require_equal(group[0].size(), 1);
  play(group[0]);
  auto alone = nccl_communicator(Cuda{0}, 0, 1, nccl_id(), {.timeout_ms = 60'000});
  play(alone);
}

void several_gpus_talk() {
  if (Cuda::count() < 2) return test::skip("this machine has one GPU");
  std::vector<Cuda> devices;
  for (int i = 0; i < Cuda::count(); ++i) devices.push_back(Cuda{i});
  auto group = nccl_communicators(devices, {.timeout_ms = 60'000});
  run_ranks(group, play);
}

void two_ranks_share_a_gpu() {
  int version = 0;
  static_cast<void>(ncclGetVersion(&version));
  if (version < NCCL_VERSION(2, 30, 0))
    return test::skip("NCCL puts two ranks on one GPU from 2.30 on; this is version " + std::to_string(version));
  setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1); // before the first communicator of this process reads it
  const NcclId id = nccl_id();
  std::vector<NcclCommunicator> group;
  auto first =
      std::async(std::launch::async, [&] { return nccl_communicator(Cuda{0}, 0, 2, id, {.timeout_ms = 60'000}); });
  auto second = nccl_communicator(Cuda{0}, 1, 2, id, {.timeout_ms = 60'000});
  group.push_back(first.get());
  group.push_back(std::move(second));
  run_ranks(group, play);
}

void a_missing_rank_ends_in_an_error() {
  test::require_throws<CommunicatorError>(
      [] { static_cast<void>(nccl_communicator(Cuda{0}, 0, 2, nccl_id(), {.timeout_ms = 2'000})); }, "rank 0 (cuda:0)");
}

void mistakes_are_refused() {
  test::require_throws<ValueError>([] { static_cast<void>(nccl_communicators({})); }, "at least one device, got none");
  test::require_throws<ValueError>(
      [] {
        static_cast<void>(nccl_communicators({Cuda{0}, Cuda{0}}));
      },
      "cuda:0 is named twice, as rank 0 and rank 1");
  test::require_throws<ValueError>([] { static_cast<void>(nccl_communicator(Cuda{0}, 2, 2, NcclId{})); },
                                   "got rank 2 of 2");
}

const Case first{"one rank of NCCL talks to itself", &one_rank_talks_to_itself};
const Case second{"several GPUs talk through NCCL, where there are several", &several_gpus_talk};
const Case shared{"two ranks of NCCL share a GPU, where it lets them", &two_ranks_share_a_gpu};
const Case third{"a rank that does not come ends in an error within the time-out", &a_missing_rank_ends_in_an_error};
const Case fourth{"groups that NCCL could hang in are refused", &mistakes_are_refused, Needs::nothing};

} // namespace
