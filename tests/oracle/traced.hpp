#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Functions of traced values in the table: of linear algebra, sparse matrices, losses and layers. Each is traced on a case's
// operands when the case is met, then fused, planned and interpreted as in quick builds, so that neither shapes nor element
// types are instantiations and a function costs one lambda. Steps of views become operations of the graph. Operands after the
// inputs are the values of the weights that the function declares, in their order. Read next: linalg.cpp, traced.cpp.

#include "tests/oracle/registry.hpp"

#include <twill/graph/value.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oracle {

using twill::graph::Value;
using TracedValues = std::vector<Value>;
using Numbers64 = std::vector<double>;
/// The results of a function of inputs and the case's numbers.
using TracedFunction = TracedValues (*)(std::span<const Value> x, const Numbers64& numbers);

/// What the function makes of a case: its results, then buffers after the run.
/// throws: ValueError for a graph that is refused and for weights of other shapes than those that are declared
[[nodiscard]] std::vector<Values> run_traced(TracedFunction function, const Case& test);

/// The sum of a result, each element times another number, as a gradient needs it: for element i ((37 i + 11) mod 64 - 31.5) / 32,
/// which float32 can hold.
[[nodiscard]] Value weighed_sum(Value y);
/// A result, and the gradients of its weighed sum by some values.
[[nodiscard]] TracedValues with_gradients(Value y, std::span<const Value> by);

template <class F> std::vector<Values> run_model(const Case& test) {
  return run_traced([](std::span<const Value> x, const Numbers64& numbers) { return F{}(x, numbers); }, test);
}

/// The element types that `T` is.
enum class Kinds : std::uint8_t { wide, floating };

/// A function of operands whose types are spelled: `T` is float32, then float64, of the kind `floating` float16 and bfloat16 as
/// well; `F` is T, but float32 of 16 bits, as norms have their weights; `i` int64, `b` bool.
template <Kinds K = Kinds::wide, class F>
void traced(Registry& to, const std::string& name, std::string_view operands, F) {
  for (const DType kind : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (K == Kinds::wide && twill::size_of(kind) == 2) continue;
    Entry entry{.name = name, .tolerance = zeros_equal, .run = run_model<F>};
    for (const char letter : operands)
      entry.operands.push_back(letter == 'T'   ? kind
                               : letter == 'F' ? (twill::size_of(kind) == 2 ? DType::float32 : kind)
                               : letter == 'i' ? DType::int64
                                               : DType::boolean);
    to.push_back(std::move(entry));
  }
}

} // namespace oracle
