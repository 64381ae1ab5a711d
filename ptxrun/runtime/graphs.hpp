#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the CUDA runtime stand-in: nodes with the nodes that they come after. A launch runs them in the order of their
// capture or, with PTXRUN_SHUFFLE, in a random one of those that the dependencies allow.

#include <ptxrun/runtime/state.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ptxrun::runtime {

struct Stream;

struct Node {
  std::function<void()> work{};
  std::vector<std::size_t> after{};
};

struct Graph {
  std::vector<Node> nodes{};

  void run() const;
  /// Whether all nodes are among those given or come before one of them.
  [[nodiscard]] bool ends_in(const std::vector<std::size_t>& last) const;
};

struct Capture {
  std::shared_ptr<Stream> origin{};
  std::vector<std::shared_ptr<Stream>> streams{}; ///< the origin and those that waited for captured work
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread{};
  Graph graph{};
  bool is_invalid = false;
};

} // namespace ptxrun::runtime
