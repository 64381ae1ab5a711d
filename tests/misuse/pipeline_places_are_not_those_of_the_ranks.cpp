// SPDX-License-Identifier: Apache-2.0
//
// Kinds of devices for three ranks, where the pipeline has two.
// expect: twill: pipeline: `On` names a kind of device for each rank

#include <twill/nn/linear.hpp>
#include <twill/parallel/pipeline/model/pipeline.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct First {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) { return nn::linear(x, 6, "first"); }
};
struct Second {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "second"); }
};

#ifdef MISUSE
using Places = pipeline::On<Cpu, Meta, Cpu>;
#else
using Places = pipeline::On<Cpu, Meta>;
#endif

using Staged = pipeline::BasicPipeline<pipeline::GPipe, float, Places, First, Second>;
static_assert(Staged::ranks == 2);
