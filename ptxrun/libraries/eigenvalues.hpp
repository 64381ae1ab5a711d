#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues and eigenvectors of general matrices by plain loops: Givens rotations to Hessenberg form, the QR algorithm
// with Wilkinson's shifts, and back substitution (Golub and Van Loan, 7.4 to 7.6), all in complex numbers of doubles.
// Part of the stand-in for cuSOLVER (cusolver.cpp).

#include <ptxrun/libraries/matrices.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>
#include <vector>

namespace ptxrun::libraries {

using NumberMatrix = Matrix<Number>; ///< square ones here

/// [c s; -conj(s) c], which turns (x, y) into (r, 0).
struct Rotation {
  double c = 1;
  Number s{};

  Rotation() = default;
  Rotation(Number x, Number y) {
    const double r = std::hypot(std::abs(x), std::abs(y));
    if (std::abs(y) == 0) return;
    c = std::abs(x) / r;
    s = (std::abs(x) == 0 ? Number{1} : x / std::abs(x)) * std::conj(y) / r;
  }
  /// Rows `first` and the next one, from the left.
  void turn_rows(NumberMatrix& a, int first) const {
    for (int j = 0; j < a.columns(); ++j) {
      const Number x = a(first, j), y = a(first + 1, j);
      a(first, j) = c * x + s * y;
      a(first + 1, j) = c * y - std::conj(s) * x;
    }
  }
  /// Columns `first` and the next one by the conjugate transpose, from the right.
  void turn_columns(NumberMatrix& a, int first) const {
    for (int i = 0; i < a.columns(); ++i) {
      const Number x = a(i, first), y = a(i, first + 1);
      a(i, first) = c * x + std::conj(s) * y;
      a(i, first + 1) = c * y - s * x;
    }
  }
};

/// The eigenvalue of the last 2 x 2 block up to `last` that is nearer to its last element.
[[nodiscard]] inline Number wilkinson_shift(const NumberMatrix& a, int last) {
  const Number p = a(last - 1, last - 1), q = a(last, last);
  const Number root = std::sqrt((p - q) * (p - q) / 4.0 + a(last - 1, last) * a(last, last - 1));
  const Number one = (p + q) / 2.0 + root, other = (p + q) / 2.0 - root;
  return std::abs(one - q) < std::abs(other - q) ? one : other;
}

/// A = Q T Q^H with an upper triangular T in place of A. False: not found.
[[nodiscard]] inline bool schur_in_place(NumberMatrix& a, NumberMatrix& q) {
  const int n = a.columns();
  for (int i = 0; i < n; ++i) q(i, i) = 1;
  for (int k = 0; k + 2 < n; ++k)
    for (int i = n - 1; i > k + 1; --i) {
      const Rotation rotation(a(i - 1, k), a(i, k));
      rotation.turn_rows(a, i - 1);
      rotation.turn_columns(a, i - 1);
      rotation.turn_columns(q, i - 1);
    }
  for (int last = n - 1, steps = 0; last > 0;) {
    int first = last;
    for (; first > 0; --first) {
      if (std::abs(a(first, first - 1)) > 1e-16 * (std::abs(a(first, first)) + std::abs(a(first - 1, first - 1))))
        continue;
      a(first, first - 1) = 0;
      break;
    }
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > 300) return false;
    const Number shift = steps % 10 == 0 ? Number{std::abs(a(last, last - 1))} : wilkinson_shift(a, last);
    for (int i = 0; i < n; ++i) a(i, i) -= shift;
    std::vector<Rotation> rotations;
    for (int k = first; k < last; ++k) {
      rotations.emplace_back(a(k, k), a(k + 1, k));
      rotations.back().turn_rows(a, k);
    }
    for (int k = first; k < last; ++k) {
      rotations[static_cast<std::size_t>(k - first)].turn_columns(a, k);
      rotations[static_cast<std::size_t>(k - first)].turn_columns(q, k);
    }
    for (int i = 0; i < n; ++i) a(i, i) += shift;
  }
  return true;
}

/// An eigenvalue with a vector of length 1.
struct Eigenpair {
  Number value{};
  std::vector<Number> vector{};
};

/// The pairs of a matrix; none: not found.
[[nodiscard]] inline std::vector<Eigenpair> eigenpairs(NumberMatrix a) {
  const int n = a.columns();
  NumberMatrix q(n, n);
  std::vector<Eigenpair> pairs;
  if (!schur_in_place(a, q)) return pairs;
  double largest = 0;
  for (int i = 0; i < n; ++i)
    for (int j = i; j < n; ++j) largest = std::max(largest, std::abs(a(i, j)));
  for (int k = 0; k < n; ++k) {
    std::vector<Number> y(static_cast<std::size_t>(n));
    y[static_cast<std::size_t>(k)] = 1;
    for (int i = k - 1; i >= 0; --i) {
      Number sum = 0;
      for (int j = i + 1; j <= k; ++j) sum -= a(i, j) * y[static_cast<std::size_t>(j)];
      Number difference = a(i, i) - a(k, k);
      if (std::abs(difference) <= 1e-16 * largest) difference = 1e-16 * largest + 1e-300;
      y[static_cast<std::size_t>(i)] = sum / difference;
    }
    Eigenpair pair{a(k, k), std::vector<Number>(static_cast<std::size_t>(n))};
    double square = 0;
    for (int i = 0; i < n; ++i) {
      Number& element = pair.vector[static_cast<std::size_t>(i)];
      for (int j = 0; j <= k; ++j) element += q(i, j) * y[static_cast<std::size_t>(j)];
      square += std::norm(element);
    }
    for (Number& element : pair.vector) element /= std::sqrt(square);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// The pairs of a real matrix in the order of LAPACK: real ones have real vectors, of conjugate ones that with the
/// positive imaginary part is the first, and the other one its conjugate.
[[nodiscard]] inline std::vector<Eigenpair> in_conjugate_pairs(std::vector<Eigenpair> found) {
  double largest = 0;
  for (const Eigenpair& pair : found) largest = std::max(largest, std::abs(pair.value));
  std::vector<Eigenpair> pairs;
  while (!found.empty()) {
    Eigenpair pair = std::move(found.front());
    found.erase(found.begin());
    if (std::abs(pair.value.imag()) <= 1e-10 * largest) {
      const auto longer = [](const Number& x, const Number& y) { return std::abs(x) < std::abs(y); };
      const Number turn = *std::max_element(pair.vector.begin(), pair.vector.end(), longer);
      for (Number& element : pair.vector) element = (element * std::conj(turn) / std::abs(turn)).real();
      pair.value = pair.value.real();
      pairs.push_back(std::move(pair));
      continue;
    }
    const auto nearer = [&](const Eigenpair& x, const Eigenpair& y) {
      return std::abs(x.value - std::conj(pair.value)) < std::abs(y.value - std::conj(pair.value));
    };
    if (!found.empty()) found.erase(std::min_element(found.begin(), found.end(), nearer));
    Eigenpair other{std::conj(pair.value), pair.vector};
    for (Number& element : other.vector) element = std::conj(element);
    if (pair.value.imag() < 0) std::swap(pair, other);
    pairs.push_back(std::move(pair));
    pairs.push_back(std::move(other));
  }
  return pairs;
}

} // namespace ptxrun::libraries
