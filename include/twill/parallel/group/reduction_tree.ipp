#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/reduction_tree.hpp.

#include <twill/parallel/group/reduction_tree.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY void reduce_tree(DType dtype, Reduction reduction, std::span<const void* const> sources,
                            std::span<void* const> targets, std::int64_t begin, std::int64_t end) {
  with_model_scalar(dtype, [&]<class T>() {
    switch (reduction) {
    case Reduction::sum:
      return reduce_tree<Reduction::sum, T>(sources, targets, begin, end);
    case Reduction::product:
      return reduce_tree<Reduction::product, T>(sources, targets, begin, end);
    case Reduction::max:
      return reduce_tree<Reduction::max, T>(sources, targets, begin, end);
    case Reduction::min:
      return reduce_tree<Reduction::min, T>(sources, targets, begin, end);
    case Reduction::any:
      return reduce_tree<Reduction::any, T>(sources, targets, begin, end);
    case Reduction::all:
      return reduce_tree<Reduction::all, T>(sources, targets, begin, end);
    case Reduction::mean:
      if constexpr (FloatingScalar<T>) return reduce_tree<Reduction::mean, T>(sources, targets, begin, end);
      throw ValueError("reduce_tree: a mean is one of floating-point elements"); // `check` has refused the call
    }
  });
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
