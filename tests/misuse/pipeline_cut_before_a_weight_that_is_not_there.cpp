// SPDX-License-Identifier: Apache-2.0
//
// A model cut before a layer that it does not have.
// expect: model_has_no_weight_before_which_it_is_to_be_cut
// expect: "uper."

#include <twill/nn/linear.hpp>
#include <twill/parallel/pipeline/model/cut.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct Model {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) {
    return nn::linear(tanh(nn::linear(x, 6, "lower")), 3, "upper");
  }
};

int main() {
#ifdef MISUSE
  Pipeline<pipeline::GPipe, pipeline::CutBefore<Model, "uper.">> model{{Cpu{0}}};
#else
  Pipeline<pipeline::GPipe, pipeline::CutBefore<Model, "upper.">> model{{Cpu{0}, Cpu{1}}};
#endif
  return static_cast<int>(model.devices().size()) - 2;
}
