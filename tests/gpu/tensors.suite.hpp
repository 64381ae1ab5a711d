#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensors on a GPU: they move, their results stay where their operands are, and what is made like them lies beside them.
// [DEV-2, DEV-4, DEV-5]

#include "examples/support/staged_copies.hpp"

#include <tests/support/suite.hpp>

#include <twill/expr.hpp>
#include <twill/memory/gpu/capture.hpp>
#include <twill/memory/gpu/stream.hpp>
#include <twill/tensor.hpp>
#include <twill/tensor/gpu/dlpack.hpp>
#include <twill/tensor/gpu/pin_memory.hpp>

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tensors_suite { namespace {

using namespace twill;
using namespace twill::test;
using D = TestedDevice;

template <class T, class Device, class S>
void require_values(const Tensor<T, Device, S>& x, std::initializer_list<std::type_identity_t<T>> values) {
  const auto here = x.cpu().contiguous();
  require_equal(here.elements(), static_cast<std::int64_t>(values.size()));
  std::size_t i = 0;
  for (const T value : values) require_equal(here.data()[i++], value);
}

Tensor<float, Cpu, Shape<dyn>> numbers(std::int64_t count) {
  Tensor<float, Cpu, Shape<dyn>> x(Cpu{0}, Dims(count));
  for (std::int64_t i = 0; i < count; ++i) x.data()[i] = static_cast<float>(i);
  return x;
}

void tensors_move() {
  const auto x = numbers(5);
  const auto y = x.to(D{0});
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(y)>, Tensor<float, D, Shape<dyn>>>);
  require(y.device() == D{0});
  require(y.to(D{0}).data() == y.data()); // nothing changes
  require(y.to<float>().data() == y.data());
  require_values(y, {0, 1, 2, 3, 4});
  require_values(y.to<std::int32_t>(), {0, 1, 2, 3, 4});
  require_values(x.cuda<D>(), {0, 1, 2, 3, 4});
  require(x.cuda<D>().device() == current_device<D>());
  const D last{D::count() - 1};
  require(y.cuda<D>(last.index).device() == last);
  require_values(y.cuda<D>(last.index), {0, 1, 2, 3, 4});
  require_values(y[slice{.step = 2}].to(last), {0, 2, 4}); // strided
  require_values(y[slice{.step = 2}].cpu(), {0, 2, 4});
  require_values(y[slice{1, 1}].cpu(), {});
  require_equal(y[3].item(), 3.0F);
  Tensor<float, Cpu, Shape<dyn>> z(Cpu{0}, Dims(5));
  z.copy_from(y);
  require_values(z, {0, 1, 2, 3, 4});
  const auto meta = y.to(Meta{});
  require_equal(meta.size(0), std::int64_t{5});
}
const Case move{"tensors move to a GPU, between GPUs and back", &tensors_move};

void results_stay() {
  const D last{D::count() - 1};
  const auto x = numbers(4).to(last);
  const auto y = eval(x * 2.0F + x);
  require(y.device() == last);
  require_values(y, {0, 3, 6, 9});
  require(sum(x).item() == 6.0F);
  if (D::count() > 1)
    require_throws<DeviceError>([&] { const auto z = eval(x + numbers(4).to(D{0})); }, to_string(last));
}
const Case stay{"results lie on the GPU of their operands", &results_stay};

void likes_stay() {
  const D last{D::count() - 1};
  const auto x = numbers(3).to(last);
  const auto zeros_beside = zeros_like(x);
  require(zeros_beside.device() == last);
  require_values(zeros_beside, {0, 0, 0});
  require_values(ones_like(x), {1, 1, 1});
  require_values(full_like(x, 7.0F), {7, 7, 7});
  require(empty_like(x).device() == last);
  require_values(x.clone(), {0, 1, 2});
}
const Case like{"what is made like a tensor lies beside it", &likes_stay};

void batches_are_prefetched() {
  // two pinned buffers in turn, copied on a stream of their own beside the work on the batch before
  const gpu::Stream<D> copying{D{0}};
  constexpr std::int64_t rows = 1000;
  float total = 0;
  for (int batch = 0; batch < 6; ++batch) {
    const auto staged = pinned_empty<D, float, Shape<dyn>>(Dims(rows));
    for (std::int64_t i = 0; i < rows; ++i) staged.data()[i] = static_cast<float>(batch);
    Tensor<float, D, Shape<dyn>> x{};
    D::Event copied{};
    {
      const StreamGuard<D> guard{D{0}, copying.handle()};
      x = staged.to(D{0}, {.non_blocking = true});
      copied = record(D{0});
    }
    wait(D{0}, copied);
    memory::Buffer<D> storage = x.storage();
    storage.record_stream(current_queue(D{0}).stream());
    total += sum(x).item();
  }
  require_equal(total, 15.0F * static_cast<float>(rows));
}
const Case prefetch{"pinned batches are copied on a stream of their own", &batches_are_prefetched};

void example_adds_batches() {
  std::vector<Tensor<float, Cpu, Shape<dyn>>> batches{};
  for (int i = 1; i <= 5; ++i) batches.push_back(full<float, Shape<dyn>>(Dims(1000), static_cast<float>(i)));
  require_equal(examples::sum_of(batches, D{0}), 15'000.0F);
}
const Case example{"the guide's copies beside the work on earlier batches lose nothing", &example_adds_batches};

void consumers_wait() {
  using X = Tensor<float, D, Shape<dyn>>;
  const gpu::Stream<D> other{D{0}};
  const X x(D{0}, Dims(1021));
  x.fill(1.0F);
  {
    auto managed = to_dlpack(x, other.handle()); // while the kernel has not run
    require(managed->dl_tensor.data == x.data() && managed->dl_tensor.device.device_id == 0);
    require_throws<DeviceError>([&] { static_cast<void>(from_dlpack<Tensor<float, Cpu, Shape<dyn>>>(managed.get())); },
                                "and the tensor has to be on cpu:0");
    const StreamGuard<D> guard{D{0}, other.handle()};
    const auto there = from_dlpack<X>(std::move(managed));
    require(there.data() == x.data() && there.device() == D{0});
    require_equal(there[1020].item(), 1.0F);
    there.fill(2.0F);
  }
  // the work of the other stream is done as far as twill's stream can tell, once it was told of that stream
  const auto back = from_dlpack<X>(to_dlpack<dlpack::Managed>(x).release(), D{0}, other.handle());
  require_equal(back[7].item(), 2.0F);
  require(clone_dlpack<X>(to_dlpack(x).release(), D{0})[7].item() == 2.0F);
}
const Case consumers{"a consumer's stream waits for the producer's, both ways of DLPack", &consumers_wait};

void consumers_need_not_wait() {
  using X = Tensor<float, D, Shape<dyn>>;
  using R = D::Runtime;
  constexpr std::int64_t count = 1021;
  R::Stream own{}; // of which twill knows only what it is told here
  require_equal(R::use_device(0), 0);
  require_equal(R::create_stream(&own), 0);
  const X result(D{0}, Dims(count));
  enum class Names { handle, nothing, number };
  for (const Names names : {Names::handle, Names::nothing, Names::number})
    for (int round = 1; round < 4; ++round) {
      X x(D{0}, Dims(count));
      x.fill(static_cast<float>(round));
      const dlpack::StreamNumber number{std::bit_cast<std::int64_t>(own)};
      auto managed = names == Names::handle    ? to_dlpack(x, own)
                     : names == Names::nothing ? to_dlpack(x)
                                               : to_dlpack(x, number);
      const R::Stream works_on = names == Names::nothing ? R::Stream{} : own;
      x.reset();
      require_equal(R::copy(result.data(), managed->dl_tensor.data, count * sizeof(float), works_on), 0);
      managed.reset();                 // with the copy under way
      const X next(D{0}, Dims(count)); // there
      next.fill(-1.0F);
      synchronize(D{0});
      require_equal(R::synchronize_stream(works_on), 0);
      require_equal(result[count - 1].item(), static_cast<float>(round));
    }
  forget_stream(D{0}, own);
  require_equal(R::destroy_stream(own), 0);
}
const Case need_not{"a consumer gives memory back while its stream still reads", &consumers_need_not_wait};

void streams_have_numbers() {
  const Tensor<float, D, Shape<dyn>> x(D{0}, Dims(100));
  x.fill(3.0F);
  const auto written = record(D{0});
  const auto unordered = to_dlpack(x, dlpack::StreamNumber{-1});
  require(std::string_view{D::kind} != "emulated" || !written.is_complete()); // nobody has waited
  require_throws<ValueError>([&] { static_cast<void>(to_dlpack(x, dlpack::StreamNumber{0})); }, "passed stream 0");
  require_throws<ValueError>([&] { static_cast<void>(to_dlpack(x, dlpack::StreamNumber{-2})); }, "passed stream -2");
  static_cast<void>(to_dlpack(x, dlpack::StreamNumber{}));
  require(written.is_complete());
  const auto ordered = to_dlpack(x, dlpack::StreamNumber{1});
  require(unordered->dl_tensor.data == x.data() && ordered->dl_tensor.data == x.data());
}
const Case stream_numbers{"streams are named by the numbers that consumers pass in Python", &streams_have_numbers};

D::Event last_use{};
int deleted = 0;
bool was_done = false;

/// A hundred elements of a producer who notes whether the last use was done when he got them back.
struct Lender {
  Tensor<float, D, Shape<dyn>> elements{D{0}, Dims(100)};
  std::int64_t extent = 100;
  dlpack::Managed managed{};

  Lender() {
    deleted = 0;
    was_done = false;
    managed.dl_tensor = to_dlpack(elements)->dl_tensor;
    managed.dl_tensor.shape = &extent;
    managed.dl_tensor.strides = nullptr;
    managed.deleter = [](dlpack::Managed*) {
      ++deleted;
      was_done = last_use.is_complete();
    };
  }
  void require_idle() const {
    require_equal(deleted, 1);
    require(was_done);
    last_use = {};
  }
};

void producers_get_idle_memory_back() {
  Lender lender{};
  {
    auto x = from_dlpack<Tensor<float, D, Shape<dyn>>>(&lender.managed);
    require(x.storage().is_lent());
    for (int i = 0; i < 5; ++i) x.fill(static_cast<float>(i));
    last_use = record(D{0});
  }
  lender.require_idle();
  require_equal(lender.elements[99].item(), 4.0F);
}
const Case idle{"a producer gets its memory back when no kernel uses it any more", &producers_get_idle_memory_back};

void recordings_keep_lent_memory() {
  Lender lender{};
  auto x = from_dlpack<Tensor<float, D, Shape<dyn>>>(&lender.managed);
  for (int i = 0; i < 5; ++i) x.fill(static_cast<float>(i));
  last_use = record(D{0});
  const auto graph = gpu::capture(D{0}, [&x] {
    x.reset();
    require_equal(deleted, 0); // the kernels may still run, and nobody can wait for them here
  });
  require_equal(graph.reason(), std::string{});
  lender.require_idle();
}
const Case recordings{"a producer gets memory that a recording dropped back when the recording has ended",
                      &recordings_keep_lent_memory};

void lent_memory_is_lent_again() {
  using R = D::Runtime;
  R::Stream own{};
  require_equal(R::use_device(0), 0);
  require_equal(R::create_stream(&own), 0);
  Lender lender{};
  const Tensor<float, D, Shape<dyn>> result(D{0}, Dims(100));
  {
    auto x = from_dlpack<Tensor<float, D, Shape<dyn>>>(&lender.managed);
    x.fill(8.0F);
    const auto managed = to_dlpack(x, own);
    x.reset();
    require_equal(deleted, 0);
    require_equal(R::copy(result.data(), managed->dl_tensor.data, 100 * sizeof(float), own), 0);
    last_use = D::Event{gpu::state_of(D{0}), own};
  }
  lender.require_idle();
  require_equal(result[99].item(), 8.0F);
  forget_stream(D{0}, own);
  require_equal(R::destroy_stream(own), 0);
}
const Case again{"memory that was lent goes back after the work of those whom it was lent on to",
                 &lent_memory_is_lent_again};

}} // namespace tensors_suite
