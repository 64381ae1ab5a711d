#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A program that is built for GPUs and has none, or does not use them: its host parts run, no device is touched, and who asks
// for one is told. These cases need no device. [DEV-1, DEV-6]

#include <tests/support/suite.hpp>

#include <twill/device/names.hpp>
#include <twill/expr.hpp>
#include <twill/memory/gpu/pinned.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>
#include <twill/tensor/gpu/pin_memory.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace hosts_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;

std::vector<bool> devices_in_use() {
  std::vector<bool> in_use{};
  for (int index = 0; index < D::count(); ++index) in_use.push_back(gpu::is_in_use(D{index}));
  return in_use;
}

void host_work_uses_no_gpu() {
  const auto before = devices_in_use();
  const auto x = full<float, Shape<3>>(2.0F, Cpu{0});
  const auto y = eval(x * 3.0F + 1.0F);
  require_equal(y[2].item(), 7.0F);
  require_equal(with_device("cpu:0", [](const auto& device) { return to_string(device); }), std::string{"cpu:0"});
  require_equal(is_available<D>(), D::count() > 0);
  require_equal(device_count<D>(), D::count());
  for (int index = 0; index < D::count(); ++index) {
    require(is_available(D{index}));
    require_equal(to_string(D{index}), std::string{D::kind} + ":" + std::to_string(index));
    if (!before[static_cast<std::size_t>(index)]) {
      require_equal(memory_allocated(D{index}), std::int64_t{0});
      require_equal(empty_cache(D{index}), std::size_t{0});
      synchronize(D{index});
    }
  }
  manual_seed_all(4);
  require(devices_in_use() == before);
}
const Case untouched{"work on hosts, and asking what GPUs there are, uses none", &host_work_uses_no_gpu,
                     Needs::nothing};

void absent_gpus_are_told() {
  if (D::count() > 0) return; // the other cases
  const std::string kind{D::kind};
  const std::string none = "there is no " + kind + ":0; this process has no " + kind + " devices";
  require(!is_available(D{0}));
  require_throws<DeviceError>([] { Tensor<float, D, Shape<2>> x(D{0}); }, "memory: " + none);
  require_throws<DeviceError>([] { launch(D{0}, [](const auto&) {}); }, "device: " + none);
  require_throws<DeviceError>([] { (void)pinned_empty<D, float, Shape<2>>(Dims(2)); }, "pinned_empty: " + none);
  require_throws<DeviceError>([] { DeviceGuard guard{D{0}}; }, "set_device: " + none);
}
const Case told{"a program without a GPU is told so when it asks for one", &absent_gpus_are_told, Needs::nothing};

/// For functions of all kinds of devices the names of CUDA's are known once <twill/cuda.cuh> is included.
void cuda_devices_are_named() {
  if (D::kind != "cuda") return;
  bool is_met = false;
  const auto meet = [&](const auto& device) { is_met = std::same_as<decltype(device), const D&>; };
  if (D::count() > 0) {
    with_device("cuda", meet);
    require(is_met);
  } else {
    require_throws<DeviceError>([&] { with_device("cuda:0", meet); },
                                "with_device: there is no cuda:0; this process has no cuda devices");
  }
  with_device("meta", meet);
  require(!is_met);
  require_throws<DeviceError>([&] { with_device("tpu", meet); }, "the kinds are \"cpu\", \"cuda\", \"meta\"");
}
const Case named{"CUDA devices are known by name where CUDA is", &cuda_devices_are_named, Needs::nothing};

}} // namespace hosts_suite
