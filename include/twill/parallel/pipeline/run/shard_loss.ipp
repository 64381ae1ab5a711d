#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/shard_loss.hpp.

#include <twill/compile/passes/channels_last.hpp>
#include <twill/compile/passes/simplify.hpp>
#include <twill/core/error.hpp>
#include <twill/parallel/pipeline/run/shard_loss.hpp>

#include <cstddef>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY void require_gradient_as_computed(graph::Graph loss) {
  compile::simplify(loss);
  if (compile::carried_channels_last(loss)[static_cast<std::size_t>(loss.outputs[1])] == 0)
    throw ValueError("Reproducible: the result of the pipeline is an image of a convolution, which one device keeps "
                     "channels-last, and the loss computes its gradient in another order, which the last stage would "
                     "add up otherwise; give it a loss of single elements, or let the model end in rows");
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
