#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Plain loops of LAPACK's routines on column-major matrices of doubles or complex numbers of doubles, one matrix after
// another: what the stand-in for cuSOLVER and cuBLAS computes with (cusolver.cpp).

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace ptxrun::libraries {

using Number = std::complex<double>;

// Elements in memory are float, double, or CUDA's pairs of these, of which x is the real part.
template <class T>
concept Pair = requires(T pair) {
  pair.x, pair.y;
};
template <class T> [[nodiscard]] auto number_of(const T& element) {
  if constexpr (Pair<T>)
    return Number{element.x, element.y};
  else
    return double{element};
}
template <class T> using NumberOf = decltype(number_of(T{}));

template <class T> void set_element(T& element, double number) {
  if constexpr (Pair<T>)
    element = {static_cast<decltype(T::x)>(number), 0};
  else
    element = static_cast<T>(number);
}
template <Pair T> void set_element(T& element, const Number& number) {
  element = {static_cast<decltype(T::x)>(number.real()), static_cast<decltype(T::x)>(number.imag())};
}

[[nodiscard]] inline double conjugate(double x) { return x; }
[[nodiscard]] inline Number conjugate(const Number& z) { return std::conj(z); }

/// A dense matrix by columns.
template <class N> class Matrix {
public:
  Matrix(int rows, int columns) : rows_{rows}, columns_{columns}, numbers_(size(rows) * size(columns)) {}
  /// A copy of a matrix with a distance between its columns.
  template <class T> Matrix(int rows, int columns, const T* from, int leading) : Matrix(rows, columns) {
    for (int j = 0; j < columns; ++j)
      for (int i = 0; i < rows; ++i) (*this)(i, j) = number_of(from[i + std::ptrdiff_t{j} * leading]);
  }

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  N& operator()(int i, int j) { return numbers_[size(i) + size(j) * size(rows_)]; }
  const N& operator()(int i, int j) const { return numbers_[size(i) + size(j) * size(rows_)]; }

  /// Writes the elements for which `chosen(i, j)` holds.
  template <class T, class Chosen> void write(T* to, int leading, const Chosen& chosen) const {
    for (int j = 0; j < columns_; ++j)
      for (int i = 0; i < rows_; ++i)
        if (chosen(i, j)) set_element(to[i + std::ptrdiff_t{j} * leading], (*this)(i, j));
  }
  template <class T> void write(T* to, int leading) const {
    write(to, leading, [](int, int) { return true; });
  }

private:
  [[nodiscard]] static std::size_t size(int n) { return static_cast<std::size_t>(n); }
  int rows_;
  int columns_;
  std::vector<N> numbers_;
};

/// The sum of products with the conjugates of the left column.
template <class N> [[nodiscard]] N product_of_columns(const Matrix<N>& a, int i, const Matrix<N>& b, int j) {
  N sum = 0;
  for (int row = 0; row < a.rows(); ++row) sum += conjugate(a(row, i)) * b(row, j);
  return sum;
}
template <class N> [[nodiscard]] double square_of_column(const Matrix<N>& a, int j) {
  return std::real(product_of_columns(a, j, a, j));
}

/// U with U^H U = A in the upper triangle, which alone is read. The order of the first minor that is not positive, or 0.
template <class N> [[nodiscard]] int cholesky_upper(Matrix<N>& a) {
  for (int j = 0; j < a.columns(); ++j) {
    for (int i = 0; i <= j; ++i) {
      N rest = a(i, j);
      for (int k = 0; k < i; ++k) rest -= conjugate(a(k, i)) * a(k, j);
      if (i < j) {
        a(i, j) = rest / a(i, i);
      } else {
        if (!(std::real(rest) > 0)) return j + 1;
        a(j, j) = std::sqrt(std::real(rest));
      }
    }
  }
  return 0;
}

/// LU factors in place. `exchanged` counts rows from 1. The first pivot that is zero, from 1, or 0.
template <class N> [[nodiscard]] int lu_in_place(Matrix<N>& a, int* exchanged) {
  const int n = a.columns();
  int info = 0;
  for (int k = 0; k < n; ++k) {
    int largest = k;
    for (int i = k + 1; i < n; ++i)
      if (std::abs(a(i, k)) > std::abs(a(largest, k))) largest = i;
    exchanged[k] = largest + 1;
    if (std::abs(a(largest, k)) == 0) {
      info = info == 0 ? k + 1 : info;
      continue;
    }
    for (int j = 0; j < n && largest != k; ++j) std::swap(a(k, j), a(largest, j));
    for (int i = k + 1; i < n; ++i) {
      a(i, k) /= a(k, k);
      for (int j = k + 1; j < n; ++j) a(i, j) -= a(i, k) * a(k, j);
    }
  }
  return info;
}

/// How a matrix is read.
enum class Reading { plain, transposed, conjugate_transposed };

/// X M = B in place of B, where M is A as it is read; one triangle of A is.
template <class N>
void solve_right(const Matrix<N>& a, bool is_upper, Reading reading, bool has_unit_diagonal, Matrix<N>& b) {
  const int n = a.columns();
  const bool is_forward = is_upper == (reading == Reading::plain);
  const auto m = [&](int k, int j) {
    if (reading == Reading::plain) return a(k, j);
    return reading == Reading::transposed ? a(j, k) : conjugate(a(j, k));
  };
  for (int step = 0; step < n; ++step) {
    const int j = is_forward ? step : n - 1 - step;
    for (int row = 0; row < b.rows(); ++row) {
      N rest = b(row, j);
      for (int before = 0; before < step; ++before) {
        const int k = is_forward ? before : n - 1 - before;
        rest -= b(row, k) * m(k, j);
      }
      b(row, j) = has_unit_diagonal ? rest : rest / m(j, j);
    }
  }
}

/// R with a real diagonal and reflectors I - tau v v^H in place of A, and their factors.
template <class N> void qr_in_place(Matrix<N>& a, N* tau) {
  const int m = a.rows();
  for (int k = 0; k < std::min(m, a.columns()); ++k) {
    double square = 0;
    for (int i = k + 1; i < m; ++i) square += std::norm(a(i, k));
    const N alpha = a(k, k);
    tau[k] = 0;
    if (square == 0 && std::imag(alpha) == 0) continue;
    const double beta = -std::copysign(std::sqrt(std::norm(alpha) + square), std::real(alpha));
    tau[k] = (beta - alpha) / beta;
    for (int i = k + 1; i < m; ++i) a(i, k) /= alpha - beta;
    a(k, k) = beta;
    for (int j = k + 1; j < a.columns(); ++j) {
      N sum = a(k, j);
      for (int i = k + 1; i < m; ++i) sum += conjugate(a(i, k)) * a(i, j);
      sum *= conjugate(tau[k]);
      a(k, j) -= sum;
      for (int i = k + 1; i < m; ++i) a(i, j) -= sum * a(i, k);
    }
  }
}

/// The first columns of Q from as many reflectors.
template <class N> [[nodiscard]] Matrix<N> columns_of_q(const Matrix<N>& reflectors, const N* tau) {
  Matrix<N> q(reflectors.rows(), reflectors.columns());
  for (int j = 0; j < q.columns(); ++j) q(j, j) = 1;
  for (int k = q.columns() - 1; k >= 0; --k)
    for (int j = 0; j < q.columns(); ++j) {
      N sum = q(k, j);
      for (int i = k + 1; i < q.rows(); ++i) sum += conjugate(reflectors(i, k)) * q(i, j);
      sum *= tau[k];
      q(k, j) -= sum;
      for (int i = k + 1; i < q.rows(); ++i) q(i, j) -= sum * reflectors(i, k);
    }
  return q;
}

/// Makes columns from `first` on orthonormal and orthogonal to those before them.
template <class N> void complete_basis(Matrix<N>& u, int first) {
  for (int j = first, axis = 0; j < u.columns() && axis < u.rows(); ++axis) {
    for (int i = 0; i < u.rows(); ++i) u(i, j) = i == axis ? 1 : 0;
    for (int round = 0; round < 2; ++round)
      for (int k = 0; k < j; ++k) {
        const N along = product_of_columns(u, k, u, j);
        for (int i = 0; i < u.rows(); ++i) u(i, j) -= along * u(i, k);
      }
    const double length = std::sqrt(square_of_column(u, j));
    if (length < 1e-3) continue; // another axis is farther from the others
    for (int i = 0; i < u.rows(); ++i) u(i, j) /= length;
    ++j;
  }
}

[[nodiscard]] inline bool are_finite(const std::vector<std::pair<double, int>>& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& value) { return std::isfinite(value.first); });
}

/// Singular values, descending, with all left and right vectors: one-sided Jacobi rotations. False: not found.
template <class N> struct SingularValues {
  std::vector<double> values{};
  Matrix<N> u{0, 0};
  Matrix<N> v{0, 0};
  bool is_found = false;
};
template <class N> [[nodiscard]] SingularValues<N> singular_values(const Matrix<N>& given) {
  const bool is_wide = given.rows() < given.columns();
  const int m = std::max(given.rows(), given.columns());
  const int n = std::min(given.rows(), given.columns());
  Matrix<N> a(m, n), v(n, n);
  for (int j = 0; j < n; ++j) {
    v(j, j) = 1;
    for (int i = 0; i < m; ++i) a(i, j) = is_wide ? conjugate(given(j, i)) : given(i, j);
  }
  bool is_orthogonal = false;
  for (int sweep = 0; sweep < 100 && !is_orthogonal; ++sweep) {
    is_orthogonal = true;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double pp = square_of_column(a, p), qq = square_of_column(a, q);
        const N product = product_of_columns(a, p, a, q);
        const double pq = std::abs(product);
        if (pq <= 1e-15 * std::sqrt(pp * qq)) continue;
        is_orthogonal = false;
        const N turn = conjugate(product) / pq; // column q times this has a positive product with column p
        const double zeta = (qq - pp) / (2 * pq);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (Matrix<N>* const both : {&a, &v})
          for (int i = 0; i < both->rows(); ++i) {
            const N x = (*both)(i, p), y = (*both)(i, q) * turn;
            (*both)(i, p) = c * x - s * y;
            (*both)(i, q) = s * x + c * y;
          }
      }
  }
  std::vector<std::pair<double, int>> order;
  for (int j = 0; j < n; ++j) order.emplace_back(std::sqrt(square_of_column(a, j)), j);
  SingularValues<N> result{{}, Matrix<N>(m, m), Matrix<N>(n, n), is_orthogonal && are_finite(order)};
  if (result.is_found) std::stable_sort(order.begin(), order.end(), std::greater<>{});
  int nonzero = 0;
  for (int j = 0; j < n; ++j) {
    const auto [value, from] = order[static_cast<std::size_t>(j)];
    result.values.push_back(value);
    for (int i = 0; i < n; ++i) result.v(i, j) = v(i, from);
    if (!(value > 1e-14 * order[0].first)) continue;
    nonzero = j + 1;
    for (int i = 0; i < m; ++i) result.u(i, j) = a(i, from) / value;
  }
  complete_basis(result.u, nonzero);
  if (is_wide) std::swap(result.u, result.v);
  return result;
}

/// Eigenvalues of a symmetric or Hermitian matrix, of which the upper triangle is read, ascending, and eigenvectors in
/// its place: cyclic Jacobi rotations. False: not found.
template <class N> [[nodiscard]] bool eigenvalues(Matrix<N>& a, std::vector<double>& values) {
  const int n = a.columns();
  Matrix<N> v(n, n);
  for (int j = 0; j < n; ++j) {
    v(j, j) = 1;
    a(j, j) = std::real(a(j, j));
    for (int i = j + 1; i < n; ++i) a(i, j) = conjugate(a(j, i));
  }
  bool is_diagonal = false;
  for (int sweep = 0; sweep < 100 && !is_diagonal; ++sweep) {
    is_diagonal = true;
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q) {
        const double pq = std::abs(a(p, q));
        if (pq <= 1e-16 * (std::abs(a(p, p)) + std::abs(a(q, q)))) continue;
        is_diagonal = false;
        const N turn = conjugate(a(p, q)) / pq; // column q times this, and row q times its conjugate: a(p, q) is pq
        const double theta = std::real(a(q, q) - a(p, p)) / (2 * pq);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(1 + theta * theta));
        const double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (int i = 0; i < n; ++i) {
          const N x = a(i, p), y = a(i, q) * turn;
          a(i, p) = c * x - s * y;
          a(i, q) = s * x + c * y;
        }
        for (int i = 0; i < n; ++i) {
          const N x = a(p, i), y = a(q, i) * conjugate(turn);
          a(p, i) = c * x - s * y;
          a(q, i) = s * x + c * y;
          const N w = v(i, p), z = v(i, q) * turn;
          v(i, p) = c * w - s * z;
          v(i, q) = s * w + c * z;
        }
      }
  }
  std::vector<std::pair<double, int>> order;
  for (int j = 0; j < n; ++j) order.emplace_back(std::real(a(j, j)), j);
  is_diagonal = is_diagonal && are_finite(order);
  if (is_diagonal) std::stable_sort(order.begin(), order.end());
  for (int j = 0; j < n; ++j) {
    const auto [value, from] = order[static_cast<std::size_t>(j)];
    values.push_back(value);
    for (int i = 0; i < n; ++i) a(i, j) = v(i, from);
  }
  return is_diagonal;
}

} // namespace ptxrun::libraries
