#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A group of threads whose devices are of several kinds: each rank's communicator is one for its kind, and all meet in the same
// group. Between ranks there is host memory: that of `Cpu` itself, and what the stream of any other device was copied to.
// Read next: parallel/threads/ranks.hpp, which runs such a group too.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/threads/communicator.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace twill::inline v0::parallel::inline TWILL_ISA {

/// A group with one rank for each device, in order: `thread_communicators(std::tuple{Cpu{0}, Cuda{0}})`.
/// throws: ValueError for a time-out below 1 ms
template <ComputeDevice... D>
requires(sizeof...(D) > 0)
    [[nodiscard]] std::tuple<ThreadCommunicator<D>...> thread_communicators(const std::tuple<D...>& devices,
                                                                            ThreadOptions options = {}) {
  if (options.timeout_ms < 1)
    throw ValueError(join_text({"thread_communicators: timeout_ms is at least 1, got ", options.timeout_ms}));
  std::vector<std::string> labels;
  const auto label = [&](const auto& device) {
    labels.push_back(join_text({"rank ", labels.size(), " on ", twill::to_string(device)}));
  };
  std::apply([&](const auto&... device) { (label(device), ...); }, devices);
  const auto hub = std::make_shared<detail::ThreadHub>(std::move(labels), options.timeout_ms);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<ThreadCommunicator<D>...>{
        ThreadCommunicator<D>(hub, static_cast<int>(I), std::get<I>(devices))...};
  }
  (std::index_sequence_for<D...>{});
}

} // namespace twill::inline v0::parallel::inline TWILL_ISA
