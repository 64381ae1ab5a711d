#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Kernels of compiled steps that sort: sums by index and the places of elements in order, beside the host's, bit for bit.
// Some get so little working memory that they take part after part.

#include <tests/gpu/tied_numbers.hpp>
#include <tests/support/runtime_calls.hpp>
#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/expr.hpp>
#include <twill/kernel/gpu/index_sums.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/row_orders.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace places_suite { namespace {

using namespace twill;
using graph::Value;
using kernel::gpu::QueueSort;
using test::Case;
using test::require;
using test::require_equal;
using test::require_same;
using test::TestedDevice;

template <class T> using Cube = Tensor<T, Cpu, Shape<dyn, dyn, dyn>>;

/// Calls f with a queue that has room to sort only a few tiles.
template <class F> void on_small_queue(const F& f) {
  launch(TestedDevice{0}, [&](const auto& queue) {
    const gpu::WorkingMemory working = queue.working_memory();
    gpu::WorkingSpace few{working.memory(), working.counters(), {264 << 10, working.size().counter_count}};
    f(std::remove_cvref_t<decltype(queue)>{queue.device(), queue.stream(), queue.properties(), few});
  });
}
template <class F> void on_queue(bool is_small, const F& f) {
  if (is_small)
    on_small_queue(f);
  else
    launch(TestedDevice{0}, f);
}

/// Sums by (outer, places, inner) indices, of which an extent of one repeats, on both kinds of device.
template <class T>
void add_by_index(const Dims& small, std::int64_t extent, const Dims& index_shape, std::int64_t low,
                  std::uint64_t range, bool is_small = false) {
  const Tensor<std::int64_t, Cpu, Shape<dyn>> index = test::some_integers(low, range, index_shape.elements());
  const Cube<T> x = eval(cast<T>(rand<double, Shape<dyn, dyn, dyn>>(small, Cpu{0}) * 9.0));
  const Dims large(small[0], extent, small[2]);
  const Cube<T> sums(Cpu{0}, large);
  const kernel::IndexedBlocks blocks{.outer = small[0],
                                     .places = small[1],
                                     .extent = extent,
                                     .inner = small[2],
                                     .index_outer = index_shape[0] == 1 ? 0 : index_shape[1] * index_shape[2],
                                     .index_place = index_shape[2],
                                     .index_inner = index_shape[2] == 1 ? 0 : 1};
  kernel::scatter_sums(Team::serial(), x.data(), index.data(), sums.data(), blocks);
  const auto index_there = test::there(index);
  const auto x_there = test::there(x);
  const auto sums_there = test::there(sums).clone();
  on_queue(is_small, [&](const auto& queue) {
    kernel::scatter_sums(queue, x_there.data(), index_there.data(), sums_there.data(), blocks);
  });
  require_same(sums_there, sums);
}

void sums_are_the_hosts() {
  add_by_index<float>(Dims(1, 311, 7), 13, Dims(1, 311, 1), -13, 26); // an embedding: each row many times
  add_by_index<double>(Dims(1, 257, 3), 1, Dims(1, 257, 1), 0, 1);    // all in one row
  add_by_index<double>(Dims(1, 1, 5), 101, Dims(1, 1, 1), 100, 1);    // one index
  add_by_index<float>(Dims(1, 97, 5), 11, Dims(1, 97, 1), -20, 40);   // some outside
  add_by_index<float>(Dims(3, 41, 5), 7, Dims(1, 41, 1), 0, 7);       // the same for all outer slices
  add_by_index<float>(Dims(3, 41, 5), 7, Dims(3, 41, 1), 0, 7);       // others for each
  add_by_index<float>(Dims(1, 41, 5), 7, Dims(1, 41, 5), 0, 7);       // along an axis
  add_by_index<double>(Dims(3, 41, 5), 7, Dims(3, 41, 5), 0, 7);
  add_by_index<double>(Dims(3, 41, 5), 7, Dims(1, 41, 5), 0, 7);
  add_by_index<std::int64_t>(Dims(2, 33, 2), 5, Dims(2, 33, 1), 0, 5);
  add_by_index<float>(Dims(1, 2503, 1), 5, Dims(1, 2503, 1), 0, 5); // more than a block sorts
  add_by_index<float>(Dims(1, 0, 3), 5, Dims(1, 0, 1), 0, 5);       // none: zeros
}
void long_runs_are_the_hosts() {
  for (const std::int64_t places : {63, 64, 65, 127, 128, 129, 2049, 4801}) // around what a thread and a block take
    add_by_index<float>(Dims(1, places, 1), 1, Dims(1, places, 1), 0, 1);
  add_by_index<float>(Dims(1, 1301, 37), 5, Dims(1, 1301, 1), -6, 12); // more elements than lanes, some outside
  add_by_index<float>(Dims(3, 701, 5), 3, Dims(1, 701, 1), 0, 2);      // slices that repeat
  add_by_index<double>(Dims(2, 701, 5), 3, Dims(2, 701, 5), 0, 3);     // each element for itself
  add_by_index<std::int64_t>(Dims(1, 3001, 2), 4, Dims(1, 3001, 1), 1, 2);
}
void sums_in_parts_are_the_hosts() {
  add_by_index<float>(Dims(1, 10007, 2), 3, Dims(1, 10007, 1), -4, 8, true);
  add_by_index<float>(Dims(2, 1201, 5), 31, Dims(2, 1201, 5), 0, 31, true);
}
const Case sums_case{"sums by index have the bits of the host's, whatever repeats", &sums_are_the_hosts};
const Case long_case{"sums of many at one place have the bits of the host's", &long_runs_are_the_hosts};
const Case parts_case{"sums by more indices than are sorted at once have the bits of the host's",
                      &sums_in_parts_are_the_hosts};

/// The first `count` places of rows (outer, length, inner) on both kinds of device.
template <class T> void order(const Cube<T>& x, std::int64_t count, bool is_descending, bool is_small = false) {
  const Dims& shape = x.shape();
  const kernel::PlaceRows rows{
      .outer = shape[0], .length = shape[1], .inner = shape[2], .count = count, .is_descending = is_descending};
  const Cube<std::int64_t> places(Cpu{0}, Dims(shape[0], count, shape[2]));
  kernel::order_places(Team::serial(), x.data(), places.data(), rows);
  const auto x_there = test::there(x);
  const auto places_there = test::there(places).clone();
  on_queue(is_small,
           [&](const auto& queue) { kernel::order_places(queue, x_there.data(), places_there.data(), rows); });
  require_same(places_there, places);
}
template <class T> Cube<T> some(const Dims& shape) {
  const Cube<T> x(Cpu{0}, shape);
  const auto numbers = test::some_numbers(Dims(1, std::max<std::int64_t>(1, shape.elements())));
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const float number = numbers.data()[i];
    x.data()[i] = std::is_floating_point_v<T> || number == number ? static_cast<T>(number) : T{};
  }
  return x;
}

void places_are_the_hosts() {
  for (const bool is_descending : {false, true}) {
    order(some<float>(Dims(3, 5, 1)), 5, is_descending);
    order(some<float>(Dims(2, 131, 3)), 7, is_descending); // short rows, strided
    order(some<double>(Dims(2, 2048, 1)), 2048, is_descending);
  }
  order(some<double>(Dims(1, 1, 1)), 1, false);
  order(some<float>(Dims(2, 0, 3)), 0, false);
  order(some<double>(Dims(3, 2053, 1)), 2053, true); // longer than a block sorts, several rows together
  order(some<float>(Dims(1, 2101, 2)), 17, false);
}
void places_in_parts_are_the_hosts() {
  order(some<double>(Dims(1, 9001, 1)), 9001, false, true); // merged
  order(some<float>(Dims(2, 9001, 1)), 33, true, true);     // the first of each part and those before
  order(some<std::int64_t>(Dims(5, 2053, 1)), 2053, false, true);
}
const Case places_case{"places in order are the host's, ties and NaN included", &places_are_the_hosts};
const Case place_parts_case{"places of rows longer than are sorted at once are the host's",
                            &places_in_parts_are_the_hosts};

/// Long rows in order and sums by index, in a graph that is launched again for other numbers.
void graphs_sort() {
  const kernel::PlaceRows rows{.outer = 2, .length = 5003, .count = 5003};
  const auto x_there = test::there(some<double>(Dims(2, 5003, 1))).clone();
  const auto index_there = test::there(test::some_integers(-3, 70, 5003));
  const auto places_there = test::there(Cube<std::int64_t>(Cpu{0}, Dims(2, 5003, 1))).clone();
  const auto sums_there = test::there(Cube<double>(Cpu{0}, Dims(1, 61, 1))).clone();
  const kernel::IndexedBlocks blocks{.places = 5003, .extent = 61};
  const auto graph = gpu::capture(TestedDevice{0}, [&] {
    launch(TestedDevice{0}, [&](const auto& queue) {
      kernel::order_places(queue, x_there.data(), places_there.data(), rows);
      kernel::scatter_sums(queue, x_there.data(), index_there.data(), sums_there.data(), blocks);
    });
  });
  require_equal(graph.reason(), std::string{});
  for (int launches = 0; launches < 2; ++launches) {
    const Cube<double> x = eval(rand<double, Shape<dyn, dyn, dyn>>(Dims(2, 5003, 1), Cpu{0}) - 0.5);
    copy_bytes(TestedDevice{0}, x_there.data(), Cpu{0}, x.data(), static_cast<std::size_t>(x.elements()) * 8);
    graph.launch();
    const Cube<std::int64_t> places(Cpu{0}, Dims(2, 5003, 1));
    const Cube<double> sums(Cpu{0}, Dims(1, 61, 1));
    kernel::order_places(Team::serial(), x.data(), places.data(), rows);
    kernel::scatter_sums(Team::serial(), x.data(), index_there.cpu().data(), sums.data(), blocks);
    require_same(places_there, places);
    require_same(sums_there, sums);
  }
}
const Case graph_case{"a recorded graph sorts and adds by index", &graphs_sort};

/// The launches of a sum of so many rows.
long launches_of_sum(std::int64_t rows) {
  const auto index = test::there(test::some_integers(0, 2, rows));
  const auto x = test::there(rand<float, Shape<dyn>>(Dims(rows), Cpu{0}));
  const auto sums = zeros<float, Shape<dyn>>(Dims(2), TestedDevice{0});
  const long before = test::runtime_calls<TestedDevice>({"enqueue"});
  launch(TestedDevice{0}, [&](const auto& queue) {
    kernel::scatter_sums(queue, x.data(), index.data(), sums.data(),
                         kernel::IndexedBlocks{.places = rows, .extent = 2});
  });
  return test::runtime_calls<TestedDevice>({"enqueue"}) - before;
}
void work_is_linear() {
  // As many launches, each of a thread for a thing, whatever the number of equal indices.
  require_equal(launches_of_sum(40009), launches_of_sum(5003));
  require(QueueSort<std::uint64_t>::most(gpu::allowance_bytes) > (1 << 20));
}
const Case linear_case{"a sum by index takes as many launches whatever repeats", &work_is_linear};

// ---- in compiled functions --------------------------------------------------------------------------------------------

constexpr auto squares_of_rows = [](Value weight, Value index) {
  return graph::sum(graph::square(nn::embedding(index, weight)));
};

void embedding_gradients_are_the_hosts() {
  const auto weight = randn<float, Shape<11, 5>>(Cpu{0});
  const auto index = test::some_integers(0, 11, 3001);
  const auto weight_there = weight.to(TestedDevice{0});
  const auto index_there = test::there(index);
  const auto gradient = grad(squares_of_rows)(weight_there, index_there);
  test::require_near(gradient, grad(squares_of_rows)(weight, index), 1e-6);
  require_same(grad(squares_of_rows)(weight_there, index_there), gradient);
}
const Case embedding_case{"the gradient of an embedding is the host's and repeats bit for bit",
                          &embedding_gradients_are_the_hosts};

}} // namespace places_suite
