#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Products of labelled factors, computed at run time step by step. A step with inner labels is a stack of matrix
// products whose operands are the factors as stored, transposed or merged where strides allow, copied where they do
// not; a step without inner labels is an elementwise product. One instance for each element type and kind of device,
// for all patterns. Read next: expr/product.hpp.

#include <twill/core/config.hpp>
#include <twill/expr/bind.hpp>
#include <twill/expr/contraction_order.hpp>
#include <twill/expr/label_walk.hpp>
#include <twill/expr/pattern.hpp>
#include <twill/kernel/launch.hpp>
#include <twill/kernel/launch_watch.hpp>
#include <twill/kernel/product_stack.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/copy.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

/// Elements by label.
template <class T> struct Factor {
  T* data = nullptr;
  LabelSet labels = 0;
  LabelStrides strides{};
};

/// A program of a statement as data: its kernel as one type, and its lines.
struct StatementProgram {
  void (*run)(const kernel::AnyTeam& team, const kernel::Grid& grid, const kernel::Operand* operands) = nullptr;
  const kernel::Line* lines = nullptr;
  int line_count = 0;
};

/// Work that follows the rows of a product, before it is bound to the way in which the product is computed.
struct Epilogue {
  const StatementProgram* program = nullptr;
  int count = 0;
  bool is_one_dimension = false;
  std::array<kernel::FollowingOperand, kernel::max_following_operands> operands{};
};

/// The kinds of work that a pattern can need; others are not compiled.
struct PatternNeeds {
  bool sums = false;        ///< a label of one factor alone is summed over
  bool products = false;    ///< two factors with inner labels
  bool elementwise = false; ///< two factors without
};

[[nodiscard]] constexpr PatternNeeds needs_of(const Pattern& pattern) {
  if (pattern.count > 2) return {true, true, true};
  const LabelSet left = pattern[0].set();
  const LabelSet result = pattern.result.set();
  if (pattern.count == 1) return {(left & ~result) != 0, false, false};
  const LabelSet right = pattern[1].set();
  const bool has_inner = ProductLabels{left, right, result}.inner != 0;
  return {((left ^ right) & ~result) != 0, has_inner, !has_inner};
}

/// The memory of intermediate results, given back in stream order when the statement ends.
template <class D> struct Temporaries {
  const D& device;
  std::vector<memory::Buffer<D>> buffers{};

  void* take(std::size_t bytes) { return buffers.emplace_back(device, bytes).data(); }
};

template <Scalar T, class D> class Contraction {
public:
  Contraction(const D& device, const LabelExtents& extents) : device_{device}, extents_{extents}, memory_{device} {}

  /// to[labels] = the one factor, summed over the labels that `to` lacks.
  template <PatternNeeds Needs> void single(const Factor<T>& from, const Factor<T>& to) {
    if constexpr (Needs.sums) {
      if ((from.labels & ~to.labels) != 0) return sum(from, to);
    }
    copy(from, to, sorted(to.labels, to.strides, extents_));
  }

  /// to[labels] = left * right, summed over the labels that `to` lacks.
  template <PatternNeeds Needs>
  void pair(Factor<T> left, Factor<T> right, const Factor<T>& to, const Epilogue* epilogue = nullptr) {
    if constexpr (Needs.sums) {
      left = without(left, left.labels & ~(right.labels | to.labels));
      right = without(right, right.labels & ~(left.labels | to.labels));
    }
    const ProductLabels labels{left.labels, right.labels, to.labels};
    if constexpr (Needs.elementwise) {
      if (labels.inner == 0) return multiply(left, right, to);
    }
    if constexpr (Needs.products) matrix_product(left, right, to, labels, epilogue);
  }

  /// A factor for an intermediate result, with the labels in this order of strides.
  [[nodiscard]] Factor<T> temporary(LabelSet labels, const LabelStrides& like) {
    return temporary(sorted(labels, like, extents_), labels);
  }

private:
  [[nodiscard]] Factor<T> temporary(const LabelList& order, LabelSet labels) {
    std::int64_t elements = 1;
    for (int place = 0; place < order.count; ++place) elements *= extents_[order[place]];
    return {static_cast<T*>(memory_.take(static_cast<std::size_t>(elements) * sizeof(T))), labels,
            packed_strides(order, extents_)};
  }

  void copy(const Factor<T>& from, const Factor<T>& to, const LabelList& order) {
    if (order.count > max_rank) too_many_axes(order.count);
    detail::copy_elements(device_, to.data, order.strides_of(to.strides), static_cast<const T*>(from.data),
                          order.strides_of(from.strides), order.extents_of(extents_));
  }

  [[noreturn]] static void too_many_axes(int axes) {
    throw ValueError("einsum: an intermediate result has " + std::to_string(axes) + " axes and a tensor at most " +
                     std::to_string(max_rank) + "; multiply fewer operands in one pattern");
  }

  /// The factor summed over some of its labels.
  [[nodiscard]] Factor<T> without(const Factor<T>& from, LabelSet dropped) {
    if (dropped == 0) return from;
    const Factor<T> to = temporary(from.labels & ~dropped, from.strides);
    sum(from, to);
    return to;
  }

  /// The real (0) or imaginary (1) parts of complex elements.
  [[nodiscard]] static Factor<real_t<T>> part_of(const Factor<T>& factor, int part) {
    Factor<real_t<T>> result{reinterpret_cast<real_t<T>*>(factor.data) + part, factor.labels, factor.strides};
    for (std::int64_t& stride : result.strides) stride *= 2;
    return result;
  }

  void sum(const Factor<T>& from, const Factor<T>& to) {
    if constexpr (ComplexScalar<T>) {
      Contraction<real_t<T>, D> parts{device_, extents_};
      for (int part = 0; part < 2; ++part)
        parts.template single<PatternNeeds{.sums = true}>(part_of(from, part), part_of(to, part));
    } else {
      sum_numbers(from, to);
    }
  }
  void sum_numbers(Factor<T> from, const Factor<T>& to) {
    using kernel::Access;
    const LabelSet dropped = from.labels & ~to.labels;
    const LabelList kept = sorted(to.labels, to.strides, extents_);
    LabelList summed = sorted(dropped, from.strides, extents_);
    Walk walk = walk_of(summed, from.strides, extents_);
    if (!walk.is_one) {
      LabelList order = kept;
      order.append(summed);
      const Factor<T> gathered = temporary(order, from.labels);
      copy(from, gathered, order);
      from = gathered;
      walk = walk_of(summed, from.strides, extents_);
    }
    const bool down_columns =
        kept.count > 0 && at(from.strides, kept[kept.count - 1]) == 1 && at(to.strides, kept[kept.count - 1]) == 1;
    // down columns the sums come first in the grid, else last
    kernel::Grid grid = kept.extents_of(extents_);
    std::array operands{detail::memory_operand(from.data, kept.strides_of(from.strides)),
                        detail::memory_operand(to.data, kept.strides_of(to.strides))};
    const int place = down_columns ? 0 : grid.rank;
    for (int axis = grid.rank; axis > place; --axis) {
      grid[axis] = grid[axis - 1];
      for (auto& operand : operands)
        operand.strides[static_cast<std::size_t>(axis)] = operand.strides[static_cast<std::size_t>(axis - 1)];
    }
    ++grid.rank;
    grid[place] = walk.extent;
    operands[0].strides[static_cast<std::size_t>(place)] = walk.extent == 1 ? 0 : walk.stride;
    operands[1].strides[static_cast<std::size_t>(place)] = 0;
    if (kept.extents_of(extents_).elements() == 0) return;
    if (down_columns) {
      simplify(grid, operands.data(), 2, 1, grid.rank - 1, true);
      kernel::launch(kernel::Program<kernel::In<T, Access::contiguous>,
                                     kernel::ReduceColumns<kernel::Reduction::sum, 0>, kernel::Out<T, 1>>{},
                     device_, grid, operands.data());
    } else {
      simplify(grid, operands.data(), 2, 0, grid.rank - 2, false);
      if (operands[0].strides[static_cast<std::size_t>(grid.rank - 1)] == 1)
        kernel::launch(kernel::Program<kernel::In<T, Access::contiguous>, kernel::Reduce<kernel::Reduction::sum, 0>,
                                       kernel::Out<T, 1>>{},
                       device_, grid, operands.data());
      else
        kernel::launch(kernel::Program<kernel::In<T, Access::strided>, kernel::Reduce<kernel::Reduction::sum, 0>,
                                       kernel::Out<T, 1>>{},
                       device_, grid, operands.data());
    }
  }

  void multiply(const Factor<T>& left, const Factor<T>& right, const Factor<T>& to) {
    if constexpr (ComplexScalar<T>)
      multiply_complex(left, right, to);
    else
      multiply_numbers(left, right, to);
  }
  void multiply_numbers(const Factor<T>& left, const Factor<T>& right, const Factor<T>& to) {
    using kernel::Access;
    using kernel::In;
    using kernel::Out;
    using kernel::Step;
    constexpr auto times = kernel::Primitive::multiply;
    const LabelList order = sorted(to.labels, to.strides, extents_);
    if (order.count > max_rank) too_many_axes(order.count);
    kernel::Grid grid = order.extents_of(extents_);
    if (grid.elements() == 0) return;
    std::array operands{detail::memory_operand(left.data, order.strides_of(left.strides)),
                        detail::memory_operand(right.data, order.strides_of(right.strides)),
                        detail::memory_operand(to.data, order.strides_of(to.strides))};
    simplify(grid, operands.data(), 3, 0, grid.rank - 1, true);
    const auto last = static_cast<std::size_t>(grid.rank - 1);
    if (operands[0].strides[last] == 0) std::swap(operands[0], operands[1]);
    const std::int64_t first = operands[0].strides[last];
    const std::int64_t second = operands[1].strides[last];
    if (first == 1 && second == 1)
      kernel::launch(
          kernel::Program<In<T, Access::contiguous>, In<T, Access::contiguous>, Step<times, 0, 1>, Out<T, 2>>{},
          device_, grid, operands.data());
    else if (first == 1 && second == 0)
      kernel::launch(kernel::Program<In<T, Access::contiguous>, In<T, Access::uniform>, Step<times, 0, 1>, Out<T, 2>>{},
                     device_, grid, operands.data());
    else
      kernel::launch(kernel::Program<In<T, Access::strided>, In<T, Access::strided>, Step<times, 0, 1>, Out<T, 2>>{},
                     device_, grid, operands.data());
  }

  /// (ac - bd) + (ad + bc)i of a + bi and c + di
  void multiply_complex(const Factor<T>& left, const Factor<T>& right, const Factor<T>& to) {
    using enum kernel::Primitive;
    using kernel::Step;
    using In = kernel::In<real_t<T>, kernel::Access::strided>;
    const LabelList order = sorted(to.labels, to.strides, extents_);
    if (order.count > max_rank) too_many_axes(order.count);
    kernel::Grid grid = order.extents_of(extents_);
    if (grid.elements() == 0) return;
    const auto operand = [&](const Factor<T>& factor, int part) {
      const Factor<real_t<T>> own = part_of(factor, part);
      return detail::memory_operand(own.data, order.strides_of(own.strides));
    };
    std::array operands{operand(left, 0),  operand(left, 1), operand(right, 0),
                        operand(right, 1), operand(to, 0),   operand(to, 1)};
    simplify(grid, operands.data(), 6, 0, grid.rank - 1, true);
    kernel::launch(kernel::Program<In, In, In, In, Step<kernel::Primitive::multiply, 0, 2>,
                                   Step<kernel::Primitive::multiply, 1, 3>, Step<subtract, 4, 5>,
                                   Step<kernel::Primitive::multiply, 0, 3>, Step<kernel::Primitive::multiply, 1, 2>,
                                   Step<add, 7, 8>, kernel::Out<real_t<T>, 6>, kernel::Out<real_t<T>, 9>>{},
                   device_, grid, operands.data());
  }

  /// The factor as a matrix of these rows and columns for every index of the batch.
  [[nodiscard]] Factor<T> as_matrix(const Factor<T>& from, const LabelList& batch, const LabelList& rows,
                                    const LabelList& columns) {
    if (is_matrix(walk_of(rows, from.strides, extents_), walk_of(columns, from.strides, extents_))) return from;
    LabelList order{};
    for (int place = 0; place < batch.count; ++place)
      if (at(from.strides, batch[place]) != 0) order.append(batch[place]); // repeated elements are copied once
    order.append(rows);
    order.append(columns);
    const Factor<T> copied = temporary(order, from.labels);
    copy(from, copied, order);
    return copied;
  }

  void matrix_product(Factor<T> left, Factor<T> right, const Factor<T>& to, ProductLabels labels,
                      const Epilogue* epilogue) {
    LabelList batch = sorted(labels.batch, to.strides, extents_);
    LabelList rows = innermost_walk(sorted(labels.rows, to.strides, extents_), to.strides, extents_, batch);
    LabelList columns = innermost_walk(sorted(labels.columns, to.strides, extents_), to.strides, extents_, batch);
    if (!is_row_major(walk_of(rows, to.strides, extents_), walk_of(columns, to.strides, extents_))) {
      if (!is_row_major(walk_of(columns, to.strides, extents_), walk_of(rows, to.strides, extents_))) {
        LabelList order = sorted(labels.batch, to.strides, extents_); // in no order that a product writes
        order.append(sorted(labels.rows, to.strides, extents_));
        order.append(sorted(labels.columns, to.strides, extents_));
        const Factor<T> computed = temporary(order, to.labels);
        matrix_product(left, right, computed, labels, nullptr);
        return copy(computed, to, sorted(to.labels, to.strides, extents_));
      }
      std::swap(left, right);
      std::swap(rows, columns);
    }
    LabelList inner = sorted(labels.inner, left.strides, extents_);
    if (!walk_of(inner, right.strides, extents_).is_one) {
      const LabelList other = sorted(labels.inner, right.strides, extents_);
      if (walk_of(other, right.strides, extents_).is_one && walk_of(other, left.strides, extents_).is_one)
        inner = other;
    }
    left = as_matrix(left, batch, rows, inner);
    right = as_matrix(right, batch, inner, columns);

    const Walk m = walk_of(rows, left.strides, extents_);
    const Walk n = walk_of(columns, right.strides, extents_);
    const Walk k = walk_of(inner, left.strides, extents_);
    kernel::ProductStack<T> stack{.batch = batch.extents_of(extents_), .m = m.extent, .n = n.extent, .k = k.extent};
    stack.a = {left.data, m.stride, k.stride, {}};
    stack.b = {right.data, walk_of(inner, right.strides, extents_).stride, n.stride, {}};
    stack.c = to.data;
    stack.c_row_stride = rows.count == 0 ? n.extent : walk_of(rows, to.strides, extents_).stride;
    for (int axis = 0; axis < batch.count; ++axis) {
      const auto place = static_cast<std::size_t>(axis);
      stack.a.batch[place] = at(left.strides, batch[axis]);
      stack.b.batch[place] = at(right.strides, batch[axis]);
      stack.c_batch[place] = at(to.strides, batch[axis]);
    }
    if constexpr (!D::has_memory) {
      if (kernel::launch_records != nullptr) kernel::record_products(stack, following_of(epilogue));
    }
    if (kernel::is_watched(device_)) [[unlikely]]
      return launch_watched(stack, epilogue);
    if constexpr (!HostDevice<D>) // there the whole stack is one call, and the epilogue is a launch of its own
      launch(device_, [&stack](const team_t<D>& team) { run_products(team, stack); });
    else if (epilogue == nullptr)
      launch(device_, [stack](const auto& team) { kernel::run_products(kernel::AnyTeam{team}, stack, {}); });
    else
      launch(device_, [stack, following = *epilogue](const auto& team) {
        kernel::run_products(kernel::AnyTeam{team}, stack, following_of(&following));
      });
  }

  TWILL_COLD void launch_watched(const kernel::ProductStack<T>& stack, const Epilogue* epilogue) {
    kernel::WatchedLaunch what{};
    if (epilogue != nullptr) {
      what.lines = epilogue->program->lines;
      what.line_count = epilogue->program->line_count;
    }
    const kernel::Following following = following_of(epilogue);
    kernel::launch_watched(device_, stack, following, what, [&](const team_t<D>& team) {
      if constexpr (HostDevice<D>)
        kernel::run_products(kernel::AnyTeam{team}, stack, following);
      else
        run_products(team, stack);
    });
  }

  [[nodiscard]] static kernel::Following following_of(const Epilogue* epilogue) {
    if (epilogue == nullptr) return {};
    return {epilogue->program->run, epilogue->operands.data(), epilogue->count, epilogue->is_one_dimension};
  }

  const D& device_;
  const LabelExtents& extents_;
  Temporaries<D> memory_;
};

/// Computes a pattern of any number of factors into memory that none of them touches.
template <PatternNeeds Needs, Scalar T, class D>
[[gnu::noinline]] void contract(const D& device, const Pattern& pattern, const LabelExtents& extents,
                                const ContractionOrder& order, Factor<T>* factors, const Factor<T>& to,
                                const Epilogue* epilogue) {
  Contraction<T, D> contraction{device, extents};
  if (pattern.count == 1) return contraction.template single<Needs>(factors[0], to);
  for (int step = 0; step < order.count; ++step) {
    const ContractionStep pair = order.steps[static_cast<std::size_t>(step)];
    const Factor<T> left = factors[pair.left];
    const Factor<T> right = factors[pair.right];
    if (step + 1 == order.count) return contraction.template pair<Needs>(left, right, to, epilogue);
    // the labels that later steps or the result need, in the order of the final result as far as it has them
    factors[pair.left].labels = factors[pair.right].labels = 0;
    LabelSet needed = to.labels;
    for (int factor = 0; factor < pattern.count + step; ++factor) needed |= factors[factor].labels;
    const LabelSet labels = (left.labels | right.labels) & needed;
    const ProductLabels groups{left.labels, right.labels, labels};
    LabelStrides wanted{};
    for (int label = 0; label < pattern.labels; ++label) {
      const auto place = static_cast<std::size_t>(label);
      const int group = (groups.batch >> label & 1U) != 0 ? 2 : (groups.rows >> label & 1U) != 0 ? 1 : 0;
      wanted[place] = (std::int64_t{group} << 56) + left.strides[place] + right.strides[place];
    }
    const Factor<T> product = contraction.temporary(labels, wanted);
    contraction.template pair<Needs>(left, right, product);
    factors[pattern.count + step] = product;
  }
}

}}}} // namespace twill::v0::expr::TWILL_ISA
