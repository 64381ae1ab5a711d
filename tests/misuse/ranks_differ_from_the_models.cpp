// SPDX-License-Identifier: Apache-2.0
//
// A model divided among four ranks, on two.
// expect: the model divides weights among other ranks than those of the axis given

#include <twill/nn/tensor_parallel.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    return nn::column_linear<RankAxis<"tensor", 4>>(x, 8, "linear");
  }
};

#ifdef MISUSE
using Ranks = RankAxis<"tensor", 2>;
#else
using Ranks = RankAxis<"tensor", 4>;
#endif
const auto size = TensorParallel<Model, Ranks>::size();
