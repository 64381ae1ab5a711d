// SPDX-License-Identifier: Apache-2.0
//
// Lines of code of docs/reference/profiling.md: tools/reference/lines.py says how they are found. They are compiled, not run.

#include <twill/parallel.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>

#include <iostream>
#include <string>
#include <vector>

using namespace twill;

// clang-format off

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 3, "output"); }
};
using Targets = Tensor<float, Cpu, Shape<dyn, 3>>;
using Network = nn::Network<Mlp, Cpu>;

// Traces: `trace` is that of some steps, `timeline` that of a pipeline's step.
void traces(const profile::Trace& trace, const pipeline::Timeline& timeline, Tensor<float, Cpu, Shape<8>>& x) {
  { const profile::Trace trace = profile::trace([&] { x += 1; }); }
  { std::cout << profile::node_table(trace, {.rows = 5}); }
  { const auto totals = profile::node_totals(trace, profile::GroupBy::operation); }
  { const std::string json = profile::chrome_trace(trace); }
  { profile::save_chrome_trace("step.json", trace); }
  { const profile::Peaks peaks = profile::measured_peaks(Cpu{0}); }
  { const profile::Peaks peaks = profile::peaks_of(trace, "cpu:0"); }
  { const auto share = profile::limit_share(1e6, 1e9, DType::float32, 0.01, profile::peaks_of(trace, "cpu:0")); }
}

// Memory: `recording` is a `memory::Recording` of a device.
void memory_over_time(const memory::Recording<memory::PoolFor<Cpu>>& recording, const memory::MemorySnapshot& early, const memory::MemorySnapshot& late) {
  { profile::save_memory_page("memory.html", recording.timeline()); }
  { const std::string page = profile::memory_page(recording.timeline()); }
  { profile::save_memory_trace("memory.json", recording.timeline()); }
  { const std::string json = profile::memory_trace(recording.timeline()); }
  { std::cout << profile::places_table(late); }
  { std::cout << profile::difference_table(early, late); }
  { const auto grown = profile::difference(early, late); }
  { const auto places = profile::by_place(late); }
  { for (const profile::PlaceUse& use : profile::by_place(late)) std::cout << profile::to_string(use.place) << '\n'; }
}

// Loads of devices: also by the program twill-smi, example 16.
void loads() {
  { profile::show_utilization(); }
  { std::cout << profile::utilization_table(std::vector{Cpu{0}, Cpu{1}}); }
  { std::cout << profile::memory_table(std::vector{Cpu{0}}); }
}

// Progress and tables: for loops, and for numbers in text.
void progress(profile::Table& table) {
  { profile::Progress progress{1000, {.unit = "images"}}; }
  { profile::ConfusionMatrix confusion{{"cat", "dog"}}; }
  { profile::TopKAccuracy accuracy{5}; }
  { profile::RocAuc area{}; }
  { profile::Table table{{{.title = "layer"}, {.title = "ms", .align = profile::Align::right}}}; }
  { const std::string text = profile::fixed(3.14159, 2); }
  { const std::string text = profile::percent(0.25, 1); }
  { const std::string text = profile::duration(0.0031); }
  { profile::save_text("the table", "table.txt", "..."); }
}

// Drawings: SVG files.
void drawings(const pipeline::Timeline& timeline) {
  { profile::save_gantt("step.svg", timeline); }
  { const std::string svg = profile::svg_gantt(timeline); }
  { profile::save_plan<Mlp, nn::mse, optim::Sgd, Targets>("plan.svg", {{"batch", 64}}); }
  { const std::string svg = profile::svg_plan<Mlp>({{"batch", 64}}); }
  { profile::LinePlot plot{{.title = "loss", .x_label = "step"}}; }
}
