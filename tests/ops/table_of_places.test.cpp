// SPDX-License-Identifier: Apache-2.0
//
// The table of places in shapes and of added axes in models: beside naive loops, in every type, on odd, single and empty shapes,
// and for batches by vmap; derivatives of both orders beside finite differences.

#include "tests/support/operation_table.hpp"

#include <twill/ops/concatenate.hpp>
#include <twill/ops/value_samples.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;

/// Places of 0 to 29 that depend on values.
Value places_of(Value x) { return remainder(cast(x * 7, DType::int64), 30); }
std::int64_t place_of(double x) {
  const auto place = static_cast<std::int64_t>(x * 7) % 30;
  return place < 0 ? place + 30 : place;
}

const std::vector<OperationRow>& place_rows() {
  static const std::vector<OperationRow> rows{
      {"unravel_index",
       {{Dims(3, 5)}, {Dims(1)}, {Dims()}, {Dims(0)}},
       [](const Value* x) {
         const auto [a, b, c] = graph::unravel_index<3>(places_of(x[0]), Dims(2, 3, 5));
         return a * 100 + b * 10 + c;
       },
       [](const Arrays& x) {
         return array_from(x[0].shape, [&](const Dims& i) {
           const std::int64_t place = place_of(element_of(x[0], i));
           return static_cast<double>(place / 15 * 100 + place / 5 % 3 * 10 + place % 5);
         });
       },
       RowTypes::wide,
       {},
       false},
      {"ravel_multi_index",
       {{Dims(3, 5), Dims(5)}, {Dims(1), Dims()}, {Dims(0), Dims(0)}},
       [](const Value* x) { return graph::ravel_multi_index(Dims(30, 30), places_of(x[0]), places_of(x[1])); },
       [](const Arrays& x) {
         return array_from(x[0].shape, [&](const Dims& i) {
           const Dims last = x[1].shape.rank == 0 ? Dims() : Dims(i[i.rank - 1]);
           return static_cast<double>(place_of(element_of(x[0], i)) * 30 + place_of(element_of(x[1], last)));
         });
       },
       RowTypes::wide,
       {},
       false},
      {"atleast_1d",
       {{Dims()}, {Dims(3)}, {Dims(0, 2)}},
       [](const Value* x) { return graph::atleast_1d(x[0]) + 0; },
       [](const Arrays& x) {
         return Array{x[0].shape.rank == 0 ? Dims(1) : x[0].shape, x[0].elements};
       }},
      {"atleast_2d",
       {{Dims()}, {Dims(3)}, {Dims(0, 2)}, {Dims(2, 1, 3)}},
       [](const Value* x) { return graph::atleast_2d(x[0]) + 0; },
       [](const Arrays& x) {
         const Dims& shape = x[0].shape;
         return Array{shape.rank == 0 ? Dims(1, 1) : shape.rank == 1 ? Dims(1, shape[0]) : shape, x[0].elements};
       }},
      {"atleast_3d",
       {{Dims()}, {Dims(3)}, {Dims(0, 2)}, {Dims(2, 1, 3)}},
       [](const Value* x) { return graph::atleast_3d(x[0]) + 0; },
       [](const Arrays& x) {
         const Dims& shape = x[0].shape;
         return Array{shape.rank == 0   ? Dims(1, 1, 1)
                      : shape.rank == 1 ? Dims(1, shape[0], 1)
                      : shape.rank == 2 ? Dims(shape[0], shape[1], 1)
                                        : shape,
                      x[0].elements};
       }},
  };
  return rows;
}

} // namespace

TEST_CASE("places in shapes and added axes in models are those of loops", "[ops]") {
  for (const OperationRow& row : place_rows()) check_forward(row);
}

TEST_CASE("both derivatives of added axes are those of differences", "[ops][gradient]") {
  for (const OperationRow& row : place_rows()) check_both_derivatives(row);
}

TEST_CASE("places in shapes of other ranks, and those that are no integers, are refused", "[ops]") {
  using graph::Problem;
  const auto problem = [](DType dtype, const auto& function) {
    graph::Graph graph{DType::float32};
    function(Value{graph, graph.add_input(dtype, {{6, 0}})});
    return graph.fault.problem;
  };
  const auto unravelled = [](const Dims& extents) {
    return [extents](Value v) { static_cast<void>(graph::unravel_index<2>(v, extents)); };
  };
  CHECK(problem(DType::int32, unravelled(Dims(2, 3))) == Problem::none);
  CHECK(problem(DType::int32, unravelled(Dims(2, 3, 1))) == Problem::index_has_another_rank);
  CHECK(problem(DType::int32, unravelled(Dims(2, 0))) == Problem::index_has_another_extent);
  CHECK(problem(DType::float32, unravelled(Dims(2, 3))) == Problem::indices_are_not_integers);
  const auto ravelled = [](Value v) { static_cast<void>(graph::ravel_multi_index(Dims(2, 3), v, v)); };
  CHECK(problem(DType::int64, ravelled) == Problem::none);
  CHECK(problem(DType::float32, ravelled) == Problem::indices_are_not_integers);
  CHECK(problem(DType::int64, [](Value v) { static_cast<void>(graph::ravel_multi_index(Dims(2, 3), v)); }) ==
        Problem::index_has_another_rank);
}
