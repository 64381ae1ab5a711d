// SPDX-License-Identifier: Apache-2.0
//
// Everything that a traced function can be refused for, once: a wrong call is traced in constant evaluation, and what it is
// refused for is a value with both numbers. How such a value becomes the first line of a compiler's errors is shown in
// tests/misuse. Read next: graph/fault.hpp.

#include "tests/nn/refused_layers.hpp"

#include <twill/compile/passes/fit.hpp>
#include <twill/compile/run_scalars.hpp>
#include <twill/nn.hpp>
#include <twill/ops.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/repeat.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

using namespace twill;
using namespace twill::test;
using graph::Fault;

namespace {

/// A function without a derivative.
constexpr graph::Operation opaque{.name = "opaque"};

constexpr Refusal functions[] = {
    {Reason::broadcast_extents_differ, 3, 4,
     [](Graph& g) {
       use(in(g, {2, 3}) + in(g, {2, 4}));
     }},
    {Reason::two_symbols_must_be_equal, 0, 0, [](Graph& g) { use(rows_of(g, "batch") + rows_of(g, "time")); }},
    {Reason::values_of_different_graphs, 0, 0,
     [](Graph& g) {
       Graph other{};
       use(in(g, {2}) + in(other, {2}));
     }},
    {Reason::condition_of_where_is_not_bool, of(float_type), 0,
     [](Graph& g) { use(graph::where(in(g, {2}), in(g, {2}), 0)); }},
    {Reason::axis_is_outside_the_rank, 2, 2,
     [](Graph& g) {
       use(graph::softmax(in(g, {2, 3}), 2));
     }},
    {Reason::axis_is_named_twice, -1, 2,
     [](Graph& g) {
       use(sum(in(g, {2, 3}), {1, -1}));
     }},
    {Reason::reshape_changes_the_number_of_elements, 6, 5,
     [](Graph& g) {
       use(graph::reshape(in(g, {2, 3}), graph::extents_of(Dims(5))));
     }},
    {Reason::transpose_needs_each_axis_once, 2, 2,
     [](Graph& g) {
       use(graph::transpose(in(g, {2, 3}), {1, 1}));
     }},
    {Reason::squeezed_axis_must_have_extent_one, 1, 3,
     [](Graph& g) {
       use(graph::squeeze(in(g, {2, 3}), 1));
     }},
    {Reason::extent_is_known_only_at_run_time, 0, 1, [](Graph& g) { use(topk(rows_of(g, "batch"), 1)); }},
    {Reason::too_many_symbols, graph::max_symbols, graph::max_symbols,
     [](Graph& g) {
       for (int i = 0; i <= graph::max_symbols; ++i) use(rows_of(g, ""));
     }},
    {Reason::matmul_left_columns_differ_from_right_rows, 3, 4,
     [](Graph& g) {
       use(matmul(in(g, {2, 3}), in(g, {4, 5})));
     }},
    {Reason::matmul_needs_at_least_one_dimension, 2, 0,
     [](Graph& g) {
       use(matmul(in(g, {2, 3}), in(g, {})));
     }},
    {Reason::matmul_dtypes_differ, of(float_type), of(DType::float64),
     [](Graph& g) {
       use(matmul(in(g, {2, 3}), in(g, {3, 2}, DType::float64)));
     }},
    {Reason::matmul_batch_extents_differ, 5, 6,
     [](Graph& g) {
       use(matmul(in(g, {5, 2, 3}), in(g, {6, 3, 2})));
     }},
    {Reason::bmm_needs_three_dimensions_on_both_sides, 2, 3,
     [](Graph& g) {
       use(graph::bmm(in(g, {2, 3}), in(g, {4, 3, 2})));
     }},
    {Reason::einsum_pattern_does_not_fit_its_operands, 2, 3,
     [](Graph& g) {
       use(graph::einsum<"ij,jk->ik">(in(g, {2, 3, 4}), in(g, {4, 3})));
     }},
    {Reason::einsum_letter_has_two_extents, 3, 4,
     [](Graph& g) {
       use(graph::einsum<"ij,jk->ik">(in(g, {2, 3}), in(g, {4, 5})));
     }},
    {Reason::repetitions_are_negative, -2, 0,
     [](Graph& g) {
       use(graph::repeat(in(g, {2, 3}), 1, -2));
     }},
    {Reason::patches_do_not_fit_the_image, 6, 4,
     [](Graph& g) {
       use(graph::pixel_shuffle(in(g, {1, 6, 2, 2}), 2));
     }},
    {Reason::patches_do_not_fit_the_image, 3, 4,
     [](Graph& g) {
       use(graph::fold(in(g, {1, 4, 3}), 3, {.kernel = 2}));
     }},
    {Reason::convolution_that_keeps_the_size_has_a_stride, 2, 1,
     [](Graph& g) {
       use(nn::conv1d(in(g, {1, 2, 5}), 3, "c", {.kernel = 3, .stride = 2, .keeps_size = true}));
     }},
    {Reason::bag_weights_are_for_sums_only, static_cast<int>(nn::BagMode::mean), 0,
     [](Graph& g) {
       use(nn::embedding_bag(in(g, {2, 3}, DType::int64), 4, 2, "bag", {.weights = in(g, {2, 3})}));
     }},
    {Reason::slice_has_a_step_of_zero, 1, 0,
     [](Graph& g) {
       use(graph::slice_axis(in(g, {2, 3}), 1, {.step = 0}));
     }},
    {Reason::slice_reaches_outside_of_the_axis, 4, 3, [](Graph& g) { use(graph::narrow(in(g, {3}), 0, 2, 2)); }},
    {Reason::sections_do_not_divide_the_axis, 2, 5, [](Graph& g) { use(graph::split<2>(in(g, {5}), 0)); }},
    {Reason::axis_has_fewer_chunks, 4, 5, [](Graph& g) { use(graph::chunk<4>(in(g, {5}), 0)); }},
    {Reason::joined_values_have_different_ranks, 1, 2,
     [](Graph& g) {
       use(graph::concatenate({in(g, {2}), in(g, {2, 1})}));
     }},
    {Reason::joined_values_have_different_extents, 3, 4,
     [](Graph& g) {
       use(graph::concatenate({in(g, {2, 3}), in(g, {2, 4})}));
     }},
    {Reason::margin_is_negative, 1, -1,
     [](Graph& g) {
       use(graph::pad(in(g, {3}), 0, {1, -1}));
     }},
    {Reason::margin_reaches_beyond_the_axis, 3, 3,
     [](Graph& g) {
       use(graph::pad_reflect(in(g, {3}), 0, {3, 0}));
     }},
    {Reason::indices_are_not_integers, of(float_type), 0, [](Graph& g) { use(graph::take(in(g, {3}), in(g, {2}))); }},
    {Reason::index_has_another_rank, 1, 2,
     [](Graph& g) {
       use(graph::take_along_axis(in(g, {2, 3}), in(g, {2}, int_type), 0));
     }},
    {Reason::index_has_another_extent, 4, 3,
     [](Graph& g) {
       use(graph::take_along_axis(in(g, {2, 3}), in(g, {2, 4}, int_type), 0));
     }},
    {Reason::topk_exceeds_the_axis, 4, 3, [](Graph& g) { use(graph::topk(in(g, {3}), 4)); }},
};

/// A loop over rows with a scalar to carry.
template <class Body> constexpr auto loop(Value carry, Value rows, const Body& body) {
  return graph::scan(std::array{carry}, std::array{rows}, body).carry[0];
}
constexpr graph::Step<1, 0> step_to(Value carry) { return {{carry}, {}}; }
constexpr auto add_up = [](Value carry, Value row) { return step_to(carry + row); };
/// So many loops inside of each other.
template <int Depth> constexpr Value nested(Value carry) {
  if constexpr (Depth == 0)
    return carry + 1;
  else
    return graph::scan(std::array{carry}, std::array<Value, 0>{},
                       [](Value inner) { return step_to(nested<Depth - 1>(inner)); }, {.count = {2, 0}})
        .carry[0];
}

/// Layers divided among three ranks.
using Three = RankAxis<"three", 3>;
constexpr Refusal ranks[] = {
    {Reason::ranks_do_not_divide_the_axis, 3, 4,
     [](Graph& g) {
       use(nn::column_linear<Three>(in(g, {2, 5}), 4, "divided"));
     }},
    {Reason::ranks_do_not_divide_the_heads, 3, 4,
     [](Graph& g) {
       use(nn::sharded_multi_head_attention<Three>(in(g, {2, 3, 8}), 4, "divided"));
     }},
    {Reason::ranks_work_together_outside_of_scans_only, 0, 0,
     [](Graph& g) {
       use(loop(in(g, {}), in(g, {3}),
                [](Value carry, Value row) { return step_to(carry + graph::all_reduce<Three>(row)); }));
     }},
};

constexpr Refusal gradients_and_loops[] = {
    {Reason::gradient_of_a_value_that_is_not_a_scalar, 1, 0,
     [](Graph& g) {
       const Value x = in(g, {3});
       use(graph::gradient(x * x, x));
     }},
    {Reason::gradient_of_a_value_that_is_not_floating, of(int_type), 0,
     [](Graph& g) { use(graph::gradient(in(g, {}, int_type), in(g, {}))); }},
    {Reason::gradient_with_respect_to_a_value_that_is_not_floating, of(int_type), 0,
     [](Graph& g) { use(graph::gradient(in(g, {}), in(g, {}, int_type))); }},
    {Reason::operation_has_no_gradient, 1, 0,
     [](Graph& g) {
       const Value x = in(g, {});
       use(graph::gradient(graph::add_operation(opaque, {x}, float_type, {}), x));
     }},
    {Reason::scans_are_nested_more_than_4_deep, 5, 4, [](Graph& g) { use(nested<5>(in(g, {}))); }},
    {Reason::scan_keeps_a_value_of_more_than_8_axes, 4, 0,
     [](Graph& g) {
       const auto step = [](Value carry, Value row) {
         return graph::Step<1, 1>{{carry}, {graph::reshape(row, graph::extents_of(Dims(1, 1, 1, 1, 1, 1, 1, 1)))}};
       };
       use(graph::scan(std::array{in(g, {})}, std::array{in(g, {3})}, step).results[0]);
     }},
    {Reason::scan_needs_a_first_axis_of_steps, 0, 0, [](Graph& g) { use(loop(in(g, {}), in(g, {}), add_up)); }},
    {Reason::scan_inputs_have_different_numbers_of_steps, 3, 4,
     [](Graph& g) {
       use(graph::scan(std::array{in(g, {})}, std::array{in(g, {3}), in(g, {4})},
                       [](Value carry, Value a, Value b) { return step_to(carry + a * b); }));
     }},
    {Reason::scan_carry_changes_its_shape, 0, 1,
     [](Graph& g) {
       use(loop(in(g, {}), in(g, {3, 4}), add_up));
     }},
    {Reason::scan_carry_changes_its_dtype, of(float_type), of(DType::float64),
     [](Graph& g) { use(loop(in(g, {}), in(g, {3}, DType::float64), add_up)); }},
    {Reason::gradient_inside_a_scan_of_a_value_outside, 2, 0,
     [](Graph& g) {
       const Value x = in(g, {});
       use(loop(x, in(g, {3}),
                [x](Value carry, Value row) { return step_to(graph::gradient(carry * carry, x) + row); }));
     }},
    {Reason::tap_in_the_body_of_a_scan, 3, 0,
     [](Graph& g) {
       const Value first = in(g, {});
       use(loop(first, in(g, {3}), [](Value carry, Value row) { return step_to(carry + nn::tap(row, "row")); }));
     }},
    {Reason::stage_boundary_inside_of_a_scan_or_a_checkpoint, 3, 0,
     [](Graph& g) {
       const Value first = in(g, {});
       use(loop(first, in(g, {3}), [](Value carry, Value row) { return step_to(carry + nn::stage_boundary(row)); }));
     }},
};

/// A value in slot 1.
constexpr Value away(Value x) { return nn::to(x, nn::Slot{1}); }

/// Parts of functions in device slots. What the trace cannot know is refused when the function is compiled.
constexpr Refusal slots[] = {
    {Reason::slot_is_outside_0_to_15, 16, 15, [](Graph& g) { use(nn::to(in(g, {2}), nn::Slot{16})); }},
    {Reason::operands_lie_in_different_slots_move_one_with_to, 0, 1,
     [](Graph& g) { use(in(g, {2}) + away(in(g, {2}))); }},
    {Reason::move_to_a_slot_in_the_body_of_a_scan, 1, 0,
     [](Graph& g) {
       use(loop(in(g, {}), in(g, {3}), [](Value carry, Value row) { return step_to(carry + away(row)); }));
     }},
    {Reason::scan_over_values_in_different_slots, 0, 1,
     [](Graph& g) {
       const Value rows = in(g, {3});
       const auto ends = graph::scan(std::array{in(g, {}), away(in(g, {}))}, std::array{rows, away(rows)},
                                     [](Value a, Value b, Value c, Value d) {
                                       return graph::Step<2, 0>{{a + c, b + d}, {}};
                                     });
       for (const Value& end : ends.carry) g.outputs.push_back(end.id());
       g.fault = compile::lower(g).fault;
     }},
    {Reason::ranks_work_together_in_functions_of_one_slot_only, 2, 1,
     [](Graph& g) {
       g.outputs.push_back(graph::all_reduce<Three>(away(in(g, {2}))).id());
       g.fault = compile::lower(g).fault;
     }},
};

/// A source of known size, with a budget.
struct Source {
  static constexpr compile::ForwardTrace trace_forward() {
    compile::ForwardTrace result{};
    result.root = rows_of(result.graph, "batch").id();
    return result;
  }
  static constexpr compile::MemoryUse memory(const graph::Parts&, const graph::SymbolValues&) {
    return {.weights = 100, .states = 20, .kept = 50};
  }
  static constexpr compile::Work work(const graph::Parts&, const graph::SymbolValues&) { return {}; }
};
template <std::int64_t Bytes, class... Dimensions> struct Budget {
  using sizes = nn::Sizes<Dimensions...>;
  static constexpr std::int64_t budget_bytes = Bytes;
};
using Batch = nn::Size<"batch", 8>;

constexpr struct {
  Reason problem;
  std::int64_t left;
  std::int64_t right;
  Fault fault;
} budgets[] = {
    {Reason::fit_needs_the_size_of_each_named_dimension, 0, 0, compile::fitted<Source, Budget<1000>>.fault},
    {Reason::fit_budget_is_below_the_weights_and_states, 110, 170, compile::fitted<Source, Budget<110, Batch>>.fault},
    {Reason::fit_budget_is_below_the_lowest_peak, 130, 170, compile::fitted<Source, Budget<130, Batch>>.fault},
};

/// What each call of a table is refused for, found by the compiler.
template <const auto& Table>
constexpr auto faults_of = [] {
  std::array<Fault, std::size(Table)> faults{};
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Graph graph{};
    Table[i].call(graph);
    faults[i] = graph.fault;
  }
  return faults;
}();

std::array<bool, 256> shown{};

void check(const auto& row, const Fault& fault) {
  INFO("problem " << static_cast<int>(row.problem) << ", got problem " << static_cast<int>(fault.problem));
  CHECK(fault.problem == row.problem);
  CHECK(fault.left == row.left);
  CHECK(fault.right == row.right);
  shown[static_cast<std::size_t>(row.problem)] = true;
}
template <const auto& Table> void check_all() {
  for (std::size_t i = 0; i < std::size(Table); ++i) check(Table[i], faults_of<Table>[i]);
}

} // namespace

TEST_CASE("each way to misuse a traced function is refused with both numbers", "[nn][TRAIN-1][TRAIN-2]") {
  check_all<functions>();
  check_all<images>();
  check_all<losses>();
  check_all<layers>();
  check_all<gradients_and_loops>();
  check_all<ranks>();
  check_all<slots>();
  for (const auto& row : budgets) check(row, row.fault);
  // What follows is for models that are cut, in parallel/.
  constexpr auto last = static_cast<std::size_t>(Reason::stage_boundary_inside_of_a_scan_or_a_checkpoint);
  for (std::size_t problem = 1; problem <= last; ++problem) {
    INFO("problem " << problem);
    CHECK(shown[problem]);
  }
}

TEST_CASE("what is at the edge of a refusal is taken", "[nn][TRAIN-1]") {
  constexpr Fault fault = [] {
    Graph g{};
    use(nn::dropout(in(g, {3}), 0), nn::dropout(in(g, {3}), 1));
    use(nn::cross_entropy(in(g, {3, 4}), in(g, {3}, int_type), {.label_smoothing = 1, .weight = in(g, {4})}));
    use(nn::smooth_l1(in(g, {3}), in(g, {3}), {.beta = 0}), nn::huber(in(g, {3}), in(g, {3}), {.delta = 1e-3}));
    use(nn::linear(in(g, {0, 3}), 0, "none"), nn::batch_norm(in(g, {2, 3}), "two"));
    use(graph::topk(in(g, {3}), 3), graph::narrow(in(g, {3}), 0, 3, 0));
    return g.fault;
  }();
  STATIC_REQUIRE_FALSE(fault.any());
}

TEST_CASE("a probability of a run is refused outside of 0 and 1", "[nn][TRAIN-2]") {
  const graph::RunScalarInfo infos[] = {
      {.name = graph::Name{"rate"}, .dtype = float_type, .initial = 0.5},
      {.name = graph::Name{"dropout"}, .dtype = float_type, .initial = 0.5, .is_probability = true},
  };
  compile::RunScalars run_scalars{ListView<graph::RunScalarInfo>{infos, std::size(infos)}};
  for (const double wrong : {1.5, -0.25, std::nan("")}) CHECK_THROWS_AS(run_scalars.set("dropout", wrong), ValueError);
  CHECK_THROWS_WITH(run_scalars.set("dropout", 1.5), Catch::Contains("'dropout' has to be between 0 and 1; it is 1.5"));
  for (const double right : {0.0, 0.25, 1.0}) CHECK_NOTHROW(run_scalars.set("dropout", right));
  CHECK_NOTHROW(run_scalars.set("rate", 1.5));
}
