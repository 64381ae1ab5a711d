#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification of targets that are stored one after the other, the form of torch's CTCLoss
// with targets of one axis. Not in twill.hpp. Read next: nn/losses/ctc.hpp, ops/padded_rows.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/ctc.hpp>
#include <twill/ops/padded_rows.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of connectionist temporal classification of concatenated targets.
struct ConcatenatedCtcOptions {
  std::int64_t longest = 0;     ///< no target has more labels, the fewer the cheaper; 0: as many as there are steps
  std::int64_t blank = 0;       ///< the class between labels
  Reduce reduce = Reduce::mean; ///< mean of losses divided by lengths of targets, sum or none
  bool zero_infinity = false;   ///< whether targets that no alignment fits have a loss of 0 instead of infinity
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

struct ConcatenatedCtcFormula {
  [[nodiscard]] TWILL_CONSTEXPR graph::Value operator()(graph::Value log_probabilities, graph::Value targets,
                                                        graph::Value input_lengths, graph::Value target_lengths,
                                                        ConcatenatedCtcOptions options = {}) const {
    using graph::Problem;
    const graph::Value x = log_probabilities;
    std::int64_t longest = options.longest;
    {
      const Naming naming{x, "concatenated_ctc_loss"};
      graph::Graph& graph = x.graph();
      if (x.rank() != 3) graph.refuse(Problem::recurrent_layer_needs_steps_rows_and_features, x.rank(), 3, {});
      if (targets.rank() != 1) graph.refuse(Problem::index_has_another_rank, targets.rank(), 1, {});
      if (graph.fault.any()) return x;
      if (longest <= 0) longest = x.size(0);
      if (graph.fault.any()) return x;
      targets = graph::padded_rows(targets, target_lengths, longest, static_cast<double>(options.blank));
      if (graph.fault.any()) return x;
    }
    return CtcFormula{}(x, targets, input_lengths, target_lengths,
                        {.blank = options.blank, .reduce = options.reduce, .zero_infinity = options.zero_infinity});
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// `ctc_loss` of targets one after the other. log_probabilities: (steps, rows, classes); targets: (labels) integers,
/// the labels of all rows; lengths of inputs and targets: (rows) integers. Labels beyond the sum of the lengths are
/// not read.
/// throws: IndexError in a run, for lengths beyond steps or `longest`
inline constexpr Loss<detail::ConcatenatedCtcFormula> concatenated_ctc_loss{};

}}}} // namespace twill::v0::nn::TWILL_ISA
