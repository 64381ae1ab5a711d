// SPDX-License-Identifier: Apache-2.0
//
// Every sort of statement over the late kind of device, whose memory traps when anybody but its own stream touches it: the
// same statements give the bits that they give on `Cpu`.

#include "tests/support/late_device.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace twill;
using twill::test::Late;

namespace {

/// The results of many statements, one behind another, on the host.
class Collected {
public:
  template <class X> void add(const X& tensor) {
    for (double number : twill::test::numbers(tensor)) numbers.push_back(number);
  }
  std::vector<double> numbers{};
};

/// The same numbers on any device.
template <class D> auto matrix(D device, std::uint64_t seed) {
  manual_seed(Cpu{0}, seed);
  return randn<float, Shape<dyn, dyn>>(Dims(37, 53), Cpu{0}).to(device);
}

template <class F> void check_both_kinds(const F& statements) {
  const auto run = [&](auto device) {
    Collected results{};
    statements(device, results);
    return results.numbers;
  };
  const std::vector<double> here = run(Cpu{0});
  CHECK(!here.empty());
  CHECK(run(Late{1}) == here);
}

} // namespace

TEST_CASE("elementwise statements of any layout run on a late device", "[expr][DEV-3]") {
  check_both_kinds([](auto device, Collected& results) {
    const auto a = matrix(device, 1);
    const auto b = matrix(device, 2);
    const auto row = eval(a[0] * 2);
    results.add(eval(tanh(a * b + row) - exp(-abs(b))));
    results.add(eval(a.transpose() + b.transpose() * 0.5));
    results.add(eval(where(a > b, a, 0.25)));
    results.add(eval(cast<std::int32_t>(a * 10) % 7));
    results.add(eval(a(all, slice{.step = -2}) / (b(all, slice{.step = 2}) + 10)));
    results.add(eval(cast<half>(a) + cast<bfloat16>(b)));
  });
}

TEST_CASE("in-place statements and writes through views run on a late device", "[expr][DEV-3]") {
  check_both_kinds([](auto device, Collected& results) {
    auto a = matrix(device, 3);
    const auto b = matrix(device, 4);
    a += b;
    a[slice{1, 37}] -= a[slice{0, 36}]; // reads what it writes
    a(all, 0) = b(all, 1) * 3;
    a[2].fill(0.5F);
    a(slice{.step = 2}, slice{0, 5}) *= 2;
    results.add(a);
    a = a * a;
    results.add(a);
  });
}

TEST_CASE("every form of reduction runs on a late device", "[expr][DEV-3]") {
  check_both_kinds([](auto device, Collected& results) {
    const auto a = matrix(device, 5);
    const auto cube = eval(a.reshape(37, 53, 1) * a.reshape(37, 1, 53));
    results.add(eval(sum(a)));
    results.add(eval(mean<1>(a * 2)));
    results.add(eval(max<0>(a)));
    results.add(eval(mean<0>(a - 1)));
    results.add(eval(sum<0, 2>(cube)));
    results.add(eval(sum<1>(cube)));
    results.add(eval(var<1>(a, keepdims)));
    results.add(eval(argmax<1>(a)));
    results.add(eval(argmin<0>(a)));
    results.add(eval(any<0>(a > 2)));
    results.add(eval(exp(a - max<1>(a, keepdims)) / sum<1>(exp(a - max<1>(a, keepdims)), keepdims)));
    results.add(eval(sum<0>(a) * 2 + max<0>(a)));
    results.add(eval(prod(a[0]) + min(a)));
    results.numbers.push_back(sum(a * a).item());
  });
}

TEST_CASE("matrix products of any size and layout run on a late device", "[expr][DEV-3]") {
  check_both_kinds([](auto device, Collected& results) {
    const auto a = matrix(device, 6);
    results.add(eval(matmul(a, a.transpose())));
    results.add(eval(matmul(a[slice{0, 3}], a.transpose() * 0.5)));
    results.add(eval(matmul(a[0], a[1])));
    results.add(eval(matmul(a, a[1])));
    results.add(eval(matmul(a.reshape(37, 1, 53), a.reshape(37, 53, 1))));
  });
}

TEST_CASE("tensors are made, copied, viewed and brought back on a late device", "[tensor][DEV-2][DEV-3]") {
  check_both_kinds([](auto device, Collected& results) {
    const auto a = matrix(device, 7);
    const auto b = empty_like(a);
    b.copy_from(a);
    results.add(b);
    b.transpose().copy_from(a.transpose().clone());
    results.add(b);
    results.add(a.template to<double>());
    results.add(a.template to<std::int32_t>().transpose().contiguous());
    results.add(a.cpu().to(device)(slice{.step = 3}, -1));
    results.add(new_full<Shape<3>>(a, 2.5F));
    results.add(arange(5.0, device));
    auto other = device;
    other.index = 1 - device.index;
    results.add(a.to(other).to(device).transpose());
  });
}
