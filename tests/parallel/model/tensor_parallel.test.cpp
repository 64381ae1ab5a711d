// SPDX-License-Identifier: Apache-2.0
//
// Models divided among the ranks of one process: on any kind of host device the steps, the whole weights, the bytes of each
// rank and the number of calls are those expected; a rank that fails ends the call everywhere.

#include <twill/memory.hpp>
#include <twill/nn.hpp>
#include <twill/optim.hpp>
#include <twill/parallel/model/tensor_parallel.hpp>
#include <twill/training.hpp>

#include "tests/support/late_device.hpp"
#include "tests/support/message_of.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

/// Two halves of a block, each as wide as the other.
struct Whole {
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto first = nn::linear(tanh(nn::linear(x, 8, "wide1")), 6, "narrow1");
    return nn::linear(tanh(nn::linear(first, 8, "wide2")), 3, "narrow2");
  }
};

template <int N> struct Divided {
  using Ranks = RankAxis<"tensor", N>;
  static constexpr auto forward(Input<Dim<"batch">, 6> x) {
    const auto first = nn::row_linear<Ranks>(tanh(nn::column_linear<Ranks>(x, 8, "wide1")), 6, "narrow1");
    return nn::row_linear<Ranks>(tanh(nn::column_linear<Ranks>(first, 8, "wide2")), 3, "narrow2");
  }
};

const auto rule = optim::MomentumSgd{{.rate = 0.1, .momentum = 0.9}};

template <class D> Tensor<float, D, Shape<dyn, 6>> inputs(const D& device) {
  Tensor<float, Cpu, Shape<dyn, 6>> x(Cpu{0}, Dims(5, 6));
  for (std::int64_t i = 0; i < 30; ++i) x.data()[i] = std::sin(static_cast<float>(i));
  return x.to(device);
}
template <class D> Tensor<float, D, Shape<dyn, 3>> targets(const D& device) {
  Tensor<float, Cpu, Shape<dyn, 3>> y(Cpu{0}, Dims(5, 3));
  for (std::int64_t i = 0; i < 15; ++i) y.data()[i] = std::cos(static_cast<float>(i));
  return y.to(device);
}

void check_close(float a, float b) { CHECK(a == Approx(b).epsilon(1e-5).margin(4e-5)); }

/// The calls of groups in a program.
template <class Source> constexpr int calls_of(kernel::Collective collective) {
  int calls = 0;
  for (const compile::Instruction& instruction : compile::Compiled<Source>::view().instructions)
    calls += instruction.collective == collective ? 1 : 0;
  return calls;
}

} // namespace

TEMPLATE_TEST_CASE("four ranks of any kind of host device train one model", "[parallel][PAR-7][DEV-3]", Cpu, Late) {
  using D = TestType;
  std::vector<D> devices;
  for (int rank = 0; rank < 4; ++rank) devices.push_back(D{rank % D::count()});
  manual_seed_all(3);
  TensorParallel<Divided<4>, RankAxis<"tensor", 4>, D> model{devices, {.timeout_ms = 20'000}};
  nn::Network<Whole, Cpu> one{Cpu{0}};
  nn::load_state_dict(one, model.state_dict());

  const auto x = inputs(D{0});
  const auto y = targets(D{0});
  const auto output = model.infer(x).to(Cpu{0});
  const auto wanted = one.infer(inputs(Cpu{0}));
  synchronize(Cpu{0});
  for (std::int64_t i = 0; i < 15; ++i) check_close(output.data()[i], wanted.data()[i]);

  auto step = train_step(model, nn::mse, rule);
  auto step_of_one = train_step(one, nn::mse, rule);
  for (int i = 0; i < 5; ++i) check_close(step(x, y), step_of_one(inputs(Cpu{0}), targets(Cpu{0})).item());

  const nn::StateDict whole = model.state_dict();
  const nn::StateDict of_one = nn::state_dict(one);
  for (const auto& [name, tensor] : of_one.entries()) {
    CAPTURE(name);
    const nn::StoredTensor* const own = whole.find(name);
    REQUIRE(own != nullptr);
    REQUIRE(own->shape == tensor.shape);
    const auto* const a = reinterpret_cast<const float*>(own->bytes.data());
    const auto* const b = reinterpret_cast<const float*>(tensor.bytes.data());
    for (std::int64_t i = 0; i < tensor.shape.elements(); ++i) check_close(a[i], b[i]);
  }
  model.load_state_dict(of_one);
  const nn::StateDict again = model.state_dict();
  CHECK(std::equal(of_one.entries()[0].second.bytes.begin(), of_one.entries()[0].second.bytes.end(),
                   again.entries()[0].second.bytes.begin()));
}

TEST_CASE("each half of a block makes one call forward and one backward", "[parallel][PAR-7]") {
  using X = decltype(inputs(Cpu{0}));
  using Y = decltype(targets(Cpu{0}));
  using Network = nn::Network<Divided<2>, Cpu>;
  using Step = training::TrainStep<Network, std::remove_const_t<decltype(nn::mse)>, optim::MomentumSgd>;
  // Nobody wants the gradient of the first half's input.
  STATIC_REQUIRE(calls_of<Step::source<X, Y>>(kernel::Collective::all_reduce) == 3);
  STATIC_REQUIRE(calls_of<Network::Evaluation>(kernel::Collective::all_reduce) == 2);
}

TEST_CASE("a rank takes the bytes that a device without memory predicts", "[parallel][PAR-7][MEM-8]") {
  const auto peak = [](auto& network, const auto& x, const auto& y) {
    const auto device = network.device();
    auto step = train_step(network, nn::mse, rule);
    reset_peak_memory_stats(device);
    const std::int64_t before = memory_allocated(device);
    step(x, y);
    step(x, y);
    synchronize(device);
    return max_memory_allocated(device) - before;
  };
  nn::Network<Divided<2>, Meta> planned{Meta{0}};
  const std::int64_t predicted = peak(planned, Tensor<float, Meta, Shape<dyn, 6>>(Meta{0}, Dims(5, 6)),
                                      Tensor<float, Meta, Shape<dyn, 3>>(Meta{0}, Dims(5, 3)));
  TensorParallel<Divided<2>, RankAxis<"tensor", 2>, Late> model{{Late{0}, Late{1}}, {.timeout_ms = 20'000}};
  const std::vector x{inputs(Late{0}), inputs(Late{1})};
  const std::vector y{targets(Late{0}), targets(Late{1})};
  std::vector<std::int64_t> found(2);
  model.run([&](auto& network, int rank) {
    const auto own = static_cast<std::size_t>(rank);
    found[own] = peak(network, x[own], y[own]);
  });
  CHECK(found == std::vector<std::int64_t>{predicted, predicted});
}

TEST_CASE("a rank that fails ends the step everywhere", "[parallel][PAR-9]") {
  TensorParallel<Divided<2>, RankAxis<"tensor", 2>> model{{Cpu{0}, Cpu{0}}, {.timeout_ms = 20'000}};
  const auto x = inputs(Cpu{0});
  CHECK(test::message_of<ValueError>([&] {
          model.run([&](auto& network, int rank) {
            if (rank == 1) throw ValueError("no more");
            static_cast<void>(network.infer(x));
          });
        }) == "no more");
  CHECK(test::message_of<ValueError>([] {
          const TensorParallel<Divided<2>, RankAxis<"tensor", 2>> too_few{{Cpu{0}}};
        }) == "tensor_parallel: the axis 'tensor' has 2 ranks, got 1 devices");
}
