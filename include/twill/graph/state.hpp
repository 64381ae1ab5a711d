#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Scalar state of a graph under trace: open scopes, loops and parts, merged symbols, and the settings of the trace
// (element type, autocast, training). `Graph` adds the lists of nodes and names to it. Read next: graph/graph.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/graph/fault.hpp>
#include <twill/graph/parameter.hpp>
#include <twill/graph/slots.hpp>

#include <cstdint>
#include <string_view>

namespace twill { inline namespace v0 { namespace graph {

/// A symbol that is replaced by another one or by a number.
struct MergedSymbol {
  int from = 0;           ///< the symbol
  int to = -1;            ///< the other one; -1 for a number
  std::int64_t value = 0; ///< the number
};

/// The members of a graph besides its lists.
class GraphState {
public:
  int open_region = 0;             ///< the number of the part that is being traced, 0 outside
  int regions_named = 0;           ///< how many numbers of parts are in use
  Fault fault{};                   ///< the first one, if any
  DType element = DType::float32;  ///< what a model's `Input` and parameters hold unless they say otherwise
  int input_slot = 0;              ///< of inputs, unless they name another, see graph/slots.hpp
  int open_loop = -1;              ///< the loop whose body is being traced
  int draws = 0;                   ///< how many random tensors have been traced
  SplitInfo split{};               ///< of what is being traced, see graph/ranks.hpp
  DType autocast = DType::float32; ///< of matrix products and convolutions of float32, see nn/autocast.hpp
  bool suits_gpus = false;         ///< operations are those of GPUs' libraries, see nn/device_trace.hpp
  std::string_view loss{};         ///< the loss that is being traced, for messages
  bool training = true;            ///< whether dropout drops and batch norms learn
  bool may_fix_symbols = false;    ///< a named extent that meets a number becomes that number, see `unify`

protected:
  Few<std::uint64_t, 64> names_{}; ///< a bit for each name of a parameter, which others may share
  Name path_{};                    ///< of the open scopes
  int scope_ = 0;                  ///< of the next node
  Placement slots_{};              ///< of all nodes
  std::uint64_t replaced_ = 0;     ///< the powers of symbols that were replaced, in the bits of `Extent::symbols`
};

}}} // namespace twill::v0::graph
