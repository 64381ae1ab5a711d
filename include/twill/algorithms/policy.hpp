#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Execution policies of algorithms, chosen by an argument: `sort(x)` and `sort(x, in_sequence)` in the calling thread,
// `sort(x, in_parallel)` on the threads of TBB, both by the algorithms of the standard library. TBB is used where
// TWILL_WITH_TBB is defined (twill::algorithms defines it if TBB is found); without it `in_parallel` does not compile.
// Read next: algorithms/sort.hpp.

#include <twill/core/config.hpp>

#if defined(TWILL_WITH_TBB)
#include <tbb/parallel_for.h>

#include <execution>
#include <thread>
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace twill { inline namespace v0 { namespace algorithms { inline namespace TWILL_ISA {

/// The policy of one thread: elements in their order.
struct Sequential {
  static constexpr bool is_parallel = false; ///< Whether several threads may share the work.
  /// Sorts and keeps the order of equal elements.
  template <class Iterator, class Order> static void stable_sort(Iterator first, Iterator last, Order order) {
    std::stable_sort(first, last, order);
  }
  /// Calls f(i) for each i below count.
  template <class F> static void for_each(std::int64_t count, const F& f) {
    for (std::int64_t i = 0; i < count; ++i) f(i);
  }
};

/// `Always` is true: only using the policy checks whether it is available.
template <bool Always = true> struct ParallelThreads {
  static constexpr bool is_parallel = true; ///< Whether several threads may share the work.
#if defined(TWILL_WITH_TBB)
  /// Sorts and keeps the order of equal elements.
  template <class Iterator, class Order> static void stable_sort(Iterator first, Iterator last, Order order) {
    std::stable_sort(std::execution::par, first, last, order);
  }
  /// Calls f(i) for each i below count.
  template <class F> static void for_each(std::int64_t count, const F& f) {
    tbb::parallel_for(std::int64_t{0}, count, f);
  }
  /// The number of threads that can run at once.
  [[nodiscard]] static std::int64_t concurrency() { return std::thread::hardware_concurrency(); }
#else
  /// Sorts and keeps the order of equal elements; only with TBB.
  template <class Iterator, class Order> static void stable_sort(Iterator, Iterator, Order) { refuse(); }
  /// Calls f(i) for each i below count; only with TBB.
  template <class F> static void for_each(std::int64_t, const F&) { refuse(); }
  /// The number of threads that can run at once; only with TBB.
  [[nodiscard]] static std::int64_t concurrency() { return 1; }

private:
  static void refuse() {
    static_assert(!Always,
                  "twill: in_parallel: this build has no TBB; install libtbb-dev and link twill::algorithms, or "
                  "pass in_sequence");
  }
#endif
};
/// The policy of all cores of the process, through TBB.
using Parallel = ParallelThreads<>;

/// The direction of an order.
struct Ascending {};
struct Descending {};

/// Whether O is `Sequential` or `Parallel`.
template <class O> inline constexpr bool is_policy = std::is_same_v<O, Sequential> || std::is_same_v<O, Parallel>;
/// Whether O is `Ascending` or `Descending`.
template <class O> inline constexpr bool is_order = std::is_same_v<O, Ascending> || std::is_same_v<O, Descending>;

/// The options of an algorithm: a policy and an order, each at most once, in any order.
template <class... O>
concept Options = ((is_policy<O> || is_order<O>)&&...) && ((is_policy<O> ? 1 : 0) + ... + 0) <= 1 &&
                  ((is_order<O> ? 1 : 0) + ... + 0) <= 1;

/// The policy among the options O; `Sequential` by default.
template <class... O> using policy_t = std::conditional_t<(std::is_same_v<O, Parallel> || ...), Parallel, Sequential>;
/// Whether the options ask for the reverse order.
template <class... O> inline constexpr bool is_descending = (std::is_same_v<O, Descending> || ...);

/// The order of sorting: numbers by size and NaN after all of them; descending is the exact reverse.
template <bool IsDescending> struct Before {
  /// Whether left comes before right.
  template <class T> [[nodiscard]] constexpr bool operator()(const T& left, const T& right) const {
    const T& a = IsDescending ? right : left;
    const T& b = IsDescending ? left : right;
    return a < b || (b != b && a == a);
  }
};
/// Equal, or both NaN.
struct Same {
  /// Whether both are the same value.
  template <class T> [[nodiscard]] constexpr bool operator()(const T& a, const T& b) const {
    return a == b || (a != a && b != b);
  }
};

}}}} // namespace twill::v0::algorithms::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// One thread, the default.
inline constexpr algorithms::Sequential in_sequence{};
/// All cores of the process; does not compile without TBB.
inline constexpr algorithms::Parallel in_parallel{};
/// Smallest first, NaN last: the default.
inline constexpr algorithms::Ascending ascending{};
/// The exact reverse of `ascending`, so NaN comes first.
inline constexpr algorithms::Descending descending{};

}}} // namespace twill::v0::TWILL_ISA
