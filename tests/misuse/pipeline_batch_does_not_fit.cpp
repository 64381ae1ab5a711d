// SPDX-License-Identifier: Apache-2.0
//
// Rows of four features for a pipeline whose first stage declares five.
// expect: input_has_another_extent_than_the_model_declares
// expect: declared<5>
// expect: given<4>

#include <twill/nn/linear.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

using namespace twill;

struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 5> x) { return nn::linear(x, 6, "lower"); }
};
struct Upper {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "upper"); }
};

int main() {
  Pipeline<pipeline::GPipe, Lower, Upper> model{{Cpu{0}, Cpu{1}}};
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{}, {.micro_batches = 2});
#ifdef MISUSE
  const Tensor<float, Cpu, Shape<dyn, 4>> x(Cpu{0}, Dims(8, 4));
#else
  const Tensor<float, Cpu, Shape<dyn, 5>> x(Cpu{0}, Dims(8, 5));
#endif
  const Tensor<std::int64_t, Cpu, Shape<dyn>> labels(Cpu{0}, Dims(8));
  return step(x, labels) > 0 ? 0 : 1;
}
