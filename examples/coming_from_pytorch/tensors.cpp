// SPDX-License-Identifier: Apache-2.0
//
// Devices, memory and tensors in twill, for readers who know PyTorch: the blocks of docs/coming_from_pytorch.md are regions of
// this file and of pytorch.py beside it.
// prints: 0 512 1024 1536
// prints: the operands are on cpu:0 and cpu:1
// prints: went on after running out of memory
// prints: 1200 bytes take 1280
// prints: (8+0j)
// prints: [100 -56  -1]43[3.125e-01 4.480e+02]
// prints: shared through DLPack: yes

#include <twill/device.hpp>
#include <twill/device/cuda/visible_devices.hpp>
#include <twill/expr.hpp>
#include <twill/memory.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/tensor.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <utility>

using namespace twill;

namespace {

void devices() {
  // region: devices
  for (int i = 0; i < device_count<Cpu>(); ++i) std::cout << to_string(Cpu{i}) << ": " << device_name(Cpu{i}) << '\n';
  {
    const DeviceGuard guard{Cpu{1}}; // until the end of the scope
    const Tensor x = zeros<float, Shape<3>>();
    std::cout << to_string(x.device()) << '\n'; // cpu:1
  }
  with_device("cpu:1", [](auto device) { set_device(device); }); // a name that is known at run time
  set_device(Cpu{0});
  // end region
}

void transfer() {
  // region: transfer
  const Tensor x = ones<float, Shape<2, 3>>(Cpu{0});
  const Tensor there = x.to(Cpu{1}); // a copy
  const Tensor same = x.to(Cpu{0});  // the same tensor
  const Tensor wide = x.to<double>();
  const Tensor back = there.cpu(0);
  // end region
  std::cout << to_string(there.device()) << ", shared: " << (same.data() == x.data()) << ", " << name(wide.dtype)
            << ", " << to_string(back.device()) << '\n';
}

void placement() {
  // region: placement
  const Tensor a = ones<float, Shape<3>>(Cpu{0});
  const Tensor b = ones<float, Shape<3>>(Cpu{1});
  try {
    const Tensor c = a + b; // on two kinds of device it would not compile
  } catch (const DeviceError& error) {
    std::cout << error.what() << '\n';
  }
  // end region
}

void like() {
  // region: like
  const Tensor x = rand<double, Shape<4>>(Cpu{1});
  const Tensor zeros_of_another_shape = new_zeros<Shape<2, 5>>(x); // double, on cpu:1
  const Tensor fives = new_full<Shape<dyn>>(x, Dims(7), 5.0);
  const Tensor ones_of_its_shape = ones_like(x);
  const Tensor floats_elsewhere = zeros_like<float>(x, Cpu{0});
  // end region
  std::cout << to_string(zeros_of_another_shape.shape()) << fives << ones_of_its_shape << floats_elsewhere << '\n';
}

void complex_numbers() {
  // region: complex
  const Tensor z = complex(ones<float, Shape<3>>(), arange<float>(3.0F)); // complex64
  const Tensor w = z * std::complex<float>{0, 1} + 2.0;
  const Tensor size = abs(w);         // float
  real(z) = zeros<float, Shape<3>>(); // a view, of the imaginary parts too
  const Tensor energy = vdot(w, w);   // conjugates the first
  // end region
  std::cout << size << energy << '\n';
  // region: small
  const Tensor bytes = tensor({100, 200, -1}).to<std::int8_t>();  // wraps: 100, -56, -1
  const Tensor total = sum(bytes);                                // int64
  const Tensor kept = tensor({0.3F, 500.0F}).to<float8_e4m3fn>(); // 0.3125 and the largest, 448
  // end region
  std::cout << bytes << total << kept.to<float>() << '\n';
}

void utilization() {
  // region: utilization
  std::cout << visible_devices() << '\n'; // CUDA_VISIBLE_DEVICES; set_visible_devices({2, 0}) before CUDA is first used
  profile::show_utilization();            // load and memory of each device
  // end region
}

void seeds() {
  // region: seeds
  manual_seed(Cpu{0}, 1); // one device
  manual_seed_all(1);     // all of them, of every kind
  const Tensor here = rand<float, Shape<5>>(Cpu{0});
  const Tensor there = rand<float, Shape<5>>(Cpu{1}); // the same numbers
  // end region
  std::cout << here << there << '\n';
}

void scalars() {
  const std::int64_t before = memory_allocated(Cpu{0});
  const auto allocated = [&] { return memory_allocated(Cpu{0}) - before; };
  // region: scalars
  std::cout << allocated() << ' ';
  const Tensor a = scalar(1.0F);
  std::cout << allocated() << ' ';
  const Tensor b = scalar(2.0F);
  std::cout << allocated() << ' ';
  const Tensor c = scalar(3.0F);
  std::cout << allocated() << '\n'; // 0 512 1024 1536
  // end region
}

void statistics() {
  // region: statistics
  const Cpu device{0};
  reset_peak_memory_stats(device);
  Tensor x = zeros<float, Shape<dyn>>(Dims(1'000'000));
  std::cout << memory_allocated(device) << " of " << memory_reserved(device) << " bytes, at most "
            << max_memory_allocated(device) << '\n';
  x.reset(); // freed; it would also be at the end of the scope
  empty_cache(device);
  std::cout << memory_summary(device);
  // end region
}

void out_of_memory() {
  // region: out_of_memory
  set_memory_limit(Cpu{1}, std::size_t{64} << 20);
  try {
    const Tensor x = empty<float, Shape<dyn>>(Dims(100'000'000), Cpu{1});
  } catch (const OutOfMemoryError& error) {
    std::cout << error.what() << '\n'; // asked, allocated, reserved, cached, free, total
  }
  const Tensor smaller = empty<float, Shape<dyn>>(Dims(1'000'000), Cpu{1});
  // end region
  std::cout << "went on after running out of memory: " << smaller.elements() << '\n';
}

void policies() {
  // region: policies
  using Pool = memory::Pool<Cpu::Upstream, memory::PowerOfTwoDivisions<4>, memory::SharedByMutex, memory::Untracked>;
  Pool own{"a pool of one's own", Cpu::Upstream{Cpu{0}}}; // what is not named is as in the devices' pools
  memory::Block* const block = own.allocate(1200);
  std::cout << "1200 bytes take " << own.current(memory::Quantity::allocated_bytes) << '\n'; // 1280
  own.release(block);
  // end region
}

void sharing() {
  const Tensor view = arange<float>(24.0F).reshape<Shape<4, 6>>()(all, slice{.step = 2});
  // region: dlpack
  auto managed = to_dlpack(view); // strides and all; who takes it calls its deleter
  const auto back = from_dlpack<Tensor<float, Cpu, Shape<4, dyn>>>(std::move(managed));
  // end region
  std::cout << "shared through DLPack: " << (back.data() == view.data() ? "yes" : "no") << '\n';
}

} // namespace

int main() {
  configure_host({.devices = 2, .threads_per_device = 1, .oversubscribe = true});
  devices();
  transfer();
  placement();
  like();
  complex_numbers();
  utilization();
  seeds();
  scalars();
  statistics();
  out_of_memory();
  policies();
  sharing();
}
