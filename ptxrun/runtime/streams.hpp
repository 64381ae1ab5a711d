#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and captures of the CUDA runtime stand-in. A stream is a queue of operations that a thread runs as soon as
// it adds one or, with PTXRUN_LAZY, when the program waits for it: as late as CUDA allows. An operation runs without the lock of
// the state, one at a time in each stream. While a stream captures, operations become nodes of a graph (graphs.hpp).

#include <ptxrun/runtime/graphs.hpp>
#include <ptxrun/runtime/state.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace ptxrun::runtime {

struct Stream;

/// An operation that waits until another stream has come as far.
struct Wait {
  std::shared_ptr<Stream> stream{};
  std::uint64_t ticket = 0;
};
using Operation = std::variant<std::function<void()>, Wait>;

struct Stream {
  int device = 0;
  bool is_blocking = false; ///< ordered with the legacy default stream
  bool is_default = false;
  std::deque<Operation> pending{};
  std::uint64_t issued = 0; ///< operations so far; each has its number as ticket
  std::uint64_t done = 0;
  bool is_running = false; ///< some thread is at its next operation
  std::shared_ptr<Capture> capture{};
  std::vector<std::size_t> frontier{}; ///< the nodes that the next one of a capture comes after
};

struct Event {
  int device = 0;
  bool has_time = true;
  std::shared_ptr<Stream> stream{}; ///< null until it is recorded
  std::uint64_t ticket = 0;
  std::shared_ptr<Capture> capture{}; ///< recorded there instead
  std::vector<std::size_t> frontier{};
  std::shared_ptr<double> seconds = std::make_shared<double>(0);
};

/// The stream of a handle; null, after a finding, where it was destroyed or never made.
[[nodiscard]] std::shared_ptr<Stream> stream_of(cudaStream_t handle);

/// Adds an operation to a stream, or a node to the graph that it captures.
[[nodiscard]] cudaError_t enqueue(cudaStream_t handle, Lock& lock, std::function<void()> work);

/// Runs a stream's operations up to a ticket.
void run_until(Stream& stream, std::uint64_t ticket, Lock& lock);
void run_all(Lock& lock);

/// What CUDA answers to a call that could wait for captured work, such as cudaMalloc, from a thread that captures: it
/// also invalidates the capture. cudaSuccess where nothing is captured, or the thread has made its mode relaxed.
[[nodiscard]] cudaError_t refuse_while_capturing();

} // namespace ptxrun::runtime
