#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicators between CUDA devices, by NCCL: all GPUs of one process (`nccl_communicators`), or one rank a process,
// with a shared id, which rank 0 makes (`nccl_id`) and any other channel carries, such as another communicator. Needs
// NCCL's header and library (TWILL_WITH_NCCL). Not in the umbrella. Read next: parallel/nccl/communicator.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cuda/cuda.cuh>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/nccl/communicator.hpp>
#include <twill/parallel/nccl/group.hpp>
#include <twill/parallel/nccl/steps.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <nccl.h>

namespace twill { inline namespace v0 { namespace parallel { namespace nccl { inline namespace TWILL_ISA {

static_assert(success == ncclSuccess && invalid_argument == ncclInvalidArgument && in_progress == ncclInProgress);
static_assert(number_of(DType::boolean) == ncclUint8 && number_of(DType::uint8) == ncclUint8);
static_assert(number_of(DType::int32) == ncclInt32 && number_of(DType::int64) == ncclInt64);
static_assert(number_of(DType::float16) == ncclFloat16 && number_of(DType::bfloat16) == ncclBfloat16);
static_assert(number_of(DType::float32) == ncclFloat32 && number_of(DType::float64) == ncclFloat64);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3);

/// The table of NCCL's functions.
struct NcclLibrary {
  using Comm = ncclComm_t;
  using Stream = cudaStream_t;
  using Mark = gpu::Event<CudaRuntime>;

  [[nodiscard]] static std::string text(int result, Comm comm) {
    return std::string{ncclGetErrorString(static_cast<ncclResult_t>(result))} + "; " + ncclGetLastError(comm);
  }
  [[nodiscard]] static int enqueue(const Step& step, Comm comm, Stream stream) {
    const auto type = static_cast<ncclDataType_t>(number_of(step.dtype));
    const auto operation = static_cast<ncclRedOp_t>(step.operation);
    const auto count = static_cast<std::size_t>(step.count);
    switch (step.kind) {
    case StepKind::all_reduce:
      return ncclAllReduce(step.source, step.target, count, type, operation, comm, stream);
    case StepKind::reduce:
      return ncclReduce(step.source, step.target, count, type, operation, step.peer, comm, stream);
    case StepKind::reduce_scatter:
      return ncclReduceScatter(step.source, step.target, count, type, operation, comm, stream);
    case StepKind::all_gather:
      return ncclAllGather(step.source, step.target, count, type, comm, stream);
    case StepKind::broadcast:
      return ncclBroadcast(step.source, step.target, count, type, step.peer, comm, stream);
    case StepKind::send:
      return ncclSend(step.source, count, type, step.peer, comm, stream);
    case StepKind::receive:
      return ncclRecv(step.target, count, type, step.peer, comm, stream);
    }
    return ncclInternalError;
  }
  [[nodiscard]] static int begin_group() { return ncclGroupStart(); }
  [[nodiscard]] static int end_group() { return ncclGroupEnd(); }
  [[nodiscard]] static int async_error(Comm comm, int* status) {
    ncclResult_t state = ncclSuccess;
    const int result = ncclCommGetAsyncError(comm, &state);
    *status = state;
    return result;
  }
  [[nodiscard]] static int split(Comm comm, int color, int key, Comm* made) {
    return ncclCommSplit(comm, color < 0 ? NCCL_SPLIT_NOCOLOR : color, key, made,
                         nullptr); // the parent's configuration
  }
  static void read_place(Comm comm, int* rank, int* size) {
    static_cast<void>(ncclCommUserRank(comm, rank));
    static_cast<void>(ncclCommCount(comm, size));
  }
  [[nodiscard]] static int finalize(Comm comm) { return ncclCommFinalize(comm); }
  [[nodiscard]] static int destroy(Comm comm) { return ncclCommDestroy(comm); }
  [[nodiscard]] static int abort(Comm comm) { return ncclCommAbort(comm); }

  [[nodiscard]] static Mark mark(int device, Stream stream) { return {gpu::state_of(Cuda{device}), stream}; }
  [[nodiscard]] static bool has_passed(const Mark& mark) {
    return mark.is_complete_beside_recording(); // marks belong to running work, also while the thread records a step
  }
  static void hold(int device, Stream stream, const Mark& mark) { mark.hold(stream, device); }
  [[nodiscard]] static bool is_capturing(Stream stream) {
    gpu::Capturing capturing = gpu::Capturing::no;
    return CudaRuntime::capturing(stream, &capturing) == 0 && capturing != gpu::Capturing::no;
  }
  [[nodiscard]] static Stream stream(const Cuda& device) { return current_queue(device).stream(); }
  [[nodiscard]] static Stream side_stream(const Cuda& device) {
    return gpu::state_of(device).side_stream(gpu::SideStream::collectives);
  }
  /// A few bytes for each device and process, allocated with the first barrier and never freed: barriers on both
  /// streams may use them concurrently, since they are never read.
  [[nodiscard]] static void* scratch(const Cuda& device) {
    static std::array<void*, max_devices> bytes{};
    static std::mutex making;
    const std::lock_guard lock(making);
    void*& own = bytes[static_cast<std::size_t>(device.index)];
    if (own == nullptr) {
      const gpu::Using<CudaRuntime> scope{device.index};
      gpu::check<CudaRuntime>(CudaRuntime::allocate_while_capturing(&own, 16), "allocate", device.index);
    }
    return own;
  }
};

static_assert(Api<NcclLibrary>);

inline void check_setup(ncclResult_t result, const char* call, const Cuda& device) {
  if (result != ncclSuccess && result != ncclInProgress)
    throw CommunicatorError(
        join_text({call, " on ", to_string(device), ": NCCL: ", NcclLibrary::text(result, nullptr)}), -1);
}

[[nodiscard]] inline ncclConfig_t configuration() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0; // only non-blocking communicators can be aborted safely
  return config;
}

}}}}} // namespace twill::v0::parallel::nccl::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A communicator over NCCL for CUDA devices.
using NcclCommunicator = BasicNcclCommunicator<Cuda, nccl::NcclLibrary>;
static_assert(Communicator<NcclCommunicator>);

/// The identity of a group, common to its ranks: bytes, to be sent to every rank by any means.
using NcclId = std::array<std::byte, sizeof(ncclUniqueId)>;

/// The id of a new group, made by one rank. throws: CommunicatorError
[[nodiscard]] inline NcclId nccl_id() {
  ncclUniqueId id{};
  nccl::check_setup(ncclGetUniqueId(&id), "ncclGetUniqueId", Cuda{});
  NcclId bytes{};
  std::memcpy(bytes.data(), &id, sizeof(id));
  return bytes;
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Begins the memberships of some ranks of a group, waits until NCCL has connected them, and owns them from the first
/// on.
[[nodiscard]] inline std::vector<NcclCommunicator>
connect_nccl(const std::vector<Cuda>& devices, int first_rank, int size, const NcclId& id, const NcclOptions& options) {
  if (options.timeout_ms < 1)
    throw ValueError(join_text({"nccl_communicators: timeout_ms is at least 1, got ", options.timeout_ms}));
  ncclUniqueId unique{};
  std::memcpy(&unique, id.data(), sizeof(unique));
  using Member = nccl::Member<nccl::NcclLibrary>;
  std::vector<std::shared_ptr<Member>> members;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    static_cast<void>(gpu::state_of(devices[i]));
    auto member = std::make_shared<Member>();
    member->rank = first_rank + static_cast<int>(i);
    member->size = size;
    member->label = join_text({"rank ", member->rank, " (", to_string(devices[i]), ")"});
    members.push_back(std::move(member));
  }
  nccl::check_setup(ncclGroupStart(), "ncclGroupStart", devices.front());
  ncclResult_t begun = ncclSuccess;
  for (std::size_t i = 0; i < devices.size() && (begun == ncclSuccess || begun == ncclInProgress); ++i) {
    const gpu::Using<CudaRuntime> scope{devices[i].index};
    ncclConfig_t config = nccl::configuration();
    begun = ncclCommInitRankConfig(&members[i]->comm, size, unique, members[i]->rank, &config);
  }
  const ncclResult_t ended = ncclGroupEnd();
  nccl::check_setup(begun, "ncclCommInitRankConfig", devices.front());
  nccl::check_setup(ended, "ncclGroupEnd", devices.front());
  const auto group = std::make_shared<nccl::Group<nccl::NcclLibrary>>(options.timeout_ms, options.is_watched);
  std::vector<std::unique_ptr<nccl::Rank<Cuda, nccl::NcclLibrary>>> ranks;
  for (std::size_t i = 0; i < devices.size(); ++i)
    ranks.push_back(std::make_unique<nccl::Rank<Cuda, nccl::NcclLibrary>>(group, members[i], devices[i]));
  std::vector<NcclCommunicator> communicators;
  for (auto& rank : ranks) rank->settle(Call::barrier());
  for (auto& rank : ranks) communicators.emplace_back(std::move(rank));
  return communicators;
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A group with one rank for each device of this process, in order, each to be used by its own thread.
/// throws: ValueError when a device is named twice: NCCL may hang then; CommunicatorError, DeviceError
[[nodiscard]] inline std::vector<NcclCommunicator> nccl_communicators(const std::vector<Cuda>& devices,
                                                                      NcclOptions options = {}) {
  if (devices.empty()) throw ValueError("nccl_communicators: a group has at least one device, got none");
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (devices[i] == devices[j])
        throw ValueError(join_text({"nccl_communicators: ", to_string(devices[i]), " is named twice, as rank ", j,
                                    " and rank ", i, "; a GPU shows one rank only"}));
  return detail::connect_nccl(devices, 0, static_cast<int>(devices.size()), nccl_id(), options);
}

/// This process's rank of a group of `size` processes or threads, all of which call this with the same id.
/// throws: ValueError, CommunicatorError when the others do not come in time, DeviceError
[[nodiscard]] inline NcclCommunicator nccl_communicator(const Cuda& device, int rank, int size, const NcclId& id,
                                                        NcclOptions options = {}) {
  if (size < 1 || rank < 0 || rank >= size)
    throw ValueError(join_text({"nccl_communicator: a rank is in [0, size), got rank ", rank, " of ", size}));
  return std::move(detail::connect_nccl({device}, rank, size, id, options).front());
}

/// The NCCL communicator of the ranks of another communicator on hosts, which carries the id.
template <Communicator C>
requires std::same_as<typename C::Device, Cpu>
[[nodiscard]] NcclCommunicator nccl_communicator(const Cuda& device, C& other, NcclOptions options = {}) {
  NcclId id{};
  if (other.rank() == 0) id = nccl_id();
  other.run(Call::broadcast({id.data(), static_cast<std::int64_t>(id.size()), DType::uint8}, 0));
  return nccl_communicator(device, other.rank(), other.size(), id, options);
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
