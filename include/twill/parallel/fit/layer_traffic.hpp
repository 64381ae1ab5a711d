#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Traffic of divided layers: the calls that a planned program makes among the ranks along the axes of its layers, such
// as the sum after a row-parallel product, carried out on communicators that only count. Not in twill.hpp. Read next:
// nn/tensor_parallel.hpp, parallel/fit/estimate.hpp.

#include <twill/core/config.hpp>
#include <twill/graph/graph.hpp>
#include <twill/parallel/fit/planned.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>

#include <cstdint>

namespace twill { inline namespace v0 { namespace parallel { namespace fit { inline namespace TWILL_ISA {

/// What one rank sends to those that divide layers with it, in one run of a program.
struct LayerTraffic {
  std::int64_t sent_bytes = 0; ///< of the first rank along each axis
  double seconds = 0;          ///< around rings, one call after another
};

/// The traffic of a program for these numbers of its symbols.
[[nodiscard]] LayerTraffic layer_traffic(const PlannedProgram& program, const graph::SymbolValues& symbols,
                                         const pipeline::Link& link);

/// The number of ranks that divide the layers of a program: the product of its axes; 1 where none is divided.
[[nodiscard]] int layer_ranks(const PlannedProgram& program);

}}}}} // namespace twill::v0::parallel::fit::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/layer_traffic.ipp>
#endif
