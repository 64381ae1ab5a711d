#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Options of a training on several devices, as values: how many replicas and stages there are, what replicas divide
// (ZeRO), the schedule, micro-batches, checkpointing and precision. The types of twill's wrappers say the same at
// compile time. Not in twill.hpp. Read next: parallel/fit/estimate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/parallel/pipeline/model/plan.hpp>
#include <twill/parallel/pipeline/run/machine.hpp>
#include <twill/parallel/pipeline/run/step_options.hpp>
#include <twill/parallel/pipeline/schedule/predict.hpp>
#include <twill/parallel/pipeline/schedule/schedule.hpp>
#include <twill/parallel/pipeline/schedule/schedules.hpp>
#include <twill/parallel/pipeline/schedule/verify.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

/// Numbers of a model's named dimensions: `{{"batch", 64}}`.
using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// A kind of schedule by its name.
struct ScheduleName {
  std::string_view name{};       ///< on command lines, in small letters
  int stages_per_rank = 1;       ///< of the kind
  bool splits_gradients = false; ///< computes those of inputs and of weights apart
  /// The schedule with its messages, proved. throws: ValueError naming what it lacks
  pipeline::Schedule (*make)(int ranks, int micro_batches) = nullptr;
  int (*least_micro_batches)(int ranks) = nullptr; ///< of the kind
  int (*multiple_of)(int ranks) = nullptr;         ///< divides the number of micro-batches
};

/// A kind of schedule as a value.
template <pipeline::ScheduleKind S> [[nodiscard]] constexpr ScheduleName named_schedule(std::string_view name) {
  return {name,
          S::stages_per_rank,
          pipeline::detail::splits_gradients<S, 2>(),
          &pipeline::schedule<S>,
          &pipeline::least_micro_batches<S>,
          &pipeline::multiple_of<S>};
}

/// The schedules of the library.
[[nodiscard]] std::span<const ScheduleName> schedules();
/// A schedule of this name. throws: ValueError naming those that there are
[[nodiscard]] const ScheduleName& schedule_called(std::string_view name);

/// One way to divide a training.
struct Options {
  int data = 1;     ///< replicas, each with its share of the rows
  int pipeline = 1; ///< ranks of a pipeline
  int tensor = 0;   ///< ranks that divide layers, as the model's type says; 0: whatever it says
  int slots = 1;    ///< device slots, as the model's type says; those that are given are not read
  int zero = 0;     ///< ZeRO's stage; a pipeline takes 0 or 1
  int shards = 0;   ///< of a batch under `Reproducible`, of a pipeline its micro-batches; 0: another step
  bool is_replicated =
      false; ///< `DataParallel`, replicas in one process, instead of ranks; of one device the plain step
  std::string_view schedule = "1f1b";                                            ///< of a pipeline
  int micro_batches = 1;                                                         ///< of a pipeline
  pipeline::StageCheckpointing checkpointing{};                                  ///< of a pipeline's stages
  pipeline::WeightOrders weight_orders = pipeline::WeightOrders::made_each_time; ///< of convolutions in a pipeline
  std::int64_t budget_bytes =
      0; ///< without a pipeline: computes parts again to stay within it, like `nn::Fit`; 0: none
  DType precision = DType::float32; ///< of the model's elements

  /// All of them.
  [[nodiscard]] constexpr int devices() const { return data * pipeline * (tensor > 1 ? tensor : 1) * slots; }
};

/// The way of checkpointing in words: that of all stages, "always", or of each, "never,always".
[[nodiscard]] std::string checkpointing_text(const Options& options);
/// The options in words: "data 4, zero 2".
[[nodiscard]] std::string to_string(const Options& options);

/// The two parts of a step, timed on one device with this number of rows.
struct TimedStep {
  std::int64_t rows = 0; ///< of the batch
  double gradient_s = 0; ///< loss and gradients
  double update_s = 0;   ///< of the weights
};

/// The machine on which a step is timed: one of its devices, and the connections between them. Steps of the model that
/// were timed there correct what counting says of all programs of about as many rows.
struct Machine {
  pipeline::Machine device{.operations_per_s = 5e10, .bytes_per_s = 1e10, .launch_s = 2e-6}; ///< a core of a host
  pipeline::Link between_stages{.bytes_per_s = 1e10, .latency_s = 1e-5};   ///< of neighbours in a pipeline
  pipeline::Link between_replicas{.bytes_per_s = 1e10, .latency_s = 1e-5}; ///< of replicas
  pipeline::Link between_layers{.bytes_per_s = 1e10, .latency_s = 1e-5};   ///< of ranks that divide layers
  std::int64_t library_bytes = 0; ///< working memory of libraries and driver on each device, outside of the pool
  std::vector<TimedStep>
      timed{}; ///< while the other devices compute as well; none: counted times are taken as they are
};

}}}} // namespace twill::v0::parallel::fit

#if TWILL_HEADER_ONLY
#include <twill/parallel/fit/options.ipp>
#endif
