#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/schedule/action.hpp.

#include <twill/parallel/pipeline/schedule/action.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline {

TWILL_BODY std::string to_string(const Action& action) {
  return std::to_string(action.stage) + std::string{letters(action.work)} + std::to_string(action.micro_batch);
}

}}}} // namespace twill::v0::parallel::pipeline
