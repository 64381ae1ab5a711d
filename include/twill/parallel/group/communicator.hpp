#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicators: one rank's membership in a group. A communicator knows its rank, the group's size and its device, and
// carries out calls that all ranks make in one order. A `Call` is a value (which operation, on which elements), so a
// model of the concept implements two functions, `run` and `start`; all named functions are built on them once, in
// parallel/group/collectives.hpp. Models: threads of one process (parallel/threads/communicator.hpp), processes
// (parallel/messages/mpi.hpp) and GPUs (parallel/nccl/nccl.cuh).

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/parallel/group/operation.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A run of elements in the memory of the communicator's device.
struct Elements {
  void* data = nullptr;         ///< on the communicator's device
  std::int64_t count = 0;       ///< elements, not bytes
  DType dtype = DType::float32; ///< of each

  /// The size of the run.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
};

/// A read-only run of elements.
struct ConstElements {
  const void* data = nullptr;   ///< on the communicator's device
  std::int64_t count = 0;       ///< elements, not bytes
  DType dtype = DType::float32; ///< of each

  ConstElements() = default;
  /// A number of elements of a type.
  ConstElements(const void* first, std::int64_t number, DType type) : data{first}, count{number}, dtype{type} {}
  /// Elements that may be written may be read.
  ConstElements(Elements elements) : data{elements.data}, count{elements.count}, dtype{elements.dtype} {}
  /// The size of the run.
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count) * size_of(dtype); }
};

/// One rank's request to its group. `source` is read, `target` is written; both are unchanged in size by the call. The
/// two may be the same memory where NCCL allows it: all_reduce, reduce, broadcast anywhere; all_gather and gather when
/// the source is this rank's part of the target; reduce_scatter and scatter the other way round.
struct Call {
  Operation operation = Operation::barrier; ///< of all ranks
  ConstElements source;                     ///< the input of this rank
  Elements target;                          ///< the output of this rank
  int peer = 0;                             ///< the root, the destination of a send, the source of a receive
  Reduction reduction = Reduction::sum;     ///< of operations that compute
  int tag = 0;                              ///< send and receive: messages of one tag keep their order

  /// Every rank gets the reduction of all sources.
  static Call all_reduce(ConstElements source, Elements target, Reduction reduction = Reduction::sum);
  static Call all_reduce(Elements data, Reduction reduction = Reduction::sum);
  /// The target is used on the root only.
  static Call reduce(ConstElements source, Elements target, int root, Reduction reduction = Reduction::sum);
  /// The source holds `size` parts, one for each rank in order; the target is one part.
  static Call reduce_scatter(ConstElements source, Elements target, Reduction reduction = Reduction::sum);
  /// The source is one part; the target holds `size` parts.
  static Call all_gather(ConstElements source, Elements target) { return {Operation::all_gather, source, target}; }
  /// The root gets all sources, concatenated.
  static Call gather(ConstElements source, Elements target, int root);
  /// Every rank gets the root's elements.
  static Call broadcast(Elements data, int root) { return {Operation::broadcast, data, data, root}; }
  /// The source is used on the root only.
  static Call scatter(ConstElements source, Elements target, int root);
  /// Both hold `size` parts; part i goes to rank i.
  static Call all_to_all(ConstElements source, Elements target) { return {Operation::all_to_all, source, target}; }
  /// No rank continues before all have called it.
  static Call barrier() { return {}; }
  /// A message to one rank, which receives with the same tag.
  static Call send(ConstElements source, int destination, int tag = 0);
  /// A message from one rank, which sends with the same tag.
  static Call receive(Elements target, int source, int tag = 0);
};

/// The group can no longer be used: a peer failed, is missing, or made another call. Every rank's text names the one at
/// fault.
class TWILL_EXPORT CommunicatorError : public Error {
public:
  /// Names the rank that failed; `cause` is its exception, if known.
  CommunicatorError(const std::string& text, int rank, std::exception_ptr cause = nullptr, int origin = -1)
      : Error{text}, rank_{rank}, origin_{origin}, cause_{std::move(cause)} {}

  /// The rank at fault, or -1 if several disagree.
  [[nodiscard]] int rank() const { return rank_; }
  /// The rank at fault by its number in the group of all ranks, from which sub-groups come; -1 where it is not known.
  [[nodiscard]] int origin() const { return origin_; }
  /// The exception of the failing rank; null where it did not throw.
  [[nodiscard]] const std::exception_ptr& cause() const { return cause_; }

private:
  int rank_;
  int origin_;
  std::exception_ptr cause_;
};

/// A peer did not arrive in time.
class TWILL_EXPORT TimeoutError : public CommunicatorError {
public:
  using CommunicatorError::CommunicatorError;
};

/// A call in flight. `wait` returns when the elements may be used again and throws the call's failure; the destructor
/// of a handle waits, because the memory is in use until then.
template <class H>
concept CallHandle = std::movable<H> && requires(H handle, const H& constant) {
  handle.wait();
  { constant.is_done() } -> std::same_as<bool>;
};

/// One rank's membership in a group. Requirements beyond the compiler's: all ranks make the same calls in the same
/// order (send and receive excepted); a reduction's result is equal on all ranks; a failed or missing rank ends in a
/// CommunicatorError that names it, on every rank and within the time-out; after that every call throws that error.
/// `run` returns when this rank's elements may be used again; between `start` and `wait` they must not be used. `split`
/// makes sub-groups of the ranks with equal color, ordered by key, then by rank; a negative color takes no part and
/// gets an empty communicator, whose size is 0. `fail` tells the group that this rank cannot continue. `traffic` counts
/// this rank's transfers in this group's own calls, without those of sub-groups.
template <class C>
concept Communicator = std::movable<C> &&
    requires(C communicator, const C& constant, const Call& call, std::exception_ptr cause) {
  typename C::Device;
  { constant.rank() } -> std::same_as<int>;
  { constant.size() } -> std::same_as<int>;
  { constant.device() } -> std::convertible_to<typename C::Device>;
  { constant.timeout_ms() } -> std::same_as<std::int64_t>;
  { constant.traffic() } -> std::convertible_to<OperationTraffic>;
  communicator.run(call);
  { communicator.start(call) } -> CallHandle;
  { communicator.split(0, 0) } -> std::same_as<C>;
  communicator.fail(cause);
};

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/group/communicator.ipp>
#endif
