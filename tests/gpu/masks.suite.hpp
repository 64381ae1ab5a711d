#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Elements chosen by truth values on a GPU beside those of a host device: read, written, and found.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/masks.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/scatter.hpp>
#include <twill/kernel/gpu/select.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>

namespace masks_suite { namespace {

using namespace twill;
using test::Case;
using test::require_equal;
using test::require_same;
using test::TestedDevice;

using Matrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

void true_elements_are_found() {
  for (const Dims& extents : {Dims(0, 3), Dims(1, 1), Dims(17, 19), Dims(3, 4099), Dims(4097, 2)}) {
    const Matrix x = rand<float, Shape<dyn, dyn>>(extents);
    for (const float threshold : {-1.F, 0.7F, 2.F}) {
      const Tensor mask = x < threshold;
      const auto there = mask.to(TestedDevice{0});
      const auto found = nonzero(there);
      const auto expected = nonzero(mask);
      require_same(found[0], expected[0]);
      require_same(found[1], expected[1]);
      require_same(flatnonzero(there), flatnonzero(mask));
      require_same(argwhere(there), argwhere(mask));
      require_same(flatnonzero(there.transpose()), flatnonzero(mask.transpose()));
    }
  }
}

void elements_are_selected() {
  const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(41, 211));
  const Tensor mask = x < 0.5F;
  const auto there = x.to(TestedDevice{0});
  const auto truth = mask.to(TestedDevice{0});
  require_same(eval(masked_select(there, truth)), eval(masked_select(x, mask)));
  require_same(eval(there[truth] * 2.F), eval(x[mask] * 2.F));
  const Tensor rows = x(twill::all, 0) < 0.5F;
  require_same(eval(there[rows.to(TestedDevice{0})]), eval(x[rows]));
  require_same(eval(masked_fill(there, truth, 3.F)), eval(masked_fill(x, mask, 3.F)));
}

void elements_are_overwritten() {
  const Matrix x = rand<float, Shape<dyn, dyn>>(Dims(13, 337));
  const auto there = x.to(TestedDevice{0}).clone();
  const Tensor mask = x < 0.3F;
  const auto truth = mask.to(TestedDevice{0});
  const auto values = rand<float, Shape<dyn>>(Dims(flatnonzero(mask).elements()));
  x[mask] = values;
  there[truth] = values.to(TestedDevice{0});
  require_same(there, x);
  x[mask] += 1.F;
  there[truth] += 1.F;
  require_same(there, x);
  x[mask] = 5.F;
  there[truth] = 5.F;
  require_same(there, x);
}

const Case found_case{"true elements are found in the host's order", &true_elements_are_found};
const Case selected_case{"elements are selected by a mask", &elements_are_selected};
const Case overwritten_case{"elements are overwritten where a mask holds", &elements_are_overwritten};

}} // namespace masks_suite
