#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Collectives by name, over any model of `Communicator`: on typed pointers and on anything contiguous with `data()` and
// `elements()`, such as tensors. Each exists once and only makes a `Call`. Every function returns when this rank's
// elements may be used again; `communicator.start(Call::all_reduce(elements(x)))` does not wait. Memory is on the
// communicator's device. Bus bytes per rank, with S bytes of data and n ranks, are given as cost.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/device/current.hpp>
#include <twill/parallel/group/communicator.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// A run of elements for a communicator to write.
template <Scalar T> [[nodiscard]] Elements elements(T* data, std::int64_t count) { return {data, count, dtype_of<T>}; }
/// A run of elements for a communicator to read.
template <Scalar T> [[nodiscard]] ConstElements elements(const T* data, std::int64_t count) {
  return {data, count, dtype_of<T>};
}

/// A tensor or a view with its interface.
template <class X>
concept ElementRange = requires(const X& x) {
  { *x.data() } -> std::convertible_to<std::remove_cvref_t<decltype(*x.data())>>;
  { x.elements() } -> std::convertible_to<std::int64_t>;
  { x.is_contiguous() } -> std::same_as<bool>;
}
&&Scalar<std::remove_cvref_t<decltype(*std::declval<const X&>().data())>>;

/// The elements of a tensor. throws: ValueError unless it is contiguous
template <ElementRange X> [[nodiscard]] auto elements(const X& x) {
  if (!x.is_contiguous())
    throw ValueError("elements: a communicator takes contiguous tensors; call contiguous() first");
  return elements(x.data(), static_cast<std::int64_t>(x.elements()));
}

}}}} // namespace twill::v0::parallel::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace detail { inline namespace TWILL_ISA {

template <Communicator C, class X> void require_same_device(const char* where, const C& communicator, const X& x) {
  if constexpr (requires { x.device(); }) {
    if constexpr (std::equality_comparable_with<decltype(x.device()), typename C::Device>)
      twill::require_same_device(where, typename C::Device(x.device()), typename C::Device(communicator.device()));
    else
      static_assert(std::is_void_v<X>, "twill: the tensor and its communicator live on devices of different kinds");
  }
}

}}}}} // namespace twill::v0::parallel::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// x = the reduction of all ranks' x.    cost: 2 S (n-1)/n
template <Communicator C, Scalar T>
void all_reduce(C& communicator, T* data, std::int64_t count, Reduction reduction = Reduction::sum) {
  communicator.run(Call::all_reduce(elements(data, count), reduction));
}
template <Communicator C, ElementRange X>
void all_reduce(C& communicator, const X& x, Reduction reduction = Reduction::sum) {
  detail::require_same_device("all_reduce", communicator, x);
  communicator.run(Call::all_reduce(elements(x), reduction));
}

/// Every rank's x = the root's.    cost: S
template <Communicator C, Scalar T> void broadcast(C& communicator, T* data, std::int64_t count, int root = 0) {
  communicator.run(Call::broadcast(elements(data, count), root));
}
template <Communicator C, ElementRange X> void broadcast(C& communicator, const X& x, int root = 0) {
  detail::require_same_device("broadcast", communicator, x);
  communicator.run(Call::broadcast(elements(x), root));
}

/// The root's x = the reduction of all ranks' x; the others' stay unchanged.    cost: S
template <Communicator C, Scalar T>
void reduce(C& communicator, T* data, std::int64_t count, int root = 0, Reduction reduction = Reduction::sum) {
  communicator.run(Call::reduce(elements(data, count), elements(data, count), root, reduction));
}
template <Communicator C, ElementRange X>
void reduce(C& communicator, const X& x, int root = 0, Reduction reduction = Reduction::sum) {
  detail::require_same_device("reduce", communicator, x);
  communicator.run(Call::reduce(elements(x), elements(x), root, reduction));
}

/// part = this rank's part of the reduction of all ranks' whole; `count` elements a part.    cost: S (n-1)/n
template <Communicator C, Scalar T>
void reduce_scatter(C& communicator, const T* whole, T* part, std::int64_t count,
                    Reduction reduction = Reduction::sum) {
  communicator.run(
      Call::reduce_scatter(elements(whole, count * communicator.size()), elements(part, count), reduction));
}
template <Communicator C, ElementRange X, ElementRange Y>
void reduce_scatter(C& communicator, const X& whole, const Y& part, Reduction reduction = Reduction::sum) {
  detail::require_same_device("reduce_scatter", communicator, whole);
  communicator.run(Call::reduce_scatter(elements(whole), elements(part), reduction));
}

/// whole = all ranks' parts, concatenated; `count` elements a part.    cost: S (n-1)/n
template <Communicator C, Scalar T> void all_gather(C& communicator, const T* part, T* whole, std::int64_t count) {
  communicator.run(Call::all_gather(elements(part, count), elements(whole, count * communicator.size())));
}
template <Communicator C, ElementRange X, ElementRange Y>
void all_gather(C& communicator, const X& part, const Y& whole) {
  detail::require_same_device("all_gather", communicator, part);
  communicator.run(Call::all_gather(elements(part), elements(whole)));
}

/// The root's whole = all ranks' parts; `whole` may be null elsewhere.
template <Communicator C, Scalar T>
void gather(C& communicator, const T* part, T* whole, std::int64_t count, int root = 0) {
  const std::int64_t total = communicator.rank() == root ? count * communicator.size() : 0;
  communicator.run(Call::gather(elements(part, count), elements(whole, total), root));
}

/// part = this rank's part of the root's whole, which may be null elsewhere.
template <Communicator C, Scalar T>
void scatter(C& communicator, const T* whole, T* part, std::int64_t count, int root = 0) {
  const std::int64_t total = communicator.rank() == root ? count * communicator.size() : 0;
  communicator.run(Call::scatter(elements(whole, total), elements(part, count), root));
}

/// Part j of rank i's `from` becomes part i of rank j's `to`; `count` elements a part.    cost: S (n-1)/n
template <Communicator C, Scalar T> void all_to_all(C& communicator, const T* from, T* to, std::int64_t count) {
  const std::int64_t total = count * communicator.size();
  communicator.run(Call::all_to_all(elements(from, total), elements(to, total)));
}

/// Sends elements to another rank; waits until they may be changed. throws: CommunicatorError, TimeoutError
template <Communicator C, Scalar T>
void send(C& communicator, const T* data, std::int64_t count, int destination, int tag = 0) {
  communicator.run(Call::send(elements(data, count), destination, tag));
}
/// Sends a tensor's elements, which must be contiguous.
template <Communicator C, ElementRange X> void send(C& communicator, const X& x, int destination, int tag = 0) {
  detail::require_same_device("send", communicator, x);
  communicator.run(Call::send(elements(x), destination, tag));
}

/// Waits for elements from another rank. throws: CommunicatorError, TimeoutError; the message has another size
template <Communicator C, Scalar T>
void receive(C& communicator, T* data, std::int64_t count, int source, int tag = 0) {
  communicator.run(Call::receive(elements(data, count), source, tag));
}
/// Waits for a tensor's elements, which must be contiguous.
template <Communicator C, ElementRange X> void receive(C& communicator, const X& x, int source, int tag = 0) {
  detail::require_same_device("receive", communicator, x);
  communicator.run(Call::receive(elements(x), source, tag));
}

/// Returns when every rank has called it.
template <Communicator C> void barrier(C& communicator) { communicator.run(Call::barrier()); }

}}}} // namespace twill::v0::parallel::TWILL_ISA
