#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of traced values. An extent is a number times powers of symbols, so `(batch, 4, 4)` can become `(batch, 16)`
// or `(16 * batch)` while the batch stays unknown, and `(batch, batch)` has batch^2 elements. A symbol is an index into
// the graph's list of names; its number comes with the input tensors. Read next: graph/node.hpp.

#include <twill/core/config.hpp>
#include <twill/core/shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

namespace twill { inline namespace v0 { namespace graph {

/// A small array for constant evaluation. The checks of std::array take ten steps for each access, this takes two:
/// passes over graphs consist of such accesses, and compilers limit the steps.
template <class T, std::size_t N> struct Few {
  T items[N]{}; ///< N of them, used or not

  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return items[i]; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) { return items[i]; }
  /// The number of items, N.
  [[nodiscard]] static constexpr std::size_t size() { return N; }
  [[nodiscard]] constexpr const T* begin() const { return items; }
  [[nodiscard]] constexpr const T* end() const { return items + N; }
  [[nodiscard]] constexpr T* begin() { return items; }
  [[nodiscard]] constexpr T* end() { return items + N; }
  [[nodiscard]] friend constexpr bool operator==(const Few&, const Few&) = default;
};

/// The most symbols of one graph; each power has four bits of `Extent::symbols`.
inline constexpr int max_symbols = 16;

/// The numbers of all symbols in one run.
using SymbolValues = std::array<std::int64_t, max_symbols>;

/// factor * product of the symbols to their powers.
struct Extent {
  std::int64_t factor = 1;   ///< the number
  std::uint64_t symbols = 0; ///< the power of symbol i in the bits from 4i on

  Extent() = default;
  /// A number, or a number times powers of symbols. In a target shape, -1 follows from the other extents.
  constexpr Extent(std::int64_t number, std::uint64_t powers = 0) : factor{number}, symbols{powers} {}
  /// The symbol itself: factor 1, power 1.
  [[nodiscard]] static constexpr Extent of_symbol(int symbol) { return {1, std::uint64_t{1} << 4 * symbol}; }

  /// Whether no symbol occurs.
  [[nodiscard]] constexpr bool is_static() const { return symbols == 0; }
  /// Whether it is the number 1, which broadcasts.
  [[nodiscard]] constexpr bool is_one() const { return symbols == 0 && factor == 1; }
  /// The power of a symbol, 0 to 15.
  [[nodiscard]] constexpr int power(int symbol) const { return static_cast<int>(symbols >> 4 * symbol & 15U); }

  /// The symbol that is the whole extent, or -1.
  [[nodiscard]] TWILL_CONSTEXPR int single_symbol() const {
    for (int i = 0; i < max_symbols && factor == 1; ++i)
      if (symbols == std::uint64_t{1} << 4 * i) return i;
    return -1;
  }
  /// The extent with one symbol in the place of another.
  [[nodiscard]] TWILL_CONSTEXPR Extent replaced(int from, int to) const {
    const auto power_of_from = static_cast<std::uint64_t>(power(from));
    return {factor, symbols - (power_of_from << 4 * from) + (power_of_from << 4 * to)};
  }
  /// The extent with a number in the place of a symbol.
  [[nodiscard]] TWILL_CONSTEXPR Extent fixed(int symbol, std::int64_t value) const {
    Extent result{factor, symbols & ~(std::uint64_t{15} << 4 * symbol)};
    for (int k = 0; k < power(symbol); ++k) result.factor *= value;
    return result;
  }
  /// Its number for these values of the symbols.    throws: ShapeError where that exceeds 64 bits
  [[nodiscard]] TWILL_CONSTEXPR std::int64_t evaluate(const SymbolValues& values) const {
    std::int64_t product = factor;
    for (int i = 0; i < max_symbols && symbols >> 4 * i != 0; ++i) {
      const std::int64_t value = values[static_cast<std::size_t>(i)];
      for (int k = 0; k < power(i); ++k) {
        if (std::is_constant_evaluated()) // where an overflow does not compile; nvcc's builtin is for run time only
          product *= value;
        else if (__builtin_mul_overflow(product, value, &product))
          throw_too_large(values);
      }
    }
    return product;
  }
  [[nodiscard]] friend constexpr bool operator==(const Extent& left, const Extent& right) {
    return left.factor == right.factor && left.symbols == right.symbols;
  }

private:
  [[noreturn]] void throw_too_large(const SymbolValues& values) const;
};

/// The product; powers of symbols add up.
[[nodiscard]] TWILL_CONSTEXPR Extent operator*(Extent left, Extent right) {
  return {left.factor * right.factor, left.symbols + right.symbols};
}

/// The whole number of times that one extent fits another, as far as symbols show it; -1 where it does not.
[[nodiscard]] TWILL_CONSTEXPR Extent quotient(Extent whole, Extent part) {
  for (int i = 0; i < max_symbols; ++i)
    if (whole.power(i) < part.power(i)) return {-1};
  if (part.factor == 0 || whole.factor % part.factor != 0) return {-1};
  return {whole.factor / part.factor, whole.symbols - part.symbols};
}

/// The shape of a traced value. Loops over it index `axes.items`: constant evaluation takes twice the time and memory
/// to walk with pointers.
struct Extents {
  int rank = 0;                 ///< how many axes there are
  Few<Extent, max_rank> axes{}; ///< their extents in order

  Extents() = default;
  /// `{2, 3}`: the extents in order.
  constexpr Extents(std::initializer_list<Extent> extents) {
    for (const Extent& extent : extents) append(extent);
  }
  [[nodiscard]] constexpr const Extent& operator[](int axis) const { return axes.items[axis]; }
  [[nodiscard]] constexpr Extent& operator[](int axis) { return axes.items[axis]; }
  /// Adds a last axis.
  constexpr void append(Extent extent) { axes.items[rank++] = extent; }
  /// The product of all extents.
  [[nodiscard]] TWILL_CONSTEXPR Extent elements() const {
    Extent product{};
    for (int axis = 0; axis < rank; ++axis) {
      product.factor *= axes.items[axis].factor;
      product.symbols += axes.items[axis].symbols;
    }
    return product;
  }
  /// Its shape for these values of the symbols.
  [[nodiscard]] TWILL_CONSTEXPR Dims evaluate(const SymbolValues& values) const {
    Dims dims{};
    dims.rank = rank;
    for (int axis = 0; axis < rank; ++axis) dims[axis] = (*this)[axis].evaluate(values);
    return dims;
  }
  [[nodiscard]] friend constexpr bool operator==(const Extents& left, const Extents& right) {
    const int count = left.rank;
    if (count != right.rank) return false;
    for (int i = 0; i < count; ++i)
      if (left.axes.items[i].factor != right.axes.items[i].factor ||
          left.axes.items[i].symbols != right.axes.items[i].symbols)
        return false;
    return true;
  }
};

/// Extents without symbols.
[[nodiscard]] TWILL_CONSTEXPR Extents extents_of(const Dims& dims) {
  Extents result{};
  for (int axis = 0; axis < dims.rank; ++axis) result.append({dims[axis], 0});
  return result;
}

/// The number of extents that are not one.
[[nodiscard]] TWILL_CONSTEXPR int proper_rank(const Extents& shape) {
  int rank = 0;
  const int axes = shape.rank;
  for (int i = 0; i < axes; ++i)
    if (shape.axes.items[i].factor != 1 || shape.axes.items[i].symbols != 0) ++rank;
  return rank;
}

/// The shape without its extents of one: two tensors that agree here have the same memory layout.
[[nodiscard]] TWILL_CONSTEXPR Extents without_ones(const Extents& shape) {
  Extents result{};
  const int axes = shape.rank;
  for (int i = 0; i < axes; ++i)
    if (shape.axes.items[i].factor != 1 || shape.axes.items[i].symbols != 0)
      result.axes.items[result.rank++] = shape.axes.items[i];
  return result;
}

}}} // namespace twill::v0::graph

#if TWILL_HEADER_ONLY
#include <twill/graph/extent.ipp>
#endif
