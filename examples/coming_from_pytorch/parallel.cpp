// SPDX-License-Identifier: Apache-2.0
//
// Several devices in twill, for readers who know PyTorch: blocks of docs/coming_from_pytorch.md and docs/parallel.md are regions
// of this file, PyTorch's side is in pytorch.py beside it. Two devices train the stages of a pipeline, share out a tensor, and
// one of two ranks stays away.
// prints: the loss fell: yes
// prints: scattered and gathered: the same
// prints: barrier: missing after 200 ms: rank 1 on cpu:1 (before its first collective call)

#include <twill/expr.hpp>
#include <twill/nn/activations.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/data/scatter.hpp>
#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/pipeline/run/inference.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/simulate.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/tensor/random.hpp>

#include <iostream>
#include <vector>

using namespace twill;

// region: stages
struct Lower {
  static constexpr auto forward(Input<Dim<"batch">, 32> x) { return relu(nn::linear(x, 64, "lower")); }
};
struct Upper {
  static constexpr auto forward(Input<Dim<"batch">, 64> x) { return nn::linear(x, 4, "upper"); }
};
// end region

// region: simulate
using Schedule = pipeline::OneForwardOneBackward;
// two ranks, four micro-batches: complete, in order, free of deadlock
static_assert(pipeline::verified<Schedule, 2, 4>);
constexpr double bubble = pipeline::simulate(pipeline::table<Schedule>(2, 4), pipeline::UniformCost{}).bubble();
static_assert(bubble == 3); // where each pass takes a unit of time, (p - 1)(F + B)
// end region

int main() {
  configure_host({.devices = 2, .threads_per_device = 1, .oversubscribe = true});
  manual_seed_all(1);
  const Tensor x = randn<float, Shape<dyn, 32>>(Dims(64, 32));
  const Tensor label = argmax<1>(x(all, slice{0, 4}));

  // region: pipeline
  Pipeline<Schedule, Lower, Upper> model{{Cpu{0}, Cpu{1}}}; // what Lower makes is compared with what Upper takes
  auto step = train_step(model, nn::cross_entropy, optim::Sgd{{.rate = 0.2}},
                         {.micro_batches = 4, .checkpointing = pipeline::Checkpointing::except_last});
  const double before = step(x, label).item(); // a thread for each rank; the loss of all rows
  double after = before;
  for (int i = 0; i < 100; ++i) after = step(x, label).item();
  // end region
  std::cout << "loss " << before << ", then " << after << "; the loss fell: " << (after < before ? "yes" : "no")
            << '\n';

  // region: inference
  auto infer = pipeline::inference(model, {.micro_batches = 4});
  const Tensor scores = infer(x); // on the device of the last stage
  // end region
  std::cout << "scores of shape " << to_string(scores.shape()) << " on " << to_string(scores.device()) << '\n';

  // region: scatter
  const auto pieces = parallel::scatter<1>(x, std::vector{Cpu{0}, Cpu{1}}); // columns 0 to 15, columns 16 to 31
  const Tensor whole = parallel::gather<1>(pieces, Cpu{0});
  // end region
  const bool is_same = max(abs(whole - x)).item() == 0;
  std::cout << "scattered and gathered: " << (is_same ? "the same" : "another tensor") << '\n';

  // region: timeout
  auto ranks = parallel::thread_communicators(std::vector{Cpu{0}, Cpu{1}}, {.timeout_ms = 200});
  try {
    parallel::barrier(ranks[0]);                  // rank 1 does not come
  } catch (const parallel::TimeoutError& error) { // error.rank() is 1
    std::cout << error.what() << '\n';
  }
  // end region
  return is_same && after < before ? 0 : 1;
}
