// SPDX-License-Identifier: Apache-2.0
//
// Pipelines outside of training against one network: results, what is kept, ranks that are alone; and what differs between the
// two modes: dropout, and run-time numbers of single stages.
#include "tests/support/four_devices.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/training/models.hpp"

#include <twill/memory/statistics.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/parallel/pipeline/model/balance.hpp>
#include <twill/parallel/pipeline/model/state.hpp>
#include <twill/parallel/pipeline/run/inference.hpp>
#include <twill/parallel/pipeline/run/step.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using graph::Value;

/// Three stages, dropout in two of them; what the first makes skips the second.
struct Noisy {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value low = nn::stage_boundary(nn::dropout(tanh(nn::linear(x, 6, "lower")), 0.5, "early"));
    const Value middle = nn::stage_boundary(nn::dropout(tanh(nn::linear(low, 6, "middle")), 0.25, "late"));
    return nn::linear(tanh(middle) + low, 3, "head");
  }
};

/// Two stages with batch norms, whose traces differ between the modes.
struct Normed {
  static constexpr Value forward(Input<Dim<"batch">, 5> x) {
    const Value low = nn::stage_boundary(tanh(nn::batch_norm(nn::linear(x, 6, "lower"), "first")));
    return nn::linear(nn::dropout(tanh(nn::batch_norm(nn::linear(low, 6, "middle"), "second")), 0.5), 3, "head");
  }
};
template <class S, class C> using Stages = pipeline::BasicPipeline<S, double, Cpu, C>;
using Noise = Stages<pipeline::OneForwardOneBackward, pipeline::Cut<Noisy>>;

template <class A, class B> double difference(const A& a, const B& b) {
  REQUIRE(a.shape() == b.shape());
  const auto left = a.cpu();
  const auto right = b.cpu();
  double worst = 0;
  for (std::int64_t i = 0; i < left.shape().elements(); ++i)
    worst = std::fmax(worst, std::fabs(left.data()[i] - right.data()[i]));
  return worst;
}

/// Any width, before a stage that takes six.
struct AnyWidth {
  static constexpr Value forward(Input<Dim<"batch">, Dim<"width">> x) { return tanh(x); }
};
struct SixWide {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) { return nn::linear(x, 3, "head"); }
};

TEST_CASE("a result that the next stage does not take is refused with both stages and shapes", "[parallel][PAR-6]") {
  pipeline::BasicPipeline<pipeline::GPipe, double, Cpu, AnyWidth, SixWide> pipe{{Cpu{0}, Cpu{1}}};
  const auto fits = zeros<double, Shape<dyn, dyn>>(Dims(4, 6));
  const auto differs = zeros<double, Shape<dyn, dyn>>(Dims(4, 5));
  CHECK(pipeline::inference(pipe)(fits).shape() == Dims(4, 3));
  CHECK_THROWS_WITH(pipeline::inference(pipe, {.micro_batches = 2})(differs),
                    "pipeline: stage 0 (AnyWidth) makes (2, 5) of a micro-batch, stage 1 (SixWide) takes (2, 6)");
}

TEST_CASE("a pipeline infers what one network does, for any number of micro-batches", "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  nn::Network<Normed, Cpu, double> whole{Cpu{0}};
  for (std::uint64_t i = 0; i < 3; ++i) static_cast<void>(whole.forward(random_rows<double, 5>(Cpu{0}, 12, i)));
  const auto x = random_rows<double, 5>(Cpu{0}, 11, 9);
  const auto expected = whole.infer(x);

  Stages<pipeline::GPipe, pipeline::Cut<Normed>> marked{{Cpu{0}, Cpu{1}}};
  pipeline::load_state_dict(marked, nn::state_dict(whole));
  Stages<pipeline::Interleaved<2>, pipeline::Balanced<Normed, 4>> balanced{{Cpu{0}, Cpu{1}}};
  pipeline::load_state_dict(balanced, nn::state_dict(whole));
  for (const int micro_batches : {1, 4, 11, 20}) {
    INFO(micro_batches << " micro-batches");
    CHECK(difference(pipeline::inference(marked, {.micro_batches = micro_batches})(x), expected) < 1e-12);
    CHECK(difference(pipeline::inference(balanced, {.micro_batches = micro_batches})(x), expected) < 1e-12);
  }
  CHECK(pipeline::inference(marked)(random_rows<double, 5>(Cpu{0}, 0)).shape() == Dims(0, 3));
  const nn::StateDict state = pipeline::state_dict(marked); // running statistics are left alone
  const nn::StateDict given = nn::state_dict(whole);
  for (const auto& [name, tensor] : given.entries()) {
    INFO(name);
    CHECK(std::ranges::equal(state.find(name)->bytes, tensor.bytes));
  }
}

TEST_CASE("inference keeps nothing of a micro-batch", "[parallel][PAR-6]") {
  Stages<pipeline::GPipe, pipeline::Cut<Normed>> pipe{{Cpu{0}, Cpu{1}}};
  auto step = pipeline::inference(pipe, {.micro_batches = 4});
  auto twice = pipeline::inference(pipe, {.micro_batches = 8});
  const auto x = random_rows<double, 5>(Cpu{0}, 4 * 50);
  const auto longer = random_rows<double, 5>(Cpu{0}, 8 * 50);
  const auto peak_of = [](auto& infer, const auto& batch, int device) {
    const std::int64_t before = memory_allocated(Cpu{device});
    reset_peak_memory_stats(Cpu{device});
    static_cast<void>(infer(batch));
    CHECK(memory_allocated(Cpu{device}) == before);
    return max_memory_allocated(Cpu{device}) - before;
  };
  CHECK(peak_of(twice, longer, 0) == peak_of(step, x, 0));
  CHECK(peak_of(twice, longer, 1) == peak_of(step, x, 1) + 9728 - 5120); // the result: 3 doubles for each of 400 rows
}

TEST_CASE("ranks that are alone infer together, and the result is where it is wanted", "[parallel][PAR-7]") {
  INFO("seed " << test_seed());
  manual_seed(Cpu{0}, 7);
  nn::Network<Noisy, Cpu, double> whole{Cpu{0}};
  manual_seed(Cpu{0}, 7);
  const RandomDraw draw = generator(Cpu{0}).next();
  const auto x = random_rows<double, 5>(Cpu{0}, 7);
  const auto expected = whole.infer(x);
  std::vector<double> worst(3, 1);
  std::vector<std::int64_t> elements(3, -1);
  auto world = parallel::thread_communicators(std::vector<Cpu>{Cpu{0}, Cpu{1}, Cpu{0}}, {.timeout_ms = 60000});
  parallel::run_ranks(world, [&](auto& member) {
    Noise pipe{member.device(), member.rank(), draw};
    const auto rank = static_cast<std::size_t>(member.rank());
    worst[rank] =
        difference(pipeline::inference(pipe, member, {.micro_batches = 3, .is_result_everywhere = true})(x), expected);
    elements[rank] = pipeline::inference(pipe, member, {.micro_batches = 3})(x).shape().elements();
  });
  for (const double difference : worst) CHECK(difference < 1e-12);
  CHECK(elements == std::vector<std::int64_t>{0, 0, 21});
}

TEST_CASE("results that are not those of rows are refused with several micro-batches", "[parallel][PAR-6]") {
  struct Mean {
    static constexpr Value forward(Input<Dim<"batch">, 5> x) {
      return mean(nn::linear(nn::stage_boundary(nn::linear(x, 2, "first")), 3, "second"), {0});
    }
  };
  Stages<pipeline::GPipe, pipeline::Cut<Mean>> pipe{{Cpu{0}, Cpu{1}}};
  const auto x = random_rows<double, 5>(Cpu{0}, 8);
  CHECK(pipeline::inference(pipe)(x).shape() == Dims(3));
  CHECK_THROWS_WITH(
      pipeline::inference(pipe, {.micro_batches = 2})(x),
      "inference: the model makes (3,) of 4 rows and (3,) of all; take one micro-batch where results are not "
      "those of rows");
}

// ---- modes and numbers ----------------------------------------------------------------------------------------------
TEST_CASE("a pipeline drops what one network drops, and each stage may have numbers of its own", "[parallel][PAR-6]") {
  INFO("seed " << test_seed());
  manual_seed(Cpu{0}, 7);
  nn::Network<Noisy, Cpu, double> whole{Cpu{0}};
  manual_seed(Cpu{0}, 7);
  Noise pipe{{Cpu{0}, Cpu{1}, Cpu{0}}};
  const auto x = random_rows<double, 5>(Cpu{0}, 10);
  const auto labels = random_labels(Cpu{0}, 10, 3);
  auto step = train_step(pipe, nn::cross_entropy, optim::Sgd{{.rate = 0.1}}, {.micro_batches = 4});
  const auto compare = [&] {
    manual_seed(Cpu{0}, 11);
    whole.zero_grad();
    const auto loss = nn::cross_entropy(whole.forward(x), labels);
    loss.backward();
    manual_seed(Cpu{0}, 11);
    CHECK(step.gradients(x, labels) == Approx(loss.item()).epsilon(1e-12));
    for (const auto& given : whole.parameters())
      pipe.for_each_stage([&](auto& network) {
        for (const auto& own : network.parameters())
          for (std::size_t i = 0; own.name == given.name && i < given.buffer.bytes() / sizeof(double); ++i)
            CHECK(static_cast<const double*>(own.gradient.data())[i] ==
                  Approx(static_cast<const double*>(given.gradient.data())[i]).margin(1e-12));
      });
    return loss.item();
  };
  const double noisy = compare();
  pipe.template stage<1>().set("late", 0); // its own alone
  whole.set("late", 0);
  CHECK(compare() != noisy);
  pipe.set("early", 0);
  whole.set("early", 0);
  const double quiet = compare();
  pipe.set("early", 0.75);
  pipe.eval();
  CHECK(step.gradients(x, labels) == Approx(quiet).epsilon(1e-12));
  pipe.train();
  CHECK(step.gradients(x, labels) != Approx(quiet).epsilon(1e-12));
  CHECK_THROWS_WITH(pipe.set("rate", 1), Catch::Contains("there is no run-time number 'rate'; there are: early"));
}

} // namespace
