#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reductions down the columns on a GPU beside a host device: sums, means and extremes of every element type, of short and
// long columns, of views; and the same bits each time.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/evaluate.hpp>
#include <twill/expr/functions.hpp>
#include <twill/expr/operators.hpp>
#include <twill/expr/reductions.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>

namespace columns_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

using Matrix = Shape<dyn, dyn>;

template <class T> Tensor<T, Cpu, Matrix> some_columns(const Dims& extents) {
  return eval(cast<T>(rand<float, Matrix>(extents) * 8.0F - 4.0F));
}
template <class X> auto there(const X& x) { return x.to(TestedDevice{0}); }

const Dims shapes[] = {Dims(1, 1), Dims(5, 7), Dims(1009, 3),  Dims(64, 64),    Dims(2049, 129), Dims(70'001, 2),
                       Dims(0, 5), Dims(5, 0), Dims(33, 4096), Dims(20'011, 1), Dims(300, 1001)};

void columns_of_floats_are_summed() {
  for (const Dims& full : shapes) {
    const Dims extents(test::sized(full[0]), full[1]);
    const auto x = some_columns<float>(extents);
    const auto away = there(x);
    require_near(eval(sum<0>(away)), eval(sum<0>(x)), 1e-5, 1e-2);
    require_near(eval(sum<0>(away * away)), eval(sum<0>(x * x)), 1e-5, 1e-5);
    if (extents[0] > 0) {
      require_near(eval(mean<0>(away)), eval(mean<0>(x)), 1e-5, 1e-5);
      require_same(eval(max<0>(away)), eval(max<0>(x)));
      require_same(eval(min<0>(abs(away))), eval(min<0>(abs(x))));
    }
  }
}

void columns_of_other_types_are_reduced() {
  for (const Dims& extents : {Dims(5, 7), Dims(2049, 33)}) {
    const auto whole = some_columns<std::int64_t>(extents);
    require_same(eval(sum<0>(there(whole))), eval(sum<0>(whole)));
    const auto narrow = some_columns<twill::half>(extents);
    require_same(eval(max<0>(there(narrow))), eval(max<0>(narrow)));
    require_near(eval(sum<0>(cast<float>(there(narrow)))), eval(sum<0>(cast<float>(narrow))), 1e-5, 1e-2);
    const auto wide = some_columns<double>(extents);
    require_near(eval(sum<0>(there(wide))), eval(sum<0>(wide)), 1e-13, 1e-10);
    const Tensor truth = some_columns<float>(extents) > 3.0F;
    require_same(eval(any<0>(there(truth))), eval(any<0>(truth)));
  }
}

void views_are_reduced() {
  const auto x = some_columns<float>(Dims(131, 257));
  const auto away = there(x);
  require_near(eval(sum<1>(away.transpose())), eval(sum<1>(x.transpose())), 1e-5, 1e-3);
  const slice odd{.begin = 1, .step = 2}, rest{.begin = 3};
  require_near(eval(sum<0>(away(odd, rest))), eval(sum<0>(x(odd, rest))), 1e-5, 1e-3);
  require_near(eval(sum<0>(away(rest, odd))), eval(sum<0>(x(rest, odd))), 1e-5, 1e-3);
}

void sums_repeat_to_the_bit() {
  const auto away = there(some_columns<float>(Dims(test::sized(50'021), 17)));
  const Tensor first = sum<0>(away);
  for (int i = 0; i < 4; ++i) require_same(eval(sum<0>(away)), first);
}

const Case floats_case{"columns of floats are summed at every shape", &columns_of_floats_are_summed};
const Case types_case{"columns of other types are reduced as on the host", &columns_of_other_types_are_reduced};
const Case views_case{"columns of views are reduced", &views_are_reduced};
const Case repeat_case{"sums of columns repeat to the bit", &sums_repeat_to_the_bit};

}} // namespace columns_suite
