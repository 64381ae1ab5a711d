#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Complex transform of lines in memory, `transform(team, plan, x, y, lines)`: all that the functions of fft/ ask of an
// implementation. It is the forward one without a factor; an inverse one exchanges real and imaginary parts before and
// after. Read next: fft/lines.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/team.hpp>
#include <twill/fft/passes.hpp>
#include <twill/fft/plan.hpp>
#include <twill/kernel/blocks.hpp>
#include <twill/kernel/scratch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace fft { namespace detail { inline namespace TWILL_ISA {

/// Copies `width` columns from `first` on of a matrix to a strip, and zeros to what is left of it.
template <class T>
void columns_to_strip(const T* from, std::int64_t rows, std::int64_t columns, std::int64_t first, std::int64_t width,
                      T* strip) {
  for (std::int64_t i = 0; i < rows; ++i) {
    T* const row = strip + i * strip_lines<T>;
    std::copy_n(from + i * columns + first, width, row);
    std::fill(row + width, row + strip_lines<T>, T{0});
  }
}

/// Writes a strip as rows `first` to `first + width` of a matrix.
template <class T>
void strip_to_rows(const T* strip, std::int64_t length, T* to, std::int64_t first, std::int64_t width) {
  constexpr std::int64_t block = 16;
  for (std::int64_t begin = 0; begin < length; begin += block) {
    const std::int64_t end = std::min(length, begin + block);
    for (std::int64_t q = 0; q < width; ++q)
      for (std::int64_t k = begin; k < end; ++k) to[(first + q) * length + k] = strip[k * strip_lines<T> + q];
  }
}

/// Calls f(first, width, a, b) for strips of columns of a matrix, which the threads share; a and b are planes for one.
template <class T, class F> void for_strips(const Team& team, std::int64_t rows, std::int64_t columns, const F& f) {
  const std::int64_t strips = (columns + strip_lines<T> - 1) / strip_lines<T>;
  const std::int64_t bytes = rows * columns * static_cast<std::int64_t>(sizeof(T));
  kernel::share_out(team, strips, bytes, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t size = rows * strip_lines<T>;
    T* const memory = kernel::Scratch::of_thread<T, kernel::ScratchSlot::parts>(4 * size);
    for (std::int64_t strip = begin; strip < end; ++strip) {
      const std::int64_t first = strip * strip_lines<T>;
      f(first, std::min(strip_lines<T>, columns - first), Planes<T>{memory, memory + size},
        Planes<T>{memory + 2 * size, memory + 3 * size});
    }
  });
}

/// One line as a matrix. The result is in x.
template <class T> void transform_as_matrix(const Team& team, const Plan<T>& plan, Planes<T> x, Planes<T> y) {
  const std::int64_t rows = plan.rows;
  const std::int64_t columns = plan.columns;
  const std::int64_t table_row = (columns + strip_lines<T> - 1) / strip_lines<T> * strip_lines<T>;
  for_strips<T>(team, rows, columns, [&](std::int64_t first, std::int64_t width, Planes<T> a, Planes<T> b) {
    columns_to_strip(x.re, rows, columns, first, width, a.re);
    columns_to_strip(x.im, rows, columns, first, width, a.im);
    const Planes<T> done = run_passes(plan.down, a, b, strip_lines<T>);
    for (std::int64_t k = 0; k < rows; ++k)
      for (std::int64_t q = 0; q < strip_lines<T>; q += Lanes<T>::lanes) {
        const std::int64_t at = k * table_row + first + q;
        const ComplexLanes<Lanes<T>> turn{kernel::load<T, Lanes<T>::lanes>(plan.turns.re.data() + at),
                                          kernel::load<T, Lanes<T>::lanes>(plan.turns.im.data() + at)};
        put_lanes(done, k * strip_lines<T> + q, lanes_at(done, k * strip_lines<T> + q) * turn);
      }
    strip_to_rows(done.re, rows, y.re, first, width);
    strip_to_rows(done.im, rows, y.im, first, width);
  });
  for_strips<T>(team, columns, rows, [&](std::int64_t first, std::int64_t width, Planes<T> a, Planes<T> b) {
    columns_to_strip(y.re, columns, rows, first, width, a.re);
    columns_to_strip(y.im, columns, rows, first, width, a.im);
    const Planes<T> done = run_passes(plan.across, a, b, strip_lines<T>);
    for (std::int64_t k = 0; k < columns; ++k) {
      std::copy_n(done.re + k * strip_lines<T>, width, x.re + k * rows + first);
      std::copy_n(done.im + k * strip_lines<T>, width, x.im + k * rows + first);
    }
  });
}

template <class T>
[[nodiscard]] Planes<T> transform(const Team& team, const Plan<T>& plan, Planes<T> x, Planes<T> y, std::int64_t lines);

/// Element k of each line times entry k of a table.
template <class T> void scale_lines(Planes<T> x, const RootTable<T>& table, std::int64_t length, std::int64_t lines) {
  for (std::int64_t k = 0; k < length; ++k) {
    const T re = table.re[static_cast<std::size_t>(k)];
    const T im = table.im[static_cast<std::size_t>(k)];
    for (std::int64_t at = k * lines; at < (k + 1) * lines; ++at) {
      const T a = x.re[at];
      x.re[at] = a * re - x.im[at] * im;
      x.im[at] = a * im + x.im[at] * re;
    }
  }
}

/// Lines of any length as a convolution.
template <class T>
[[nodiscard]] Planes<T> transform_by_convolution(const Team& team, const Plan<T>& plan, Planes<T> x, Planes<T> y,
                                                 std::int64_t lines) {
  const Plan<T>& padded = *plan.padded;
  scale_lines(x, plan.chirp, plan.length, lines);
  std::fill(x.re + plan.length * lines, x.re + padded.length * lines, T{0});
  std::fill(x.im + plan.length * lines, x.im + padded.length * lines, T{0});
  Planes<T> there = transform(team, padded, x, y, lines);
  Planes<T> other = there.re == x.re ? y : x;
  scale_lines(there, plan.filter, padded.length, lines);
  const Planes<T> back = transform(team, padded, there.exchanged(), other.exchanged(), lines).exchanged();
  scale_lines(back, plan.chirp, plan.length, lines);
  return back;
}

/// X_k = sum_j x_j exp(-2 pi i j k / n) of lines: element j of line q is at j * lines + q. x and y have `room()` places
/// for each line, and both are overwritten; the result is in one of them.
/// requires: lines is `lines_at_once(...)` of the plan
template <class T>
[[nodiscard]] Planes<T> transform(const Team& team, const Plan<T>& plan, Planes<T> x, Planes<T> y, std::int64_t lines) {
  if (plan.padded) return transform_by_convolution(team, plan, x, y, lines);
  if (lines > 1) return run_passes(plan.passes, x, y, lines);
  transform_as_matrix(team, plan, x, y);
  return x;
}

template <class T> Plan<T>::Plan(std::int64_t n) : length{n} {
  if (has_small_factors(n)) {
    if (n <= most_in_strips) passes = passes_of<T>(n);
    if (n < least_as_matrix) return;
    rows = divisor_near_root(n);
    columns = n / rows;
    down = passes_of<T>(rows);
    across = passes_of<T>(columns);
    const Roots roots(n);
    for (std::int64_t k = 0; k < rows; ++k)
      for (std::int64_t j = 0; j < (columns + strip_lines<T> - 1) / strip_lines<T> * strip_lines<T>; ++j) {
        const Root root = j < columns ? roots(k * j) : Root{};
        turns.re.push_back(static_cast<T>(root.re));
        turns.im.push_back(static_cast<T>(root.im));
      }
    return;
  }
  padded = std::make_unique<const Plan>(fast_length(2 * n - 1));
  const std::int64_t m = padded->length;
  const std::int64_t lines = padded->lines_at_once(1);
  std::vector<T> memory(static_cast<std::size_t>(4 * m * lines));
  const Planes<T> x{memory.data(), memory.data() + m * lines};
  const Planes<T> y{memory.data() + 2 * m * lines, memory.data() + 3 * m * lines};
  const Roots roots(2 * n);
  std::int64_t square = 0; // k^2 modulo 2 n: the angle of any k is that of a small one, exactly
  for (std::int64_t k = 0; k < n; ++k) {
    const Root root = roots(square);
    chirp.re.push_back(static_cast<T>(root.re));
    chirp.im.push_back(static_cast<T>(root.im));
    for (const std::int64_t at : {k, (m - k) % m}) {
      x.re[at * lines] = static_cast<T>(root.re);
      x.im[at * lines] = static_cast<T>(-root.im);
    }
    square = (square + 2 * k + 1) % (2 * n);
  }
  const Planes<T> done = transform(Team::serial(), *padded, x, y, lines);
  for (std::int64_t k = 0; k < m; ++k) {
    filter.re.push_back(done.re[k * lines] / static_cast<T>(m));
    filter.im.push_back(done.im[k * lines] / static_cast<T>(m));
  }
}

}}}}} // namespace twill::v0::fft::detail::TWILL_ISA
