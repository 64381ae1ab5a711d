#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Iterators over all elements of a host tensor in row-major order, for any strides: `begin(x)`, `end(x)` for the
// standard algorithms and Thrust, `flat(x)` for range-for, which goes over the first axis of the tensor itself.
// Iterators refer to the tensor's memory and are valid while it lives; `begin` waits for the work that the device was
// given before. A contiguous tensor is also a `std::span` (`span_of`), which is faster where
// there are few operations for each element. Read next: algorithms/lazy_iterator.hpp.

#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/kernel/on_queue.hpp>
#include <twill/tensor/first_axis.hpp>
#include <twill/tensor/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace twill { inline namespace v0 {
namespace algorithms {

/// The position of element i of a view, for i in row-major order. Axes that form one run are merged, so that most views
/// need no division.
template <int Rank> struct Walk {
  static constexpr auto room = static_cast<std::size_t>(Rank > 0 ? Rank : 1);
  int rank = 0;
  std::array<std::int64_t, room> extents{};
  std::array<std::int64_t, room> strides{};

  constexpr Walk() = default;
  constexpr Walk(const Dims& of_extents, const Dims& of_strides) {
    for (int axis = 0; axis < of_extents.rank; ++axis) {
      if (of_extents[axis] == 1) continue;
      const auto last = static_cast<std::size_t>(rank - 1);
      if (rank > 0 && strides[last] == of_strides[axis] * of_extents[axis]) {
        extents[last] *= of_extents[axis];
        strides[last] = of_strides[axis];
      } else {
        extents[static_cast<std::size_t>(rank)] = of_extents[axis];
        strides[static_cast<std::size_t>(rank)] = of_strides[axis];
        ++rank;
      }
    }
  }

  [[nodiscard]] constexpr std::int64_t offset(std::int64_t index) const {
    std::int64_t sum = 0;
    for (int axis = Rank - 1; axis > 0; --axis) { // all of them, so that kernels keep the numbers in registers
      if (axis >= rank) continue;
      const auto at = static_cast<std::size_t>(axis);
      sum += index % extents[at] * strides[at];
      index /= extents[at];
    }
    return sum + index * strides[0];
  }
};

/// An iterator over the elements of a tensor.
template <Scalar T, int Rank> class ElementIterator : public layout::IndexIterator<ElementIterator<T, Rank>, T, T&> {
public:
  using pointer = T*;

  constexpr ElementIterator() = default;
  constexpr ElementIterator(T* data, const Walk<Rank>& walk, std::int64_t index)
      : layout::IndexIterator<ElementIterator<T, Rank>, T, T&>{index}, data_{data}, walk_{walk} {}

  [[nodiscard]] constexpr T& at(std::ptrdiff_t index) const { return data_[walk_.offset(index)]; }
  [[nodiscard]] constexpr T* operator->() const { return &at(this->index()); }

private:
  T* data_ = nullptr;
  Walk<Rank> walk_{};
};

/// The elements between two iterators: the part of std::ranges::subrange that programs need, for a range-for and for
/// algorithms and views of std::ranges, without including them.
template <class Iterator> class Elements {
public:
  Elements(Iterator first, Iterator last) : first_{first}, last_{last} {}

  [[nodiscard]] Iterator begin() const { return first_; }
  [[nodiscard]] Iterator end() const { return last_; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
  [[nodiscard]] bool empty() const { return first_ == last_; }
  [[nodiscard]] decltype(auto) front() const { return *first_; }
  [[nodiscard]] decltype(auto) back() const { return first_[last_ - first_ - 1]; }
  [[nodiscard]] decltype(auto) operator[](std::ptrdiff_t i) const { return first_[i]; }

private:
  Iterator first_;
  Iterator last_;
};

} // namespace algorithms

/// The first element of a GPU's tensor, for kernels: host code must not read the memory.
template <Scalar T, class D, AnyShape S>
requires kernel::has_queue<D>
[[nodiscard]] algorithms::ElementIterator<T, S::rank> begin(const Tensor<T, D, S>& x) {
  return {x.data(), {x.shape(), x.strides()}, 0};
}
/// The position after the last element.
template <Scalar T, class D, AnyShape S>
requires kernel::has_queue<D>
[[nodiscard]] algorithms::ElementIterator<T, S::rank> end(const Tensor<T, D, S>& x) {
  return {x.data(), {x.shape(), x.strides()}, x.elements()};
}

/// The first element in row-major order. Waits for the device.
template <Scalar T, AnyShape S>
[[nodiscard]] algorithms::ElementIterator<T, S::rank> begin(const Tensor<T, Cpu, S>& x) {
  synchronize(x.device());
  return {x.data(), {x.shape(), x.strides()}, 0};
}
/// The position after the last element.
template <Scalar T, AnyShape S> [[nodiscard]] algorithms::ElementIterator<T, S::rank> end(const Tensor<T, Cpu, S>& x) {
  return {x.data(), {x.shape(), x.strides()}, x.elements()};
}
// std::ranges deletes a begin(auto&) that would be closer to what is not const.
template <Scalar T, AnyShape S> [[nodiscard]] algorithms::ElementIterator<T, S::rank> begin(Tensor<T, Cpu, S>& x) {
  return begin(std::as_const(x));
}
template <Scalar T, AnyShape S> [[nodiscard]] algorithms::ElementIterator<T, S::rank> end(Tensor<T, Cpu, S>& x) {
  return end(std::as_const(x));
}

/// All elements in row-major order as a range, NumPy's `x.flat`.
template <AnyTensor X> [[nodiscard]] auto flat(const X& x) { return algorithms::Elements{begin(x), end(x)}; }

}} // namespace twill::v0

// They refer to the tensor's memory and stay valid without the object.
template <class Iterator> inline constexpr bool std::ranges::enable_view<twill::algorithms::Elements<Iterator>> = true;
template <class Iterator>
inline constexpr bool std::ranges::enable_borrowed_range<twill::algorithms::Elements<Iterator>> = true;
