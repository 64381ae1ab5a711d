#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// From the recipe of an operand to the tensor: with twill's own slices, transpositions and expansions, in a rank that the
// function under test wants. Operands of a lower rank get leading axes of extent 1. And back: what a function gave, as plain
// values. All of it is compiled once, in views.cpp. Read next: registry.hpp.

#include "tests/oracle/case.hpp"

#include <twill/tensor.hpp>

namespace oracle {

using twill::Cpu;
using twill::Scalar;
using twill::Tensor;

template <int Rank> using UnknownShape = twill::dynamic_shape_t<Rank>;
template <Scalar T, int Rank> using TensorOf = Tensor<T, Cpu, UnknownShape<Rank>>;

[[nodiscard]] Dims with_leading_ones(const Dims& extents, int rank);

template <Scalar T, int Rank> struct Views {
  /// throws: ValueError when the recipe does not fit the type or the rank
  [[nodiscard]] static TensorOf<T, Rank> make(const Operand& operand);

  /// The elements of a tensor in row-major order.
  [[nodiscard]] static Values values_of(const TensorOf<T, Rank>& x);
};

/// A place for a result: new memory, or every second element of it from the back.
template <Scalar T, int Rank> struct Destination {
  TensorOf<T, Rank> base{};
  TensorOf<T, Rank> target{};

  Destination(const Dims& extents, bool strided);
  /// throws: ValueError when an element outside the target changed
  [[nodiscard]] Values values() const;
};

} // namespace oracle
