// SPDX-License-Identifier: Apache-2.0
//
// A stage that makes six features for rows, before one that declares seven.
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<7>
// expect: given<6>
// expect: stage<1>
// expect: takes<
// expect: model<Lower>
// expect: stage<0>
// expect: makes<

#include <twill/nn/linear.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return nn::linear(x, 6, "lower"); }
};
template <int Features> struct Upper {
  static constexpr auto forward(Input<Dim<"batch">, Features> x) { return nn::linear(x, 3, "upper"); }
};

int main() {
#ifdef MISUSE
  Pipeline<pipeline::GPipe, Lower, Upper<7>> model{{Cpu{0}, Cpu{1}}};
#else
  // region: pipeline
  Pipeline<pipeline::GPipe, Lower, Upper<6>> model{{Cpu{0}, Cpu{1}}};
  // end region
#endif
  return static_cast<int>(model.devices().size()) - 2;
}
