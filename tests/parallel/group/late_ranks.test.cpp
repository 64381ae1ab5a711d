// SPDX-License-Identifier: Apache-2.0
//
// The communicator over a device kind whose memory only its own late stream may touch, and over tensors.

#include <twill/parallel/group/collectives.hpp>
#include <twill/parallel/threads/communicator.hpp>
#include <twill/parallel/threads/ranks.hpp>
#include <twill/tensor/tensor.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <stdexcept>

using namespace twill;
using namespace twill::parallel;
using twill::test::Late;

namespace {

template <class D> std::vector<ThreadCommunicator<D>> group_of(int ranks) {
  std::vector<D> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(D{rank % D::count()});
  return thread_communicators(devices, {.timeout_ms = 20'000});
}

template <class D> using Vector = Tensor<float, D, Shape<dyn>>;

template <class D> Vector<D> vector_of(const D& device, std::vector<float> values) {
  Vector<Cpu> host(Cpu{0}, Dims(static_cast<std::int64_t>(values.size())));
  std::copy(values.begin(), values.end(), host.data());
  return host.to(device);
}

template <class D> void require(const Vector<D>& x, const std::vector<float>& wanted, const char* what) {
  const auto host = x.to(Cpu{0});
  synchronize(Cpu{0});
  if (std::vector<float>(host.data(), host.data() + host.elements()) != wanted) throw std::logic_error(what);
}

} // namespace

TEMPLATE_TEST_CASE("collectives work on tensors of any kind of host device", "[parallel][PAR-4][DEV-3]", Cpu, Late) {
  using D = TestType;
  auto communicators = group_of<D>(3);
  run_ranks(communicators, [](auto& communicator) {
    const D device = communicator.device();
    const auto rank = static_cast<float>(communicator.rank());
    const auto x = vector_of(device, {rank, 1, 2 * rank});
    all_reduce(communicator, x);
    require(x, {3, 3, 6}, "all_reduce");

    const auto y = vector_of(device, {rank, -rank});
    reduce(communicator, y, 1, Reduction::max);
    require(y, communicator.rank() == 1 ? std::vector<float>{2, 0} : std::vector<float>{rank, -rank}, "reduce");

    const auto z = vector_of(device, {rank});
    broadcast(communicator, z, 2);
    require(z, {2}, "broadcast");

    const auto whole = vector_of(device, {0, 0, 0});
    all_gather(communicator, vector_of(device, {rank}), whole);
    require(whole, {0, 1, 2}, "all_gather");
    const auto part = vector_of(device, {0});
    reduce_scatter(communicator, whole, part);
    require(part, {3 * rank}, "reduce_scatter");

    const auto in = vector_of(device, {-1, -1});
    const auto out = vector_of(device, {rank, 7});
    auto sending = communicator.start(Call::send(elements(out), (communicator.rank() + 1) % 3));
    receive(communicator, in, (communicator.rank() + 2) % 3);
    sending.wait();
    require(in, {static_cast<float>((communicator.rank() + 2) % 3), 7}, "send and receive");

    const auto bucket = vector_of(device, std::vector<float>(1000, rank));
    auto reducing = communicator.start(Call::all_reduce(elements(bucket)));
    reducing.wait();
    require(bucket, std::vector<float>(1000, 3), "a started all_reduce");
  });
}

TEST_CASE("a collective comes after the kernels that were given to the device before", "[parallel][DEV-8]") {
  auto communicators = group_of<Cpu>(2);
  run_ranks(communicators, [](auto& communicator) {
    const Cpu device = communicator.device();
    const auto x = vector_of(device, {0});
    auto slow = submit(device, [data = x.data()] {
      // Real time, since a device's stream is in no simulation: a call that does not wait for it is done long before. No check
      // depends on how long this takes.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *data = 5;
    });
    all_reduce(communicator, x);
    slow.wait();
    require(x, {static_cast<float>(5 * communicator.size())}, "the kernel was overtaken");
  });
}

TEST_CASE("a tensor on another device than its communicator's is refused", "[parallel][DEV-4]") {
  auto communicators = group_of<Late>(2);
  const auto x = vector_of(Late{0}, {1, 2});
  CHECK_THROWS_WITH(all_reduce(communicators[1], x), Catch::Contains("late:1") && Catch::Contains("late:0"));
}
