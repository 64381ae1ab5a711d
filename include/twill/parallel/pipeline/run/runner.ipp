#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/pipeline/run/runner.hpp.

#include <twill/core/text.hpp>
#include <twill/core/type_name.hpp>
#include <twill/parallel/pipeline/run/runner.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

TWILL_BODY std::vector<parallel::Rows> micro_batches_of(std::int64_t rows, int micro_batches) {
  auto pieces = parallel::chunk_rows(rows, micro_batches);
  if (pieces.size() != static_cast<std::size_t>(micro_batches))
    throw ValueError("train_step: " + std::to_string(rows) + " rows make " + std::to_string(pieces.size()) +
                     " micro-batches, not " + std::to_string(micro_batches));
  return pieces;
}

TWILL_BODY Dims shape_in_message(const Dims& traced, bool is_channels_last) {
  Dims shape = traced;
  for (int axis = 1; axis < shape.rank && is_channels_last; ++axis)
    shape[axis] = traced[axis + 1 < shape.rank ? axis + 1 : 1];
  return shape;
}

TWILL_COLD TWILL_BODY void refuse_border(const BorderSide& made, const BorderSide& taken) {
  const auto name = [](const BorderSide& side) {
    const std::string model = side.model != nullptr ? readable_name(side.model) : std::string{};
    return join_text({"stage ", side.stage, model.empty() ? model : " (" + model + ")"});
  };
  throw ShapeError(join_text({"pipeline: ", name(made), " makes ", to_string(made.shape), " of a micro-batch, ",
                              name(taken), " takes ", to_string(taken.shape)}));
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA
