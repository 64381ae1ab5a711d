#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The greatest norm of an embedding's rows, torch's `max_norm`. PyTorch shortens rows inside forward, in the weight
// itself; a planned step does not write weights before its update, so that this is a function of a network, called
// after a step. Not in twill.hpp. Read next: nn/embedding.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/expr/evaluate.hpp>
#include <twill/expr/norms.hpp>
#include <twill/expr/operators.hpp>
#include <twill/nn/network.hpp>

#include <string>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a greatest norm, with PyTorch's defaults.
struct MaxNormOptions {
  double max_norm = 1;  ///< of each row
  double norm_type = 2; ///< the p of the norm, finite and not 0
};

/// Shortens the rows of a weight whose norm is greater, to the greatest norm: `renormalise_rows<"words.weight">(model)`
/// after each step. Rows are those of axis 0, all of them, where PyTorch shortens those that `forward` looks up; a row
/// that is looked up has the same elements as there, as long as nothing but its gradient changes it.
/// throws: ValueError for a norm that is not positive
template <FixedString Name, class Network> void renormalise_rows(Network& network, MaxNormOptions options = {}) {
  if (!(options.max_norm > 0))
    throw ValueError("renormalise_rows: max_norm must be positive, got " + std::to_string(options.max_norm));
  auto weight = network.template parameter<Name>();
  static_assert(decltype(weight)::rank == 2, "twill: renormalise_rows: takes a weight of rows and columns");
  const Tensor length = norm<1>(weight, keepdims, options.norm_type);
  // w' = w max_norm / (|w| + 1e-7) where |w| > max_norm
  weight *= where(length > options.max_norm, options.max_norm / (length + 1e-7), 1);
  network.state()->note_update();
}

}}}} // namespace twill::v0::nn::TWILL_ISA
