#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Parallel execution of one function on all devices. Each call runs on its device's worker; the caller waits for all of
// them, and the failure of the lowest rank is thrown again as its own type, with the replica and its device named. Read
// next: parallel/data/data_parallel.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/out_of_memory.hpp>
#include <twill/nn/tracked.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/group/waiting.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

/// Throws the current exception again with the place before its text; one of a derived type unchanged.
template <class E> [[noreturn]] void throw_named(const E& error, const std::string& where) {
  if (typeid(error) != typeid(E)) throw;
  throw E(where + error.what());
}

/// Throws the current exception again, as its own type if twill can make one.
[[noreturn]] void rethrow_from_replica(const std::string& where);

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// Calls `f(rank)` on the worker of each of the first `count` devices and waits for all, with the caller's `no_grad`.
/// throws: the exception of the lowest failing rank, after "replica 1 on cpu:1: "
template <ComputeDevice D, class F> void run_on_replicas(const std::vector<D>& devices, std::size_t count, const F& f) {
  const bool without_gradients = nn::is_no_grad();
  const std::vector<detail::Strand> strands(count);
  const auto task = [&](std::size_t rank) {
    return [&f, rank, without_gradients, &strand = strands[rank]] {
      strand.run([&] {
        if (without_gradients) {
          const nn::NoGrad scope{};
          f(rank);
        } else {
          f(rank);
        }
      });
    };
  };
  std::vector<decltype(submit(devices[0], task(0)))> pending{};
  for (std::size_t rank = 0; rank < count; ++rank) pending.push_back(submit(devices[rank], task(rank)));
  std::exception_ptr first{};
  std::exception_ptr consequence{}; // a rank whose peers left only passes on their failure
  for (std::size_t rank = 0; rank < count; ++rank) {
    try {
      try {
        strands[rank].join();
        pending[rank].wait();
      } catch (...) {
        detail::rethrow_from_replica(join_text({"replica ", rank, " on ", twill::to_string(devices[rank]), ": "}));
      }
    } catch (const CommunicatorError&) {
      if (!consequence) consequence = std::current_exception();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
  if (consequence) std::rethrow_exception(consequence);
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/data/replicas.ipp>
#endif
