// SPDX-License-Identifier: Apache-2.0
//
// More lines of docs/reference/parallel.md: whether a step fits, before there is a device.

#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/adam.hpp>
#include <twill/parallel/fit/search.hpp>
#include <twill/profile/fit_program.hpp>
#include <twill/profile/fit_table.hpp>
#include <twill/training/peak_bytes.hpp>

using namespace twill;

// clang-format off

struct Mlp {
  static constexpr auto forward(Input<Dim<"batch">, 8> x) { return nn::linear(x, 4, "output"); }
};
using Labels = Tensor<std::int64_t, Cpu, Shape<dyn>>;
using Step = training::StepOf<Mlp, nn::cross_entropy, optim::Adam, Labels>;

// `Step` is `training::StepOf<Mlp, nn::cross_entropy, optim::Adam, Labels>`.
void fits(parallel::fit::Estimator& estimator, const parallel::fit::Report& report, const std::vector<parallel::fit::Report>& reports,
          int argument_count, char** arguments) {
  { static_assert(peak_bytes<Step, nn::Size<"batch", 64>> <= 80_GB); }
  { parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", 256}}}; }
  { parallel::fit::Estimator estimator{parallel::fit::traces_of<parallel::fit::OnGpu<Step>>, {{"batch", 256}}}; }
  { const parallel::fit::Report report = estimator.report({.data = 4, .zero = 2}); }
  { const std::string words = parallel::fit::to_string(report.options); }
  { const std::string mode = parallel::fit::checkpointing_text({.pipeline = 2, .checkpointing = pipeline::Checkpointing::always}); }
  { const std::vector<parallel::fit::Report> found = parallel::fit::search(estimator, {.devices = 8, .budget_bytes = 24_GB}); }
  { std::array<std::int64_t, parallel::fit::kinds_of_bytes> sums{}; }
  { const auto all = parallel::fit::candidates({.devices = 8}, 256); }
  { const std::string_view kind = parallel::fit::name(parallel::fit::Bytes::activations); }
  { const parallel::fit::ScheduleName& schedule = parallel::fit::schedule_called("1f1b"); }
  { for (const parallel::fit::ScheduleName& schedule : parallel::fit::schedules()) static_cast<void>(schedule.name); }
  { constexpr parallel::fit::ScheduleName own = parallel::fit::named_schedule<pipeline::GPipe>("own"); }
  { const parallel::fit::Machine machine{.device = {.operations_per_s = 1e14, .bytes_per_s = 2e12}, .library_bytes = 1_GB}; }
  { const parallel::fit::TimedStep step{.rows = 64, .gradient_s = 2.1e-3, .update_s = 3e-4}; }
  { const double s = pipeline::counted_s(compile::Compiled<Step>::view(), compile::trace_of<Step>(), {64}, {.bytes_per_s = 2e10}); }
  { const std::string table = profile::fit_table(report); }
  { const std::string json = profile::fit_json(reports); }
  { const std::string drawing = profile::svg_fit(report, 24_GB); }
  { const std::string text = profile::fit_program<Step>(argument_count, arguments); }
  { const std::string options = profile::fit_usage(); }
}
