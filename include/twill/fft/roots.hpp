#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Roots of unity, rounded once: the product of two roots in long double, of about 2 sqrt(order) that are computed by
// sine and cosine. Twiddle factors with an error of more than half a unit in the last place would decide the error of
// a whole transform (Schatzman, 1996). Read next: fft/plan.hpp.

#include <twill/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

namespace twill { inline namespace v0 { namespace fft { namespace detail {

/// A complex number of long double.
struct Root {
  long double re = 1;
  long double im = 0;
};

/// exp(-2 pi i k / order) for 0 <= k < order.
class Roots {
public:
  explicit Roots(std::int64_t order) {
    while (step_ * step_ < order) step_ *= 2;
    const long double angle = -2 * std::numbers::pi_v<long double> / static_cast<long double>(order);
    const auto root = [&](std::int64_t k) {
      const long double at = angle * static_cast<long double>(k);
      return Root{std::cos(at), std::sin(at)};
    };
    for (std::int64_t k = 0; k < step_ && k < order; ++k) near_.push_back(root(k));
    for (std::int64_t k = 0; k < order; k += step_) far_.push_back(root(k));
  }

  [[nodiscard]] Root operator()(std::int64_t k) const {
    const Root& a = far_[static_cast<std::size_t>(k / step_)];
    const Root& b = near_[static_cast<std::size_t>(k % step_)];
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }

private:
  std::int64_t step_ = 1;
  std::vector<Root> near_{}; ///< k below the step
  std::vector<Root> far_{};  ///< multiples of the step
};

/// The first roots of an order, in the precision of a transform.
template <class T> struct RootTable {
  RootTable(std::int64_t order_of_roots, std::int64_t count) : order{order_of_roots} {
    const Roots roots(order);
    for (std::int64_t k = 0; k < count; ++k) {
      const Root root = roots(k);
      re.push_back(static_cast<T>(root.re));
      im.push_back(static_cast<T>(root.im));
    }
  }
  [[nodiscard]] bool is_for(std::int64_t wanted, std::int64_t count) const {
    return order == wanted && static_cast<std::int64_t>(re.size()) == count;
  }

  std::int64_t order = 1;
  std::vector<T> re{};
  std::vector<T> im{};
};

}}}} // namespace twill::v0::fft::detail
