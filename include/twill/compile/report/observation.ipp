#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of compile/report/observation.hpp.

#include <twill/compile/report/observation.hpp>

#include <memory>

namespace twill { inline namespace v0 { namespace compile { namespace detail { inline namespace TWILL_ISA {

TWILL_COLD TWILL_BODY void copy_values(const void* data, Observation& seen) {
  seen.values.resize(static_cast<std::size_t>(seen.shape.elements()));
  with_model_scalar(seen.dtype, [&]<class T>() {
    for (std::size_t i = 0; i < seen.values.size(); ++i)
      seen.values[i] = static_cast<double>(static_cast<const T*>(data)[i]);
  });
}

TWILL_BODY double rounded(DType dtype, double number) {
  if (dtype == DType::float32) return static_cast<double>(static_cast<float>(number));
  if (dtype == DType::float16) return static_cast<double>(static_cast<half>(static_cast<float>(number)));
  if (dtype == DType::bfloat16) return static_cast<double>(static_cast<bfloat16>(static_cast<float>(number)));
  return number;
}

TWILL_COLD TWILL_BODY void append(std::vector<Observation>& known, Observation seen) {
  if (seen.is_gradient && seen.kind == TapKind::layer_input)
    for (auto part = known.begin(); part != known.end(); ++part) {
      if (!part->is_gradient || part->tap != seen.tap || part->kind != seen.kind) continue;
      for (std::size_t i = 0; i < seen.values.size(); ++i)
        seen.values[i] = rounded(seen.dtype, seen.values[i] + part->values[i]);
      known.erase(part);
      break;
    }
  known.push_back(std::move(seen));
}

TWILL_COLD TWILL_BODY Observation observed(const TableView& table, const graph::SymbolValues& symbols,
                                           const graph::TapInfo& tap, const void* data) {
  const ValueInfo& info = table.values[static_cast<std::size_t>(tap.node)];
  Observation seen{};
  seen.layer = tap.name.view();
  seen.operation = "tap";
  seen.is_gradient = tap.is_gradient;
  seen.kind = tap.kind;
  seen.tap = tap.number;
  seen.dtype = info.dtype;
  seen.shape = info.shape.evaluate(symbols);
  copy_values(data, seen);
  return seen;
}

}}}}} // namespace twill::v0::compile::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace compile { inline namespace TWILL_ISA {

TWILL_BODY void TapWatcher::see(const TableView& table, const graph::SymbolValues& symbols, int value,
                                const void* data) {
  if (other_ != nullptr) other_->see(table, symbols, value, data);
  for (std::size_t i = 0; i < table.taps.size(); ++i) {
    if (table.taps[i].node != value) continue;
    Observation seen = detail::observed(table, symbols, table.taps[i], data);
    seen.device = devices_[static_cast<std::size_t>(table.values[static_cast<std::size_t>(value)].slot)];
    observations_.push_back({i, std::move(seen)});
  }
}

TWILL_BODY std::vector<Observation> TapWatcher::take() {
  sort_stably(observations_, [](const Numbered& a, const Numbered& b) { return a.number < b.number; });
  std::vector<Observation> observations{};
  for (Numbered& each : observations_) detail::append(observations, std::move(each.observation));
  observations_.clear();
  return observations;
}

TWILL_COLD TWILL_BODY std::vector<Observation> run_tapped(const WatchedRun& run) {
  TapWatcher watcher{run.devices(run.executor)};
  Watcher* const former = run.watch(run.executor, &watcher);
  watcher.also(former);
  const auto stop = [&](TapWatcher*) { run.watch(run.executor, former); };
  const std::unique_ptr<TapWatcher, decltype(stop)> until_done{&watcher, stop};
  run.call(run.run);
  run.wait(run.executor);
  return watcher.take();
}

}}}} // namespace twill::v0::compile::TWILL_ISA
