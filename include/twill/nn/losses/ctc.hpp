#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Connectionist temporal classification: the probability of a sequence of labels summed over all its alignments with
// longer sequences of classes (Graves et al., 2006). The forward variables are a scan over the steps, in logarithms;
// its gradient is the backward algorithm, and has gradients again. Shapes, reductions and defaults are PyTorch's.
// Not in twill.hpp. Read next: graph/scan.hpp, nn/losses/classification.hpp.

#include <twill/core/call_site.hpp>
#include <twill/core/config.hpp>
#include <twill/graph/scan.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/gather.hpp>

#include <array>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of connectionist temporal classification.
struct CtcOptions {
  std::int64_t blank = 0;       ///< the class between labels
  Reduce reduce = Reduce::mean; ///< mean of losses divided by lengths of targets, sum or none
  bool zero_infinity = false;   ///< whether targets that no alignment fits have a loss of 0 instead of infinity
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// The logarithm of a probability of 0: finite, so that differences of such logarithms are numbers.
inline constexpr double impossible = -1e30;

/// log(e^a + e^b + e^c) of numbers from `impossible` on.
[[nodiscard]] TWILL_CONSTEXPR graph::Value log_of_sum(graph::Value a, graph::Value b, graph::Value c) {
  const graph::Value most = graph::stop_gradient(graph::maximum(graph::maximum(a, b), c));
  return most + graph::log(graph::exp(a - most) + graph::exp(b - most) + graph::exp(c - most));
}

struct CtcFormula {
  [[nodiscard]] TWILL_CONSTEXPR graph::Value operator()(graph::Value log_probabilities, graph::Value targets,
                                                        graph::Value input_lengths, graph::Value target_lengths,
                                                        CtcOptions options = {}) const {
    const Naming naming{log_probabilities, "ctc_loss"};
    if (!check(log_probabilities, targets, input_lengths, target_lengths, options)) return log_probabilities;
    graph::Graph& graph = log_probabilities.graph();
    const graph::Value x = widened(log_probabilities);
    const graph::Extents shape = x.shape();
    const std::int64_t longest = targets.size(1), classes = x.size(2);
    const graph::Extent steps = shape[0], rows = shape[1], places{longest + 1, 0};
    const graph::Value of_inputs = graph::cast(input_lengths, DType::int64);
    const graph::Value of_targets = graph::cast(target_lengths, DType::int64);
    graph.require_within(input_lengths.id(), {.what = "a length of an input", .may_be_end = true, .end = steps});
    graph.require_within(target_lengths.id(),
                         {.what = "a length of a target", .may_be_end = true, .end = {longest, 0}});

    // Place k of (rows, longest + 1) is the label before blank k; before blank 0 there is none.
    const graph::Value given = graph::cast(targets, DType::int64);
    const graph::Value label = graph::pad(given, 1, {1, 0}, static_cast<double>(options.blank));
    const graph::Value before = graph::pad(label, 1, {1, 0}, static_cast<double>(options.blank));
    const graph::Value may_follow = graph::not_equal(label, graph::narrow(before, 1, 0, longest + 1));
    const graph::Value place = graph::iota(graph, {places});
    const graph::Value is_class = graph::logical_and(graph::logical_and(label >= 0, label < classes), place > 0);

    // The logarithms of all labels at all steps, (steps, rows, longest + 1), and of the blank.
    const graph::Value index = graph::broadcast_to(graph::where(is_class, label, 0), {steps, rows, places});
    const graph::Value of_labels = graph::where(is_class, graph::take_along_axis(x, index, 2), impossible);
    const graph::Value of_blank = graph::narrow(x, 2, options.blank, 1);
    const graph::Value step = graph::iota(graph, {steps, {}});
    const graph::Value is_read = graph::unsqueeze(step < of_inputs, -1); // (steps, rows, 1)

    // b[k]: all alignments so far that end in blank k; a[k]: those that end in the label before it.
    // b'[k] = log(e^b[k] + e^a[k]) + log p(blank)
    // a'[k] = log(e^a[k] + e^b[k - 1] + (label k differs from label k - 1) e^a[k - 1]) + log p(label k)
    const auto everywhere = [&](graph::Value of_place) { return graph::broadcast_to(of_place, {rows, places}); };
    const graph::Value never = graph::constant(graph, x.dtype(), impossible);
    const graph::Value none = everywhere(never);
    const graph::Value nothing_read =
        everywhere(graph::where(graph::equal(place, 0), 0.0, graph::broadcast_to(never, {places})));
    const auto shifted = [&](graph::Value states) { // an index before the first place reads 0
      const graph::Value moved = graph::take(states, graph::where(place > 0, place - 1, longest + 1), 1);
      return graph::where(place > 0, moved, impossible);
    };
    const auto body = [&](graph::Value b, graph::Value a, graph::Value labels, graph::Value blank, graph::Value reads) {
      const auto possible = [](graph::Value v) { return graph::maximum(v, impossible); };
      const graph::Value next_b = possible(log_of_sum(b, a, none) + blank);
      const graph::Value skipping = graph::where(may_follow, shifted(a), impossible);
      const graph::Value next_a = possible(log_of_sum(a, shifted(b), skipping) + labels);
      return graph::Step<2, 0>{{graph::where(reads, next_b, b), graph::where(reads, next_a, a)}, {}};
    };
    const auto last = graph::scan(std::array{nothing_read, none}, std::array{of_labels, of_blank, is_read}, body);
    const graph::Value is_end = graph::equal(place, graph::unsqueeze(of_targets, -1));
    const auto at_end = [&](graph::Value states) { return graph::sum(graph::where(is_end, states, 0.0), {1}); };
    const graph::Value b = at_end(last.carry[0]), a = at_end(last.carry[1]);
    const graph::Value total = log_of_sum(b, a, graph::broadcast_to(never, {rows}));
    const double no_alignment = options.zero_infinity ? 0 : std::numeric_limits<double>::infinity();
    const graph::Value losses = graph::where(total < impossible / 2, no_alignment, -total);
    if (options.reduce != Reduce::mean) return reduced(losses, options.reduce);
    return graph::mean(losses / graph::cast(graph::maximum(of_targets, 1), losses.dtype()));
  }

private:
  static TWILL_CONSTEXPR bool check(graph::Value x, graph::Value targets, graph::Value input_lengths,
                                    graph::Value target_lengths, const CtcOptions& options) {
    using graph::Problem;
    graph::Graph& graph = x.graph();
    if (x.rank() != 3) graph.refuse(Problem::recurrent_layer_needs_steps_rows_and_features, x.rank(), 3, {});
    if (targets.rank() != 2) graph.refuse(Problem::loss_shapes_differ, x.rank(), targets.rank(), {});
    if (is_floating(targets.dtype()) || targets.dtype() == DType::boolean)
      graph.refuse(Problem::labels_are_not_integers, static_cast<int>(targets.dtype()), 0, {});
    if (graph.fault.any()) return false;
    const graph::Extent rows = x.shape()[1];
    if (!graph::unify(graph, targets.shape()[0], rows))
      graph.refuse(Problem::labels_and_logits_have_different_batch_extents, targets.shape()[0].factor, rows.factor, {});
    for (const graph::Value& lengths : {input_lengths, target_lengths}) {
      if (is_floating(lengths.dtype()) || lengths.dtype() == DType::boolean)
        graph.refuse(Problem::recurrent_lengths_are_not_integers, static_cast<int>(lengths.dtype()), 0, {});
      if (lengths.rank() != 1 || !graph::unify(graph, lengths.shape()[0], rows))
        graph.refuse(Problem::recurrent_lengths_are_not_one_for_each_row,
                     lengths.rank() == 1 ? lengths.shape()[0].factor : -1, rows.is_static() ? rows.factor : -1, {});
    }
    if (options.blank < 0 || options.blank >= x.size(2))
      graph.refuse(Problem::padding_index_is_outside, options.blank, x.size(2), {});
    static_cast<void>(targets.size(1));
    return !graph.fault.any();
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The negative logarithm of the probability of labels that are not aligned with the steps (Graves et al., 2006).
/// log_probabilities: (steps, rows, classes), as `log_softmax` makes them; targets: (rows, longest) integers, what is
/// beyond a row's length is not read; lengths of inputs and targets: (rows) integers. The gradient by log_probabilities
/// is the derivative; PyTorch's is larger by e^log_probabilities, which `log_softmax` cancels in that of its argument.
/// Where the loss is infinite the gradient is 0. A label that is no class makes its loss infinite.
/// throws: IndexError in a run, for lengths beyond steps or targets
/// cost: steps of a few kernels over (rows, longest + 1)
inline constexpr Loss<detail::CtcFormula> ctc_loss{};

}}}} // namespace twill::v0::nn::TWILL_ISA
