// SPDX-License-Identifier: Apache-2.0
//
// Three stages for a schedule with two on each rank.
// expect: this kind of schedule takes a multiple of `stages_per_rank` stages

#include <twill/nn/linear.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return nn::linear(x, 6, "lower"); }
};
struct Middle {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 6, "middle"); }
};

int main() {
#ifdef MISUSE
  Pipeline<pipeline::ZeroBubbleV, Lower, Middle, Middle> model{{Cpu{0}, Cpu{1}}};
#else
  Pipeline<pipeline::ZeroBubbleV, Lower, Middle, Middle, Middle> model{{Cpu{0}, Cpu{1}}};
#endif
  return static_cast<int>(model.devices().size()) - 2;
}
