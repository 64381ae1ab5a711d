#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Iterators over the first axis of a tensor, as NumPy's: `for (const auto row : matrix)` gives views, `for (float& e :
// vector)` elements in host memory. They keep the tensor's memory where they give views; references to elements are
// valid while it lives. Read next: tensor/tensor.hpp, algorithms/element_iterator.hpp.

#include <twill/core/config.hpp>
#include <twill/device/cpu/cpu.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace twill { inline namespace v0 { namespace layout {

/// The common part of iterators that know only their index; `Derived` returns element `index()`.
template <class Derived, class Value, class Reference> class IndexIterator {
public:
  using iterator_concept = std::random_access_iterator_tag;
  // Even if a reference is a value, an input iterator in C++17: algorithms choose their strategy by the category.
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using reference = Reference;

  [[nodiscard]] constexpr difference_type index() const { return index_; }
  [[nodiscard]] constexpr Reference operator*() const { return self().at(index_); }
  [[nodiscard]] constexpr Reference operator[](difference_type distance) const { return self().at(index_ + distance); }

  constexpr Derived& operator++() { return *this += 1; }
  constexpr Derived& operator--() { return *this += -1; }
  constexpr Derived operator++(int) {
    Derived before = self();
    ++index_;
    return before;
  }
  constexpr Derived operator--(int) {
    Derived before = self();
    --index_;
    return before;
  }
  constexpr Derived& operator+=(difference_type distance) {
    index_ += distance;
    return static_cast<Derived&>(*this);
  }
  constexpr Derived& operator-=(difference_type distance) { return *this += -distance; }
  [[nodiscard]] friend constexpr Derived operator+(Derived at, difference_type distance) { return at += distance; }
  [[nodiscard]] friend constexpr Derived operator+(difference_type distance, Derived at) { return at += distance; }
  [[nodiscard]] friend constexpr Derived operator-(Derived at, difference_type distance) { return at -= distance; }
  [[nodiscard]] friend constexpr difference_type operator-(const Derived& left, const Derived& right) {
    return left.index() - right.index();
  }
  [[nodiscard]] friend constexpr bool operator==(const Derived& left, const Derived& right) {
    return left.index() == right.index();
  }
  [[nodiscard]] friend constexpr std::strong_ordering operator<=>(const Derived& left, const Derived& right) {
    return left.index() <=> right.index();
  }

protected:
  constexpr IndexIterator() = default;
  constexpr explicit IndexIterator(difference_type index) : index_{index} {}

private:
  [[nodiscard]] constexpr const Derived& self() const { return static_cast<const Derived&>(*this); }

  difference_type index_ = 0;
};

/// An iterator over the elements of a vector in host memory.
template <class T> class VectorIterator : public IndexIterator<VectorIterator<T>, T, T&> {
public:
  using pointer = T*;

  constexpr VectorIterator() = default;
  constexpr VectorIterator(T* data, std::int64_t stride, std::int64_t index)
      : IndexIterator<VectorIterator<T>, T, T&>{index}, data_{data}, stride_{stride} {}

  [[nodiscard]] constexpr T& at(std::ptrdiff_t index) const { return data_[index * stride_]; }
  [[nodiscard]] constexpr T* operator->() const { return &at(this->index()); }

private:
  T* data_ = nullptr;
  std::int64_t stride_ = 0;
};

/// The view of an entry of a tensor's first axis.
template <class X> using entry_t = decltype(std::declval<const X&>()[std::int64_t{}]);

/// An iterator over views along the first axis.
template <class X> class EntryIterator : public IndexIterator<EntryIterator<X>, entry_t<X>, entry_t<X>> {
public:
  using pointer = void;

  EntryIterator() = default;
  EntryIterator(const X& x, std::int64_t index)
      : IndexIterator<EntryIterator<X>, entry_t<X>, entry_t<X>>{index}, x_{x} {}

  [[nodiscard]] entry_t<X> at(std::ptrdiff_t index) const { return x_[static_cast<std::int64_t>(index)]; }

private:
  X x_{};
};

/// Position `index` along the first axis.
template <class X> [[nodiscard]] auto along_first_axis(const X& x, std::int64_t index) {
  if constexpr (X::rank == 1 && std::same_as<typename X::device_type, Cpu>)
    return VectorIterator<typename X::value_type>{x.data(), x.strides()[0], index};
  else
    return EntryIterator<X>{x, index};
}

}}} // namespace twill::v0::layout
