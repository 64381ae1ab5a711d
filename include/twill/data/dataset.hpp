#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Data sets: a size, and a function that writes one sample into given memory: `read(index, image, label)` gets one span
// for each field. So batches are written in place, row after row, without a copy of a sample in between. The list
// `Fields` has the parts of a sample as types, so a loader's batches have shapes that the compiler knows.
// `generated_dataset` makes a data set from any function that returns arrays. Read next: data/tensor_dataset.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 { namespace data {

inline namespace TWILL_ISA {

/// One part of a sample: the element type and the shape of one row. Extents may be `dyn` where only the data know them.
template <Scalar T, AnyShape Row = Shape<>> struct Field {
  using value_type = T;
  using row_shape = Row;
};

/// The parts of a sample, in order.
template <class... F> struct Fields {
  static constexpr int count = static_cast<int>(sizeof...(F)); ///< how many there are
};

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

template <class D, class F> inline constexpr bool reads_fields = false;
template <class D, class... F>
inline constexpr bool reads_fields<D, Fields<F...>> = requires(const D& dataset, std::int64_t index,
                                                               std::span<typename F::value_type>... parts) {
  dataset.read(index, parts...);
};

/// Whether samples differ from epoch to epoch: read_in_epoch(epoch, index, parts...) beside `read`, which gives those
/// of epoch 0.
template <class D, class F> inline constexpr bool reads_in_epochs = false;
template <class D, class... F>
inline constexpr bool reads_in_epochs<D, Fields<F...>> = requires(const D& dataset, std::int64_t number,
                                                                  std::span<typename F::value_type>... parts) {
  dataset.read_in_epoch(number, number, parts...);
};

template <class F> inline constexpr bool has_static_rows = false;
template <class... F> inline constexpr bool has_static_rows<Fields<F...>> = (F::row_shape::is_static && ...);

template <class F> struct RowDims;
template <class... F> struct RowDims<Fields<F...>> {
  static constexpr std::array<Dims, sizeof...(F)> of_types() { return {F::row_shape::dims()...}; }
};

/// The field of a value in a sample: a scalar, or (nested) arrays of one.
template <class T> struct FieldOf { using type = Field<T>; };
template <std::int64_t First, class F> struct PrependExtent;
template <std::int64_t First, class T, std::int64_t... Rest> struct PrependExtent<First, Field<T, Shape<Rest...>>> {
  using type = Field<T, Shape<First, Rest...>>;
};
template <class T, std::size_t N> struct FieldOf<std::array<T, N>> {
  using type = typename PrependExtent<static_cast<std::int64_t>(N), typename FieldOf<T>::type>::type;
};

template <class Sample> struct FieldsOf;
template <class... Parts> struct FieldsOf<std::tuple<Parts...>> {
  using type = Fields<typename FieldOf<Parts>::type...>;
};
template <class First, class Second> struct FieldsOf<std::pair<First, Second>> : FieldsOf<std::tuple<First, Second>> {};

template <Scalar T> T* flatten(const T& value, T* destination) {
  *destination = value;
  return destination + 1;
}
template <class T, std::size_t N, class Element>
Element* flatten(const std::array<T, N>& values, Element* destination) {
  for (const T& value : values) destination = flatten(value, destination);
  return destination;
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// Samples that can be read by index. `read` is const and is called from several threads at once; it writes every
/// element of its spans. With a `dyn` extent in a row, `row_dims()` gives the extents of each field's rows. Where
/// samples differ from epoch to epoch, `read_in_epoch(epoch, index, ...)` reads those of an epoch and `read` those of
/// the first.
template <class D>
concept Dataset = requires(const D& dataset) {
  typename D::Fields;
  { dataset.size() } -> std::convertible_to<std::int64_t>;
}
&&detail::reads_fields<D, typename D::Fields> &&
    (detail::has_static_rows<typename D::Fields> || requires(const D& dataset) {
      { dataset.row_dims() } -> std::convertible_to<std::array<Dims, static_cast<std::size_t>(D::Fields::count)>>;
    });

/// The extents of one row of each field.
template <Dataset D> [[nodiscard]] auto row_dims(const D& dataset) {
  if constexpr (requires { dataset.row_dims(); }) {
    return dataset.row_dims();
  } else {
    return detail::RowDims<typename D::Fields>::of_types();
  }
}

/// A data set whose samples a function computes: `f(index)` returns a tuple of scalars and (nested) `std::array`s.
template <class F> class GeneratedDataset {
public:
  /// The parts of a sample, as the function returns them.
  using Fields = typename detail::FieldsOf<std::invoke_result_t<const F&, std::int64_t>>::type;

  /// Samples function(0) to function(size - 1). throws: ValueError for a negative size
  GeneratedDataset(std::int64_t size, F function) : size_{size}, function_{std::move(function)} {
    if (size < 0) throw ValueError("generated_dataset: size is at least 0, got " + std::to_string(size));
  }
  /// How many samples there are.
  [[nodiscard]] std::int64_t size() const { return size_; }

  /// Calls the function and writes its values. Safe to call from several threads where the function is.
  template <class... T> void read(std::int64_t index, std::span<T>... parts) const {
    const auto sample = function_(index);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto destinations = std::tie(parts...);
      (detail::flatten(std::get<I>(sample), std::get<I>(destinations).data()), ...);
    }
    (std::index_sequence_for<T...>{});
  }

private:
  std::int64_t size_;
  F function_;
};

/// Makes a data set of `size` samples from a function of the index, which has to be safe to call from several threads.
template <class F> [[nodiscard]] auto generated_dataset(std::int64_t size, F function) {
  return GeneratedDataset<F>(size, std::move(function));
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::data
