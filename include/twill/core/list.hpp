#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Growing array for constant evaluation. Passes over traced graphs run inside the compiler, where every call of a
// function is a step of a limited number: std::vector takes about ten calls to append one element, this takes three. It
// also costs less to instantiate, which matters to every file that includes a graph. Names are those of std::vector;
// there is no exception safety, because copying the elements does not fail. A view and a stable sort are
// beside it. nvcc 13 forgets to destroy some lists, and then reports a leak: members of aggregates, so a struct with
// lists declares a default constructor; and, on large graphs, lists that are alive at an early return, and a temporary
// that a loop runs over. Read next: graph/graph.hpp.

#include <twill/core/config.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

/// A growing sequence for constant evaluation: std::vector's interface without its checks, at a fraction of the steps.
template <class T> class List {
public:
  using value_type = T;

  T* items = nullptr; ///< `data()` without a call: passes that index often save half their time in constant evaluation

  constexpr List() = default;
  /// `count` copies of a value.
  constexpr List(std::size_t count, const T& value) { resize(count, value); }
  /// The elements in braces.
  constexpr List(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  /// Copies the elements.
  constexpr List(const List& other) { append(other); }
  /// Takes the elements and leaves the other list empty.
  constexpr List(List&& other) noexcept : items{other.items}, size_{other.size_}, capacity_{other.capacity_} {
    other.items = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  /// Copies the elements into the existing memory, where they fit.
  constexpr List& operator=(const List& other) {
    if (this == &other) return *this;
    clear();
    append(other);
    return *this;
  }
  /// Takes the elements and leaves the other list empty.
  constexpr List& operator=(List&& other) noexcept {
    swap(other);
    return *this;
  }
  constexpr ~List() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (std::size_t i = size_; i > 0; --i) std::destroy_at(items + i - 1);
    if (capacity_ != 0) release(items, capacity_);
  }

  /// The number of elements.
  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  /// The first element; null for a list that never had one.
  [[nodiscard]] constexpr const T* data() const { return items; }
  [[nodiscard]] constexpr T* data() { return items; }
  [[nodiscard]] constexpr const T* begin() const { return items; }
  [[nodiscard]] constexpr const T* end() const { return items + size_; }
  [[nodiscard]] constexpr T* begin() { return items; }
  [[nodiscard]] constexpr T* end() { return items + size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return items[i]; }
  [[nodiscard]] constexpr T& operator[](std::size_t i) { return items[i]; }
  [[nodiscard]] constexpr const T& front() const { return items[0]; }
  [[nodiscard]] constexpr const T& back() const { return items[size_ - 1]; }
  [[nodiscard]] constexpr T& back() { return items[size_ - 1]; }

  /// The value may be an element of the list.
  constexpr void push_back(const T& value) {
    if (size_ == capacity_) {
      const T copy = value; // NOLINT(performance-unnecessary-copy-initialization): grow() ends the life of `value`
      grow(size_ + 1);
      put(copy);
    } else if constexpr (is_plain) {
      items[size_++] = value;
    } else {
      std::construct_at(items + size_++, value);
    }
  }
  constexpr void push_back(T&& value) {
    if (size_ == capacity_) {
      T moved = static_cast<T&&>(value);
      grow(size_ + 1);
      put(static_cast<T&&>(moved));
    } else if constexpr (is_plain) {
      items[size_++] = value;
    } else {
      std::construct_at(items + size_++, static_cast<T&&>(value));
    }
  }
  constexpr void pop_back() { drop(--size_); }
  constexpr void clear() {
    if constexpr (!std::is_trivially_destructible_v<T>)
      while (size_ > 0) drop(--size_);
    size_ = 0;
  }
  constexpr void reserve(std::size_t count) {
    if (count > capacity_) move_to(count);
  }
  /// requires: the value is not in this list
  constexpr void resize(std::size_t count, const T& value = T{}) {
    if (count > capacity_) move_to(count);
    if constexpr (is_plain) {
      for (std::size_t i = size_; i < count; ++i) items[i] = value;
      size_ = count;
    } else {
      while (size_ > count) drop(--size_);
      while (size_ < count) put(value);
    }
  }
  /// requires: the range is not in this list
  constexpr void append(const T* first, const T* last) {
    if (first == last) return;
    if (const std::size_t count = size_ + static_cast<std::size_t>(last - first); count > capacity_) grow(count);
    if constexpr (is_plain)
      while (first != last) items[size_++] = *first++;
    else
      for (; first != last; ++first) std::construct_at(items + size_++, *first);
  }
  constexpr void append(const List& other) {
    if (other.size_ != 0) append(other.items, other.items + other.size_);
  }
  /// Takes the first element out.
  constexpr void pop_front() {
    for (std::size_t i = 1; i < size_; ++i) items[i - 1] = static_cast<T&&>(items[i]);
    pop_back();
  }
  constexpr void swap(List& other) noexcept {
    T* const data = items;
    const std::size_t size = size_;
    const std::size_t capacity = capacity_;
    items = other.items;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.items = data;
    other.size_ = size;
    other.capacity_ = capacity;
  }

  [[nodiscard]] friend constexpr bool operator==(const List& left, const List& right) {
    if (left.size_ != right.size_) return false;
    for (std::size_t i = 0; i < left.size_; ++i)
      if (!(left.items[i] == right.items[i])) return false;
    return true;
  }

private:
  // Numbers need no construction: a plain store is the cheapest step.
  static constexpr bool is_plain = std::is_arithmetic_v<T>;

  template <class U> constexpr void put(U&& value) {
    if constexpr (is_plain)
      items[size_] = value;
    else
      std::construct_at(items + size_, std::forward<U>(value));
    ++size_;
  }
  constexpr void drop(std::size_t i) {
    if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_at(items + i);
    static_cast<void>(i);
  }
  TWILL_COLD constexpr void grow(std::size_t count) {
    // In constant evaluation memory without elements costs nothing, moving elements does.
    std::size_t capacity = capacity_ == 0 ? 8 : capacity_ * 4;
    if (std::is_constant_evaluated()) capacity *= 8;
    if (capacity < count) capacity = count;
    move_to(capacity);
  }
  constexpr void move_to(std::size_t capacity) {
    T* const old = items;
    const std::size_t size = size_;
    const std::size_t old_capacity = capacity_;
    if constexpr (is_plain)
      items = new T[capacity];
    else
      items = std::allocator<T>{}.allocate(capacity);
    capacity_ = capacity;
    size_ = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if constexpr (is_plain)
        items[size_++] = old[i];
      else
        std::construct_at(items + size_++, static_cast<T&&>(old[i]));
      if constexpr (!std::is_trivially_destructible_v<T>) std::destroy_at(old + i);
    }
    if (old_capacity != 0) release(old, old_capacity);
  }
  static constexpr void release(T* data, std::size_t capacity) {
    if constexpr (is_plain)
      delete[] data;
    else
      std::allocator<T>{}.deallocate(data, capacity);
  }

  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The elements of a list or another array, as a reader sees them: the part of std::span that it needs, without the
/// dozen iterator concepts that std::span's constructor has the compiler check for each type.
template <class T> struct ListView {
  const T* first = nullptr; ///< the first element
  std::size_t count = 0;    ///< of the elements

  [[nodiscard]] constexpr const T* data() const { return first; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  [[nodiscard]] constexpr const T* begin() const { return first; }
  [[nodiscard]] constexpr const T* end() const { return first + count; }
  [[nodiscard]] constexpr const T& operator[](std::size_t i) const { return first[i]; }
  [[nodiscard]] constexpr const T& front() const { return first[0]; }
  [[nodiscard]] constexpr const T& back() const { return first[count - 1]; }
  /// For interfaces that take a std::span.
  [[nodiscard]] constexpr std::span<const T> span() const { return {first, count}; }
  /// A part of them.
  [[nodiscard]] constexpr ListView subspan(std::size_t offset, std::size_t size) const {
    return {first + offset, size};
  }
  /// All from an element on.
  [[nodiscard]] constexpr ListView subspan(std::size_t offset) const { return {first + offset, count - offset}; }
};

/// Copies the first records of a list or an array into an array.
template <class From, class To> constexpr void copy_records(const From& from, std::size_t count, To& to) {
  const auto* const source = from.data();
  auto* const target = to.data();
  for (std::size_t i = 0; i < count; ++i) target[i] = source[i];
}

namespace detail {
/// Whether the element numbered `left` comes before the element numbered `right`, decided with `context`.
using ComesBefore = bool (*)(const void* context, std::size_t left, std::size_t right);

/// The numbers of `count` elements in sorted order; equal elements keep their order. Merges runs of 1, 2, 4, … numbers.
[[nodiscard]] List<std::size_t> stable_order(std::size_t count, ComesBefore before, const void* context);
} // namespace detail

/// Sorts a contiguous sequence; equal elements keep their order. `before(left, right)` says whether one element comes
/// before another.
/// cost: n log n comparisons, n moves, memory for two numbers for each element    throws: std::bad_alloc
template <class Sequence, class Before> void sort_stably(Sequence& sequence, const Before& before) {
  auto* const elements = sequence.data();
  using Element = std::remove_pointer_t<decltype(sequence.data())>;
  struct Context {
    const Element* elements;
    const Before* before;
  };
  const Context context{elements, &before};
  List<std::size_t> from = detail::stable_order(
      sequence.size(),
      [](const void* known, std::size_t left, std::size_t right) -> bool {
        const auto& sorted = *static_cast<const Context*>(known);
        return (*sorted.before)(sorted.elements[left], sorted.elements[right]);
      },
      &context);
  // Each cycle of the permutation begins with one element put aside; an element in place refers to itself.
  for (std::size_t begin = 0; begin < from.size(); ++begin) {
    if (from[begin] == begin) continue;
    Element aside = std::move(elements[begin]);
    std::size_t to = begin;
    for (std::size_t next = from[to]; next != begin; next = from[to]) {
      elements[to] = std::move(elements[next]);
      from[to] = to;
      to = next;
    }
    elements[to] = std::move(aside);
    from[to] = to;
  }
}

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/core/list.ipp>
#endif
