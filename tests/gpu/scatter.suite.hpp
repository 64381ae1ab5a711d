#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Writing by index on a GPU beside a host device: where an index occurs more than once the last write wins, and sums add in
// the host's order, so the bits are the host's.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/draws.hpp>
#include <twill/expr/put.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/scatter.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>

namespace scatter_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

template <class X> auto on_device(const X& x) { return x.to(TestedDevice{0}).clone(); }
auto some_indices(std::int64_t below, const Dims& extents) {
  return integers<std::int64_t, Shape<dyn>>(-below, below, extents, Cpu{0});
}

void slices_are_added_and_overwritten() {
  for (const std::int64_t count : {0, 1, 31, 2049}) {
    const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(67, 13));
    const auto there = on_device(x);
    const auto rows = some_indices(67, Dims(count));
    const Matrix values = rand<float, Shape<dyn, dyn>>(Dims(count, 13));
    index_add<0>(x, rows, values);
    index_add<0>(there, on_device(rows), on_device(values));
    require_same(there, x);
    index_put(x, rows, values);
    index_put(there, on_device(rows), on_device(values));
    require_same(there, x);
  }
}

void other_axes_and_views_are_written() {
  const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(19, 53));
  const auto there = on_device(x);
  const auto columns = some_indices(53, Dims(211));
  const Matrix values = rand<float, Shape<dyn, dyn>>(Dims(211, 19));
  index_add<1>(x, columns, values.transpose());
  index_add<1>(there, on_device(columns), on_device(values).transpose());
  require_same(there, x);
  index_put(x.transpose(), columns, values);
  index_put(there.transpose(), on_device(columns), on_device(values));
  require_same(there, x);
  const auto flipped = x(slice{.step = -2}, twill::all);
  const auto flipped_there = there(slice{.step = -2}, twill::all);
  const auto rows = some_indices(10, Dims(41));
  index_add<0>(flipped, rows, 0.25F);
  index_add<0>(flipped_there, on_device(rows), 0.25F);
  require_same(there, x);
}

void elements_along_an_axis_are_written() {
  const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(31, 7));
  const auto there = on_device(x);
  const auto index = some_indices(7, Dims(31 * 23)).reshape<Shape<dyn, dyn>>(Dims(31, 23));
  const Matrix values = rand<float, Shape<dyn, dyn>>(Dims(31, 23));
  scatter_add<1>(x, index, values);
  scatter_add<1>(there, on_device(index), on_device(values));
  require_same(there, x);
  put_along_axis<1>(x, index, values);
  put_along_axis<1>(there, on_device(index), on_device(values));
  require_same(there, x);
  const auto places = some_indices(31 * 7, Dims(4099));
  const auto written = rand<float, Shape<dyn>>(Dims(4099));
  put(x, places, written);
  put(there, on_device(places), on_device(written));
  require_same(there, x);
}

void pairs_of_indices_choose() {
  const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(5, 3));
  const auto there = on_device(x);
  const auto rows = some_indices(5, Dims(101));
  const auto columns = some_indices(3, Dims(101));
  const auto values = rand<float, Shape<dyn>>(Dims(101));
  x(rows, columns) = values;
  there(on_device(rows), on_device(columns)) = on_device(values);
  require_same(there, x);
}

void narrow_types_are_added() {
  const auto x = zeros<twill::half, Shape<dyn>>(Dims(11));
  const auto there = on_device(x);
  const auto index = some_indices(11, Dims(131));
  const auto values = rand<twill::half, Shape<dyn>>(Dims(131));
  index_add<0>(x, index, values);
  index_add<0>(there, on_device(index), on_device(values));
  require_near(there, x, 2e-2); // the host rounds each sum, a GPU the last
  const auto truth = zeros<bool, Shape<dyn>>(Dims(11));
  const auto truth_there = on_device(truth);
  index_add<0>(truth, index, true);
  index_add<0>(truth_there, on_device(index), true);
  require_same(truth_there, truth);
}

template <class T> void add_long_runs() {
  const auto x = zeros<T, Shape<dyn, dyn>>(Dims(3, 5));
  const auto there = on_device(x);
  const auto index = some_indices(3, Dims(1031));
  const Tensor values = cast<T>(rand<float, Shape<dyn, dyn>>(Dims(1031, 5)) < 0.5F); // sums are exact
  index_add<0>(x, index, values);
  index_add<0>(there, on_device(index), on_device(values));
  require_same(there, x);
}
void long_runs_are_added() {
  add_long_runs<float>();
  add_long_runs<double>();
  add_long_runs<twill::half>();
  add_long_runs<std::int64_t>();
  add_long_runs<bool>();
}

const Case slices_case{"slices are added and overwritten by index", &slices_are_added_and_overwritten};
const Case axes_case{"columns and views are written by index", &other_axes_and_views_are_written};
const Case along_case{"elements along an axis are written by index", &elements_along_an_axis_are_written};
const Case pairs_case{"pairs of indices choose the elements that are written", &pairs_of_indices_choose};
const Case narrow_case{"halves and truth values are added by index", &narrow_types_are_added};
const Case long_case{"hundreds of values are added to one element, in every type", &long_runs_are_added};

}} // namespace scatter_suite
