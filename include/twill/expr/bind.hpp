#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Binding of an expression's leaves to the operands of its program: addresses, strides broadcast to the grid, bit
// patterns of numbers. Here an expression is stripped to pointers and extents; nothing below knows tensors. Read next:
// expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/shape.hpp>
#include <twill/expr/code.hpp>
#include <twill/expr/program.hpp>
#include <twill/kernel/program.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Room for the operands of a program. Not cleared: for a small kernel that would take as long as the kernel. Of the
/// strides, those along the grid are filled in.
template <std::size_t Count> class OperandRoom {
public:
  [[nodiscard]] kernel::Operand* data() { return reinterpret_cast<kernel::Operand*>(bytes_); }
  [[nodiscard]] const kernel::Operand* data() const { return reinterpret_cast<const kernel::Operand*>(bytes_); }

private:
  alignas(kernel::Operand) std::byte bytes_[Count * sizeof(kernel::Operand)];
};

/// Binding of leaves to operands along a grid of their expression's rank, and the extents of all leaves of that rank.
/// Fills operands piece by piece in place: a copy would wait for the pieces. Names no number of operands, so that
/// statements share its functions.
template <int Rank> class LeafBinder {
public:
  LeafBinder(kernel::Operand* operands, const Code::Leaf* leaf) : operands_{operands}, leaf_{leaf} {
    extents_.rank = Rank;
  }

  [[nodiscard]] kernel::Operand* operands() { return operands_; }
  [[nodiscard]] const kernel::Operand* operands() const { return operands_; }
  /// Whether all leaves of the rank have the same extents and the others are numbers, which is the usual case.
  [[nodiscard]] bool agree() const { return is_seen_ && agree_; }

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    bind(tensor, next(tensor.data(), 0), std::make_integer_sequence<int, Rank>{},
         std::make_integer_sequence<int, S::rank>{});
  }
  template <Scalar T> void operator()(const T& value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    kernel::Operand& operand = next(nullptr, bits);
    for (int axis = 0; axis < Rank; ++axis) operand.strides[static_cast<std::size_t>(axis)] = 0;
  }
  template <class Moves, class X> void gathered(const Moves& moves, const X&) { (*this)(moves); }

protected:
  Dims extents_{};

private:
  /// Axis by axis: loops over copied extents would take much longer to compile.
  template <class X, int... All, int... Axis>
  void bind(const X& tensor, kernel::Operand& operand, std::integer_sequence<int, All...>,
            std::integer_sequence<int, Axis...>) {
    constexpr int missing = Rank - static_cast<int>(sizeof...(Axis));
    (..., (All < missing ? static_cast<void>(operand.strides[static_cast<std::size_t>(All)] = 0) : void()));
    (..., (operand.strides[static_cast<std::size_t>(missing + Axis)] =
               tensor.template size<Axis>() == 1 ? 0 : tensor.template stride<Axis>()));
    if constexpr (missing == 0) {
      if (is_seen_)
        agree_ = (agree_ && ... && (tensor.template size<Axis>() == extents_[Axis]));
      else
        (..., (extents_[Axis] = tensor.template size<Axis>()));
      is_seen_ = true;
    } else {
      agree_ = agree_ && sizeof...(Axis) == 0;
    }
  }

  kernel::Operand& next(void* data, std::uint64_t bits) {
    kernel::Operand& operand = operands_[(leaf_++)->operand];
    operand.data = data;
    operand.bits = bits;
    return operand;
  }

  kernel::Operand* operands_;
  const Code::Leaf* leaf_;
  bool is_seen_ = false;
  bool agree_ = true;
};

/// The operands of an elementwise program that its leaves fill.
template <std::size_t Count, int Rank> class BoundLeaves : private OperandRoom<Count>, public LeafBinder<Rank> {
public:
  template <class E>
  BoundLeaves(const E& expression, const Code::Leaf* leaf) : LeafBinder<Rank>{OperandRoom<Count>::data(), leaf} {
    expression.each_leaf(static_cast<LeafBinder<Rank>&>(*this));
  }
  BoundLeaves(const BoundLeaves&) = delete;
  BoundLeaves& operator=(const BoundLeaves&) = delete;
};

/// Completes the operands of an elementwise program along a grid of these extents, whose rank may exceed the leaves':
/// numbers of the code, and the one result, whose parts a program of complex numbers stores apart.
void complete_operands(const OperandMap& map, kernel::Operand* operands, int rank, void* to, const Dims& to_strides,
                       const Dims& extents);

/// Drops dimensions of extent 1 and merges neighbours that all operands walk alike, among the dimensions first to last;
/// one of them stays when `at_least_one`.
void simplify(kernel::Grid& grid, kernel::Operand* operands, std::size_t count, int first, int last, bool at_least_one);

/// Gives a grid rows of one element where a leaf would vary along the row that its program takes for shared: an axis of
/// extent 1, at run time, was the row when the program was written, and dropping it made another axis the row.
void keep_shared(kernel::Grid& grid, kernel::Operand* operands, const OperandMap& map);

/// Binds an elementwise program to its grid, which has elements.
void bind_elementwise(const OperandMap& map, kernel::Operand* operands, int rank, kernel::Grid& grid, void* to,
                      const Dims& to_strides, const Dims& extents);

/// Visits the leaves and notes whether any touches the destination in another order than the destination itself: then a
/// kernel could read an element that it has overwritten.
class OverlapFinder {
public:
  OverlapFinder(const void* to, std::size_t element_bytes, const Dims& extents, const Dims& strides);

  template <class T, class D, class S> void operator()(const Tensor<T, D, S>& tensor) {
    const Dims extents = tensor.shape();
    const Dims strides = tensor.strides();
    touches = touches || overlaps(tensor.data(), sizeof(T), extents, strides);
    if (!hazard && touches) {
      const bool same =
          tensor.data() == to_ && sizeof(T) == element_bytes_ && extents == extents_ && strides == strides_;
      hazard = !same && overlaps(tensor.data(), sizeof(T), extents, strides);
    }
  }
  template <Scalar T> void operator()(const T&) {}
  /// A source that is read by index: anywhere, in any order.
  template <class Moves, class X> void gathered(const Moves&, const X& source) { (*this)(source); }

  static constexpr bool takes_whole_leaves = true; ///< complex tensors, not their parts

  bool touches = false; ///< some leaf shares memory with the destination
  bool hazard = false;  ///< and walks it in another way

private:
  [[nodiscard]] bool overlaps(const void* from, std::size_t bytes, const Dims& extents, const Dims& strides) const;

  const void* to_;
  std::size_t element_bytes_;
  const Dims& extents_;
  const Dims& strides_;
  layout::Span span_;
};

}}}} // namespace twill::v0::expr::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/bind.ipp>
#endif
