#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of optim/lbfgs.hpp.

#include <twill/core/error.hpp>
#include <twill/optim/lbfgs.hpp>
#include <twill/optim/options.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace twill { inline namespace v0 { namespace optim { namespace detail { inline namespace TWILL_ISA {

inline constexpr double sufficient_decrease = 1e-4; ///< Wolfe's first condition: value <= start + this * length * slope
inline constexpr double curvature = 0.9;            ///< Wolfe's second: |slope| <= -this * slope of the start

[[nodiscard]] inline double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
[[nodiscard]] inline double largest(std::span<const double> a) {
  double result = 0;
  for (const double x : a) result = std::max(result, std::abs(x));
  return result;
}
/// y += factor x.
inline void add_scaled(std::span<double> y, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

/// The minimum of the cubic with these values and slopes at two places, within bounds; their middle if there is none.
[[nodiscard]] inline double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2,
                                          double least, double most) {
  if (x1 > x2) return cubic_minimum(x2, f2, g2, x1, f1, g1, least, most);
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2);
  const double square = d1 * d1 - g1 * g2;
  const double d2 = std::sqrt(square);
  const double place = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2));
  if (std::isnan(place)) return (least + most) / 2; // no minimum, or values that are not finite
  return std::min(std::max(place, least), most);
}

/// Adds a tensor of these elements to a state.
template <class T>
void add_stored(nn::StateDict& state, const char* name, const Dims& shape, const std::vector<T>& elements) {
  auto [tensor, data] = nn::StoredTensor::make(dtype_of<T>, shape);
  if (!elements.empty()) std::memcpy(data, elements.data(), elements.size() * sizeof(T));
  state.add(name, std::move(tensor));
}
/// The elements of a tensor of a state, which has to have this type and number of axes, and this last extent unless
/// that is -1.
template <class T>
[[nodiscard]] std::vector<T> stored(const nn::StateDict& state, const char* name, int rank, std::int64_t last = -1) {
  const nn::StoredTensor* const tensor = state.find(name);
  if (tensor == nullptr) throw ValueError("lbfgs: load_state_dict: the state has no '" + std::string{name} + "'");
  const Dims& shape = tensor->shape;
  if (tensor->dtype != dtype_of<T> || shape.rank != rank || (last >= 0 && shape[rank - 1] != last))
    throw ValueError("lbfgs: load_state_dict: '" + std::string{name} + "' is " +
                     std::string{twill::name(tensor->dtype)} + " of shape " + to_string(shape) + ", not " +
                     std::string{twill::name(dtype_of<T>)} + " of " + std::to_string(rank) + " axes" +
                     (last >= 0 ? ", the last of " + std::to_string(last) : ""));
  std::vector<T> elements(static_cast<std::size_t>(shape.elements()));
  if (!elements.empty()) std::memcpy(elements.data(), tensor->bytes.data(), elements.size() * sizeof(T));
  return elements;
}

}}}}} // namespace twill::v0::optim::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace optim { inline namespace TWILL_ISA {

TWILL_BODY Lbfgs::Lbfgs(LbfgsOptions given) : options{given} {
  detail::require_allowed("lbfgs", "rate", given.rate, Allowed::not_negative);
  detail::require_allowed("lbfgs", "gradient_tolerance", given.gradient_tolerance, Allowed::not_negative);
  detail::require_allowed("lbfgs", "change_tolerance", given.change_tolerance, Allowed::not_negative);
  const auto require_one = [](const char* option, std::int64_t number) {
    if (number < 1)
      throw ValueError("lbfgs: " + std::string{option} + " must be at least 1, got " + std::to_string(number));
  };
  require_one("iterations", given.iterations);
  require_one("history", given.history);
  if (given.evaluations != 0) require_one("evaluations", given.evaluations);
}

TWILL_BODY void Lbfgs::reset() {
  changes_.clear();
  last_gradient_.clear();
}

TWILL_BODY nn::StateDict Lbfgs::state_dict() const {
  const auto size = static_cast<std::int64_t>(last_gradient_.size());
  const Dims kept(static_cast<std::int64_t>(changes_.size()), size);
  Vector of_x{}, of_gradient{};
  for (const Change& change : changes_) {
    of_x.insert(of_x.end(), change.of_x.begin(), change.of_x.end());
    of_gradient.insert(of_gradient.end(), change.of_gradient.begin(), change.of_gradient.end());
  }
  nn::StateDict state{};
  detail::add_stored(state, "gradient", Dims(size), last_gradient_);
  detail::add_stored(state, "direction", Dims(size), size > 0 ? direction_ : Vector{});
  detail::add_stored(state, "changes", kept, of_x);
  detail::add_stored(state, "changes_of_gradient", kept, of_gradient);
  detail::add_stored(state, "length", Dims{}, Vector{length_});
  detail::add_stored(state, "scale", Dims{}, Vector{scale_});
  detail::add_stored(state, "iterations", Dims{}, std::vector<std::int64_t>{iterations_});
  detail::add_stored(state, "evaluations", Dims{}, std::vector<std::int64_t>{evaluations_});
  return state;
}

TWILL_BODY void Lbfgs::load_state_dict(const nn::StateDict& state) {
  Vector gradient = detail::stored<double>(state, "gradient", 1);
  const std::size_t size = gradient.size();
  const auto extent = static_cast<std::int64_t>(size);
  Vector direction = detail::stored<double>(state, "direction", 1, extent);
  const Vector of_x = detail::stored<double>(state, "changes", 2, extent);
  const Vector of_gradient = detail::stored<double>(state, "changes_of_gradient", 2, extent);
  if (of_x.size() != of_gradient.size())
    throw ValueError("lbfgs: load_state_dict: 'changes' has " + std::to_string(of_x.size()) +
                     " elements, 'changes_of_gradient' has " + std::to_string(of_gradient.size()));
  std::vector<Change> changes{};
  for (std::size_t first = 0; first < of_x.size(); first += size) {
    const auto part = [&](const Vector& all) { return Vector(all.data() + first, all.data() + first + size); };
    Change change{.of_x = part(of_x), .of_gradient = part(of_gradient)};
    change.inverse_product = 1 / detail::dot(change.of_gradient, change.of_x);
    changes.push_back(std::move(change));
  }
  const double length = detail::stored<double>(state, "length", 0).front();
  const double scale = detail::stored<double>(state, "scale", 0).front();
  const std::int64_t iterations = detail::stored<std::int64_t>(state, "iterations", 0).front();
  evaluations_ = detail::stored<std::int64_t>(state, "evaluations", 0).front(); // nothing throws from here on
  iterations_ = iterations;
  length_ = length;
  scale_ = scale;
  direction_.swap(direction);
  last_gradient_.swap(gradient);
  changes_.swap(changes);
}

TWILL_BODY double Lbfgs::step(std::span<double> x, const Function& function) {
  if (!last_gradient_.empty() && last_gradient_.size() != x.size())
    throw ValueError("lbfgs: earlier steps were of " + std::to_string(last_gradient_.size()) + " numbers, this is of " +
                     std::to_string(x.size()) + "; call reset() before another function");
  const std::int64_t most = options.evaluations > 0 ? options.evaluations : options.iterations * 5 / 4;
  Vector place(x.begin(), x.end());
  Point here{.gradient = Vector(x.size())};
  here.value = function(place, here.gradient);
  ++evaluations_;
  std::int64_t evaluations = 1;
  const double first_value = here.value;
  bool is_done = detail::largest(here.gradient) <= options.gradient_tolerance;
  for (std::int64_t i = 0; i < options.iterations && !is_done; ++i) {
    const bool is_first = last_gradient_.empty();
    if (!is_first) remember(here.gradient);
    choose_direction(here.gradient);
    last_gradient_ = here.gradient;
    ++iterations_;
    const double size = std::accumulate(here.gradient.begin(), here.gradient.end(), 0.0,
                                        [](double sum, double g) { return sum + std::abs(g); });
    length_ = is_first ? std::min(1.0, 1 / size) * options.rate : options.rate;
    here.length = 0;
    here.slope = detail::dot(here.gradient, direction_);
    if (here.slope > -options.change_tolerance) break; // no descent
    const double value = here.value;
    const std::int64_t before = evaluations_;
    if (options.line_search == LineSearch::strong_wolfe) {
      here = search(place, length_, here, most - evaluations, function);
      length_ = here.length;
    } else if (i + 1 < options.iterations) { // the last place is not evaluated
      here = evaluate(place, length_, function);
    }
    evaluations += evaluations_ - before;
    detail::add_scaled(place, length_, direction_);
    is_done = evaluations >= most || detail::largest(here.gradient) <= options.gradient_tolerance ||
              detail::largest(direction_) * std::abs(length_) <= options.change_tolerance ||
              std::abs(here.value - value) < options.change_tolerance;
  }
  std::copy(place.begin(), place.end(), x.begin());
  return first_value;
}

TWILL_BODY void Lbfgs::remember(const Vector& gradient) {
  Change change{.of_x = direction_, .of_gradient = gradient};
  for (double& s : change.of_x) s *= length_;
  detail::add_scaled(change.of_gradient, -1, last_gradient_);
  const double product = detail::dot(change.of_gradient, change.of_x);
  if (!(product > 1e-10)) return; // the curvature has to be positive
  change.inverse_product = 1 / product;
  scale_ = product / detail::dot(change.of_gradient, change.of_gradient);
  while (static_cast<std::int64_t>(changes_.size()) >= options.history) changes_.erase(changes_.begin());
  changes_.push_back(std::move(change));
}

TWILL_BODY void Lbfgs::choose_direction(const Vector& gradient) {
  // -H g by two loops over the changes, from the newest to the oldest and back
  direction_ = gradient;
  for (double& d : direction_) d = -d;
  Vector shares(changes_.size());
  for (std::size_t i = changes_.size(); i-- > 0;) {
    shares[i] = detail::dot(changes_[i].of_x, direction_) * changes_[i].inverse_product;
    detail::add_scaled(direction_, -shares[i], changes_[i].of_gradient);
  }
  if (!changes_.empty())
    for (double& d : direction_) d *= scale_;
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const double share = detail::dot(changes_[i].of_gradient, direction_) * changes_[i].inverse_product;
    detail::add_scaled(direction_, shares[i] - share, changes_[i].of_x);
  }
}

TWILL_BODY Lbfgs::Point Lbfgs::evaluate(const Vector& start, double length, const Function& function) {
  Vector place = start;
  detail::add_scaled(place, length, direction_);
  Point point{.length = length, .gradient = Vector(place.size())};
  point.value = function(place, point.gradient);
  if (std::isnan(point.value)) point.value = std::numeric_limits<double>::infinity();
  point.slope = detail::dot(point.gradient, direction_);
  ++evaluations_;
  return point;
}

TWILL_BODY Lbfgs::Point Lbfgs::search(const Vector& start, double first, const Point& here, std::int64_t most,
                                      const Function& function) {
  const auto is_too_high = [&](const Point& p) {
    return p.value > here.value + detail::sufficient_decrease * p.length * here.slope;
  };
  const auto is_flat = [&](const Point& p) { return std::abs(p.slope) <= -detail::curvature * here.slope; };

  // Longer and longer, until the minimum lies between the last two lengths.
  Point low = here, high = evaluate(start, first, function);
  std::int64_t i = 0;
  for (; i < most; ++i) {
    if (is_too_high(high) || (i > 1 && high.value >= low.value)) break;
    if (is_flat(high)) return high;
    if (high.slope >= 0) break;
    const double least = high.length + 0.01 * (high.length - low.length);
    const double length = detail::cubic_minimum(low.length, low.value, low.slope, high.length, high.value, high.slope,
                                                least, 10 * high.length);
    low = std::exchange(high, evaluate(start, length, function));
  }
  if (i == most) return high.value < here.value ? high : here; // no trial is left
  if (high.value < low.value) std::swap(low, high);            // low is the best so far

  // Shorter and shorter, around the minimum.
  const double largest = detail::largest(direction_);
  for (bool was_close = false; i < most; ++i) {
    const double left = std::min(low.length, high.length), right = std::max(low.length, high.length);
    if ((right - left) * largest < options.change_tolerance) break;
    double length =
        detail::cubic_minimum(low.length, low.value, low.slope, high.length, high.value, high.slope, left, right);
    // A trial that is close to an end twice, or at it, is moved a tenth of the interval away from it.
    const double margin = 0.1 * (right - left);
    const bool is_close = std::min(right - length, length - left) < margin;
    const bool moves = is_close && (was_close || length >= right || length <= left);
    if (moves) length = std::abs(length - right) < std::abs(length - left) ? right - margin : left + margin;
    was_close = is_close && !moves;
    Point trial = evaluate(start, length, function);
    if (is_too_high(trial) || trial.value >= low.value) {
      high = std::move(trial);
      if (high.value < low.value) std::swap(low, high);
      continue;
    }
    if (is_flat(trial)) return trial;
    if (trial.slope * (high.length - low.length) >= 0) high = std::move(low);
    low = std::move(trial);
  }
  return low;
}

}}}} // namespace twill::v0::optim::TWILL_ISA
