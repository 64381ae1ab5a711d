#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batches brought to a GPU by a loader: the right rows in the right order, from pinned memory that is used again, without
// waiting for the device, beside its work.

#include <tests/support/gpu_bodies.hpp>
#include <tests/support/runtime_calls.hpp>
#include <tests/support/suite.hpp>
#include <tests/training/models.hpp>

#include <twill/data/loader.hpp>
#include <twill/data/tensor_dataset.hpp>

#include <cstdint>
#include <vector>

namespace twill::test { namespace loader_suite {

using D = TestedDevice;

inline auto dataset() {
  return data::TensorDataset{data::column(random_rows<float, 5>(Cpu{0}, 103, 1)),
                             data::column(random_labels(Cpu{0}, 103, 3, 2))};
}

/// All elements of an epoch, batch by batch.
template <class Device> std::vector<float> epoch_of(Device device, int workers) {
  const data::DataLoader loader{
      dataset(), data::ShuffledSampler{.seed = 3}, device, {.batch_size = 16, .workers = workers}};
  std::vector<float> all{};
  for (auto [x, label] : loader.epoch(0)) {
    for (float value : to_vector(x)) all.push_back(value);
    for (std::int64_t value : to_vector(label)) all.push_back(static_cast<float>(value));
  }
  return all;
}

inline void same_batches() {
  const std::vector<float> expected = epoch_of(Cpu{0}, 0);
  for (int workers : {0, 1, 3}) require_equal(epoch_of(D{0}, workers), expected);
}
const Case same_case{"a loader gives a GPU the batches that it gives a host device", &same_batches};

inline void nobody_waits() {
  const data::DataLoader loader{dataset(), data::ShuffledSampler{.seed = 3}, D{0}, {.batch_size = 16, .workers = 2}};
  for (auto [x, label] : loader.epoch(0)) static_cast<void>(x);
  synchronize(D{0});
  const long waits = runtime_calls<D>({"synchronize_stream", "synchronize_event"});
  const long pinned = runtime_calls<D>({"allocate_pinned"});
  for (auto [x, label] : loader.epoch(1)) static_cast<void>(x);
  require_equal(runtime_calls<D>({"synchronize_stream", "synchronize_event"}), waits);
  require_equal(runtime_calls<D>({"allocate_pinned"}), pinned);
}
const Case waiting_case{"bringing a batch to a GPU waits for nothing and pins nothing anew", &nobody_waits};

inline void batches_outlive_their_staging() {
  const data::DataLoader loader{dataset(), data::SequentialSampler{}, D{0}, {.batch_size = 16, .workers = 2}};
  std::vector<std::tuple_element_t<0, typename decltype(loader)::Batch>> kept{};
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto [x, label] : loader.epoch(0)) kept.push_back(x);
  const std::vector<float> whole = random_values<float>(103 * 5, 1);
  std::size_t at = 0;
  for (const auto& x : kept) // read only now, when the host memory has long been filled anew
    for (float value : to_vector(x)) require_equal(value, whole[at++ % whole.size()]);
  require_equal(at, 2 * whole.size());
}
const Case lasting_case{"host memory is filled anew only after its copy", &batches_outlive_their_staging};

/// The time line of an epoch: the copies of a batch are done when those of their stream are, while the work on the batch
/// before is not, though it was given to the device earlier. That work still reads its batch, which nobody holds any more.
inline void copies_run_beside_the_work() {
  using R = D::Runtime;
  const data::DataLoader loader{dataset(), data::SequentialSampler{}, D{0}, {.batch_size = 16, .workers = 1}};
  const auto arrivals = gpu::state_of(D{0}).loading_stream().queue.stream();
  const memory::Buffer<D> numbers(D{0}, 64 * sizeof(int));
  std::vector<std::tuple_element_t<0, typename decltype(loader)::Batch>> read{};
  D::Event worked{};
  int beside = 0;
  for (auto [x, label] : loader.epoch(0)) {
    require_equal(R::synchronize_stream(arrivals), 0);
    beside += worked.is_complete() ? 0 : 1;
    for (int i = 0; i < 100; ++i) // the pool asks for events meanwhile, which lets a few of them run
      start(D{0}, FillInts{}, {.to = static_cast<int*>(numbers.data()), .count = 64, .value = 1});
    read.push_back(x.clone());
    worked = record(D{0});
  }
  // All of 7 but the first, and the second where its memory was the work's; a real GPU may have been quick.
  if (HasEmulatedDriver<D>) require_equal(beside >= 5, true);
  const std::vector<float> whole = random_values<float>(103 * 5, 1);
  std::size_t at = 0;
  for (const auto& x : read)
    for (float value : to_vector(x)) require_equal(value, whole[at++]);
  require_equal(at, whole.size());
}
const Case beside_case{"a loader copies a batch beside the work on the one before", &copies_run_beside_the_work};

}} // namespace twill::test::loader_suite
