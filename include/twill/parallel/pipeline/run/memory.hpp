#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Memory of a step of a pipeline, exact to the byte and known before anything runs: the step itself, run on `Meta`, a
// device for each rank, for any schedule, loss, rule and checkpointing. It holds for the steps after the first, which
// makes the optimiser's states at its end and needs no more. Memory depends only on the schedule, see
// parallel/pipeline/run/run.hpp, so the figures equal `max_memory_allocated` if each rank has its own device. Ranks
// that share one need at most the sum of theirs; their peaks need not coincide. Read next:
// parallel/pipeline/schedule/predict.hpp, for other clusters.

#include <twill/core/config.hpp>
#include <twill/device/meta/meta.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/parallel/pipeline/run/step.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// Bytes of the pool of a rank's device, without the caller's batch.
struct RankMemory {
  std::int64_t weights = 0; ///< and buffers
  std::int64_t held = 0;    ///< between two steps: weights and buffers, gradients, states of the optimiser
  std::int64_t peak = 0;    ///< during a step
};

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { namespace detail {
inline namespace TWILL_ISA {

template <class P> struct OnMeta;
template <ScheduleKind S, FloatingScalar T, RankPlaces D, class... Parts>
struct OnMeta<BasicPipeline<S, T, D, Parts...>> {
  using type = BasicPipeline<S, T, Meta, Parts...>;
};

/// Protects the measured pools: one measurement at a time, on the last devices that there are.
inline constinit std::mutex measuring{};
[[nodiscard]] inline Meta measured_device(int rank) { return Meta{Meta::count() - 1 - rank}; }

/// A tensor like `x`, on the device of the rank of that number.
template <AnyTensor X> [[nodiscard]] auto like(const X& x, int rank) {
  return Tensor<typename X::value_type, Meta, typename X::shape_type>(measured_device(rank), x.shape());
}

}}}}}} // namespace twill::v0::parallel::pipeline::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace parallel { namespace pipeline { inline namespace TWILL_ISA {

/// The memory of each rank of a pipeline of type P in a step on a batch like this: the model's inputs, then the
/// targets, on `Meta`: those on `Meta{r}` on the device of rank r, and those on others where no rank is, so that their
/// readers make copies of the pieces.
/// throws: exceptions of the step    cost: host time of two steps without their arithmetic, and no memory
template <class P, class L, optim::Rule R, AnyTensor... Batch>
requires(std::same_as<typename Batch::device_type, Meta>&&...)
    [[nodiscard]] std::vector<RankMemory> memory(const L& loss, const R& rule, const StepOptions& options,
                                                 const Batch&... batch) {
  const std::lock_guard lock(detail::measuring);
  const auto place = [](const auto& x) { return x.device().index < P::ranks ? x.device().index : P::ranks; };
  const std::tuple all{detail::like(batch, place(batch))...};
  std::vector<Meta> devices;
  std::vector<std::int64_t> before;
  for (int rank = 0; rank < P::ranks; ++rank) {
    devices.push_back(detail::measured_device(rank));
    before.push_back(memory_allocated(devices.back()));
  }
  std::vector<RankMemory> found(devices.size());
  typename detail::OnMeta<P>::type pipeline{devices};
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    found[rank].weights = memory_allocated(devices[rank]) - before[rank];
  StepOptions there = options;
  if (!detail::stages_keep_orders<P>) there.weight_orders = WeightOrders::made_each_time;
  auto step = train_step(pipeline, loss, rule, there);
  std::apply(step, all); // makes the optimiser's states
  for (const Meta device : devices) reset_peak_memory_stats(device);
  std::apply(step, all);
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    found[rank].held = memory_allocated(devices[rank]) - before[rank];
    found[rank].peak = max_memory_allocated(devices[rank]) - before[rank];
  }
  return found;
}

/// The memory of each rank for an existing pipeline and batch.
template <ScheduleKind S, FloatingScalar T, ComputeDevice D, class... Parts, class L, optim::Rule R, AnyTensor... Batch>
[[nodiscard]] std::vector<RankMemory> memory(const BasicPipeline<S, T, D, Parts...>& pipeline, const L& loss,
                                             const R& rule, const StepOptions& options, const Batch&... batch) {
  using P = BasicPipeline<S, T, D, Parts...>;
  const auto on_meta = [&](const auto& x) {
    int rank = 0;
    if constexpr (std::same_as<typename std::remove_cvref_t<decltype(x)>::device_type, D>)
      while (rank < P::ranks && !(pipeline.devices()[static_cast<std::size_t>(rank)] == x.device())) ++rank;
    else
      rank = P::ranks;
    using X = std::remove_cvref_t<decltype(x)>;
    return Tensor<typename X::value_type, Meta, typename X::shape_type>(Meta{rank}, x.shape());
  };
  return memory<P>(loss, rule, options, on_meta(batch)...);
}

}}}}} // namespace twill::v0::parallel::pipeline::TWILL_ISA
