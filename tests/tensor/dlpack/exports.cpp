// SPDX-License-Identifier: Apache-2.0
//
// What exchange.py calls: a shared library with C functions that make managed tensors from twill's and take others in.

#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <cstdio>
#include <exception>

namespace {

using namespace twill;

template <class M> M* made(int type) {
  const auto as = [&]<class T>(T) {
    const auto x = arange<std::int32_t>(24).to<T>().template reshape<Shape<2, 3, 4>>();
    return to_dlpack<M>(x.template permute<2, 0, 1>()).release();
  };
  switch (type) {
  case 0:
    return as(bool{});
  case 1:
    return as(std::uint8_t{});
  case 2:
    return as(std::int32_t{});
  case 3:
    return as(std::int64_t{});
  case 4:
    return as(half{});
  case 5:
    return as(bfloat16{});
  case 6:
    return as(float{});
  default:
    return as(double{});
  }
}

/// The sum of a matrix, whose first element becomes -1 where it is shared; NaN, and a message, when it was refused.
template <class T, class M> double taken(M* managed) {
  try {
    const auto x = from_dlpack<Tensor<T, Cpu, Shape<dyn, 4>>>(managed);
    double sum = 0;
    for (const auto value : to_vector(x)) sum += static_cast<double>(value);
    x(0, 0) = static_cast<T>(-1);
    return sum;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    std::fflush(stdout);
    return 0.0 / 0.0;
  }
}

} // namespace

extern "C" {

void* export_plain(int type) { return made<dlpack::Managed>(type); }
void* export_versioned(int type) { return made<dlpack::ManagedVersioned>(type); }
void delete_plain(void* managed) { dlpack::Release{}(static_cast<dlpack::Managed*>(managed)); }
void delete_versioned(void* managed) { dlpack::Release{}(static_cast<dlpack::ManagedVersioned*>(managed)); }
long long bytes_in_use() { return static_cast<long long>(memory_allocated(Cpu{0})); }

double take_plain(void* managed) { return taken<float>(static_cast<dlpack::Managed*>(managed)); }
double take_versioned(void* managed) { return taken<float>(static_cast<dlpack::ManagedVersioned*>(managed)); }
double take_bfloat16(void* managed) { return taken<bfloat16>(static_cast<dlpack::ManagedVersioned*>(managed)); }

} // extern "C"
