#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Limit policies of a pool: the number of bytes that it may reserve from upstream. Reaching the limit is treated like
// an upstream without memory: cached segments are returned, the request is tried again, and then refused with an error.

#include <atomic>
#include <concepts>
#include <cstddef>
#include <limits>

namespace twill { inline namespace v0 { namespace memory {

/// The kind tag by which `Pool` finds a limit policy among its arguments.
struct LimitPolicyKind {};

/// How many bytes a pool may reserve.
template <class P>
concept LimitPolicy = std::same_as<typename P::policy_kind, LimitPolicyKind> && requires(const P& limit) {
  { limit.bytes() } -> std::same_as<std::size_t>;
};

/// The value for no limit.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// No limit: all that upstream can give.
struct Unlimited {
  using policy_kind = LimitPolicyKind;
  /// Most bytes that the pool may reserve.
  [[nodiscard]] static constexpr std::size_t bytes() { return no_limit; }
};

/// At most that many bytes, a fixed part of the type.
template <std::size_t Bytes> struct FixedLimit {
  using policy_kind = LimitPolicyKind;
  [[nodiscard]] static constexpr std::size_t bytes() { return Bytes; }
};

/// A limit that the program sets, with no limit at first. The default.
class AdjustableLimit {
public:
  using policy_kind = LimitPolicyKind;
  /// Most bytes that the pool may reserve now.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  /// Sets the most bytes that the pool may reserve; the memory that it holds already stays.
  void set(std::size_t bytes) { bytes_.store(bytes, std::memory_order_relaxed); }

private:
  std::atomic<std::size_t> bytes_{no_limit};
};

}}} // namespace twill::v0::memory
