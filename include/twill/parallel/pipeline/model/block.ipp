#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/model/block.hpp.

#include <twill/parallel/pipeline/model/block.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY void SumOverReplicas::operator()(const parallel::Call& call) const {
  replicas_->run({kernel::Collective::all_reduce, kernel::Reduction::sum, call.source.dtype, call.source.data,
                  call.source.count, call.target.data, call.target.count});
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
