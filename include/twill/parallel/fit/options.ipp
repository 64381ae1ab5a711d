#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/fit/options.hpp.

#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/parallel/fit/options.hpp>

namespace twill { inline namespace v0 { namespace parallel { namespace fit {

TWILL_BODY std::span<const ScheduleName> schedules() {
  static constexpr std::array all{
      named_schedule<pipeline::GPipe>("gpipe"),
      named_schedule<pipeline::OneForwardOneBackward>("1f1b"),
      named_schedule<pipeline::Interleaved<2>>("interleaved-2"),
      named_schedule<pipeline::ZeroBubbleH1>("zb-h1"),
      named_schedule<pipeline::ZeroBubbleH2>("zb-h2"),
      named_schedule<pipeline::ZeroBubbleV>("zbv"),
  };
  return all;
}

TWILL_BODY const ScheduleName& schedule_called(std::string_view name) {
  std::string known{};
  for (const ScheduleName& schedule : schedules()) {
    if (schedule.name == name) return schedule;
    known += (known.empty() ? "" : ", ") + std::string{schedule.name};
  }
  throw ValueError(join_text({"fit: there is no schedule \"", name, "\"; there are ", known}));
}

TWILL_BODY std::string checkpointing_text(const Options& options) {
  constexpr std::array<std::string_view, 3> names{"never", "except-last", "always"};
  const int stages = options.pipeline * schedule_called(options.schedule).stages_per_rank;
  std::string each{};
  bool is_same = true;
  for (int stage = 0; stage < stages; ++stage) {
    const pipeline::Checkpointing mode = options.checkpointing(stage);
    is_same = is_same && mode == options.checkpointing(0);
    each += (stage > 0 ? "," : "") + std::string{names[static_cast<std::size_t>(mode)]};
  }
  return is_same ? each.substr(0, each.find(',')) : each;
}

TWILL_BODY std::string to_string(const Options& options) {
  std::string text{};
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  if (options.data > 1) add("data " + std::to_string(options.data));
  if (options.tensor > 1) add("tensor " + std::to_string(options.tensor));
  if (options.slots > 1) add(std::to_string(options.slots) + " device slots");
  if (options.zero > 0) add("zero " + std::to_string(options.zero));
  if (options.shards > 0) add(std::to_string(options.shards) + " shards");
  if (options.pipeline > 1) {
    add("pipeline " + std::to_string(options.pipeline));
    add(std::string{options.schedule});
    add(std::to_string(options.micro_batches) + " micro-batches");
    if (const std::string mode = checkpointing_text(options); mode != "never") add("checkpointing " + mode);
    if (options.weight_orders == pipeline::WeightOrders::kept_for_step) add("kept orders of weights");
  }
  if (options.devices() == 1) add("one device");
  if (options.budget_bytes > 0) add("computes again within " + std::to_string(options.budget_bytes) + " bytes");
  if (options.precision != DType::float32) add(std::string{name(options.precision)});
  return text;
}

}}}} // namespace twill::v0::parallel::fit
