#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses over classes and probabilities. A label that is no class makes its loss infinite, on every device: kernels do
// not throw, and checking labels first would wait for them. Means divide by the weights of the labels that count, as in
// PyTorch. Pieces of a split batch are weighted by rows, so they add up to the whole only if all rows count equally.
// Read next: nn/losses/regression.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/loss.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// The value of `ignore_index` that ignores no label.
inline constexpr std::int64_t no_index = std::numeric_limits<std::int64_t>::min();

/// Options of cross entropy: classes, weights and the reduction of the rows' losses.
struct CrossEntropyOptions {
  double label_smoothing = 0;           ///< the share of the uniform distribution in the target
  std::int64_t ignore_index = no_index; ///< rows with this label do not count; PyTorch's default is -100
  graph::Value weight{};                ///< of each class, a vector
  int axis = -1;                        ///< of the classes; PyTorch's is 1
  Reduce reduce = Reduce::mean;         ///< mean, sum or none
};
/// Options of the negative log-likelihood: classes, weights and reduction.
struct NllOptions {
  std::int64_t ignore_index = no_index; ///< rows of this class do not count
  graph::Value weight{};                ///< of the classes; all 1 if not given
  int axis = -1;                        ///< of the classes
  Reduce reduce = Reduce::mean;         ///< mean, sum or none
};
/// Options of binary cross entropy: weights of elements and reduction.
struct BceOptions {
  graph::Term weight = 1.0;     ///< of each element
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of binary cross entropy with logits: weights of elements and positives, and reduction.
struct BceWithLogitsOptions {
  graph::Term pos_weight = 1.0; ///< of positive targets, a number or one for each class
  graph::Term weight = 1.0;     ///< of each element
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};

/// Reduction of a divergence: mean over elements, sum, mean per row of the first axis, or none.
enum class KlReduce : std::uint8_t { mean, sum, batch_mean, none };
/// Options of the divergence: the form of the targets and the reduction.
struct KlOptions {
  bool log_target = false;          ///< whether the target is also given as logarithms
  KlReduce reduce = KlReduce::mean; ///< over elements, summed, or per row
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// Values whose classes are on the last axis.
[[nodiscard]] TWILL_CONSTEXPR graph::Value with_classes_last(graph::Value x, int axis) {
  const int position = graph::checked_axis(x, axis, {});
  if (position == x.rank() - 1) return x;
  graph::Node node{};
  node.kind = graph::Kind::transpose;
  node.dtype = x.dtype();
  node.arity = 1;
  node.inputs[0] = x.id();
  const graph::Extents shape = x.shape();
  for (int at = 0; at < shape.rank; ++at) {
    const int from = at + 1 == shape.rank ? position : at < position ? at : at + 1;
    node.permutation[static_cast<std::size_t>(at)] = static_cast<std::int8_t>(from);
    node.shape.append(shape[from]);
  }
  return {x.graph(), x.graph().add(node)};
}

/// Labels for values of classes: the class of each row, and the row's weight.
struct LabelledRows {
  graph::Value is_label; ///< of each class
  graph::Value counts;   ///< whether the row is not left out
  graph::Value is_class; ///< whether the label is a class
  bool leaves_out = false;

  constexpr LabelledRows(graph::Value values, graph::Value labels, std::int64_t ignore_index) {
    graph::Graph& graph = values.graph();
    const graph::Extents shape = values.shape();
    graph::Extents classes{};
    classes.append(shape[shape.rank - 1]);
    const graph::Value label = graph::unsqueeze(graph::cast(labels, DType::int64), -1);
    is_label = graph::equal(label, graph::iota(graph, classes));
    if (shape[shape.rank - 1].is_static())
      is_class = graph::logical_and(label >= 0, label < shape[shape.rank - 1].factor);
    else
      is_class = graph::sum(is_label, {-1}, graph::KeepDims::yes) > 0;
    leaves_out = ignore_index != no_index;
    graph.require_within(
        labels.id(),
        {.what = "a label", .has_exception = leaves_out, .exception = ignore_index, .end = shape[shape.rank - 1]});
    counts = is_class;
    if (leaves_out) counts = graph::not_equal(label, ignore_index);
  }

  /// The entry of the row's label.
  [[nodiscard]] TWILL_CONSTEXPR graph::Value of_label(graph::Value values) const {
    return graph::sum(graph::where(is_label, values, 0), {-1}, graph::KeepDims::yes);
  }

  /// Losses of the rows, infinite for a computed label that is no class, zero for a row that is left out.
  [[nodiscard]] TWILL_CONSTEXPR graph::Value checked(graph::Value losses) const {
    losses = graph::where(is_class, losses, std::numeric_limits<double>::infinity());
    return leaves_out ? graph::where(counts, losses, 0) : losses;
  }

  [[nodiscard]] TWILL_CONSTEXPR graph::Value reduced(graph::Value losses, graph::Value weight, Reduce reduce) const {
    losses = checked(losses);
    if (reduce == Reduce::none) return graph::sum(losses, {-1}); // of one each
    if (reduce == Reduce::sum) return graph::sum(losses);
    if (!leaves_out && weight.id() < 0) return graph::mean(losses);
    graph::Graph& graph = losses.graph();
    graph::Value shares = weight.id() >= 0 ? of_label(weight) : graph::constant(graph, losses.dtype(), 1);
    if (leaves_out) shares = graph::where(counts, shares, 0);
    return graph::sum(losses) / graph::sum(graph::broadcast_to(shares, losses.shape()));
  }
};

/// Refuses targets whose extent along an axis differs from the predictions'.
TWILL_CONSTEXPR void require_extent(graph::Graph& graph, graph::Extent wanted, graph::Extent given) {
  if (!graph::unify(graph, wanted, given))
    graph.refuse(graph::Problem::labels_and_logits_have_different_batch_extents, given.is_static() ? given.factor : -1,
                 wanted.is_static() ? wanted.factor : -1, {});
}

/// Refuses weights unless there is one for each class.
TWILL_CONSTEXPR void require_class_weights(graph::Extent classes, graph::Value weight) {
  if (weight.id() >= 0 && (weight.rank() != 1 || !graph::unify(weight.graph(), weight.shape()[0], classes)))
    weight.graph().refuse(graph::Problem::class_weights_are_not_one_for_each_class,
                          weight.rank() == 1 ? weight.shape()[0].factor : -1, classes.is_static() ? classes.factor : -1,
                          {});
}

/// False after refusing labels that are not integers or do not belong to the values.
[[nodiscard]] TWILL_CONSTEXPR bool are_labels_of(graph::Value values, graph::Value labels, int axis,
                                                 graph::Value weight) {
  graph::Graph& graph = values.graph();
  if (is_floating(labels.dtype()) || labels.dtype() == DType::boolean)
    graph.refuse(graph::Problem::labels_are_not_integers, static_cast<int>(labels.dtype()), 0, {});
  if (values.rank() != labels.rank() + 1) {
    graph.refuse(graph::Problem::loss_shapes_differ, values.rank(), labels.rank() + 1, {});
    return false;
  }
  // A label for each row: one label cannot be broadcast to all.
  const int classes = graph::checked_axis(values, axis, {});
  for (int at = 0; at < labels.rank(); ++at) {
    const graph::Extent rows = values.shape()[at < classes ? at : at + 1];
    require_extent(graph, rows, labels.shape()[at]);
  }
  require_class_weights(values.shape()[classes], weight);
  return !graph.fault.any();
}

/// Whether targets are probabilities of all classes instead of labels.
[[nodiscard]] TWILL_CONSTEXPR bool are_probabilities_of(graph::Value values, graph::Value target) {
  return is_floating(target.dtype()) && target.rank() == values.rank();
}

/// -sum of probability times logarithm, classes on the last axis; a class of probability zero adds nothing, even where
/// its logarithm is infinite.
[[nodiscard]] TWILL_CONSTEXPR graph::Value expected_losses(graph::Value negative_logarithms, graph::Value probabilities,
                                                           double label_smoothing, graph::Value weight, Reduce reduce) {
  const graph::Value& all = negative_logarithms;
  const graph::Value is_nothing = graph::logical_and(graph::equal(probabilities, 0), graph::isinf(all));
  graph::Value losses = probabilities * graph::where(is_nothing, 0, all);
  const graph::Extent classes = all.shape()[all.rank() - 1];
  if (label_smoothing != 0)
    losses = losses * (1 - label_smoothing) + all * graph::constant(all.graph(), all.dtype(), label_smoothing, classes);
  require_class_weights(classes, weight);
  if (weight.id() >= 0) losses = losses * graph::cast(weight, all.dtype());
  return detail::reduced(graph::sum(losses, {-1}), reduce);
}

/// False after refusing probabilities of another shape.
[[nodiscard]] TWILL_CONSTEXPR bool require_probabilities(graph::Value values, graph::Value target) {
  graph::Graph& graph = values.graph();
  for (int axis = 0; axis < values.rank(); ++axis) require_extent(graph, values.shape()[axis], target.shape()[axis]);
  return !graph.fault.any();
}

struct CrossEntropyFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value labels,
                                                  CrossEntropyOptions options = {}) const {
    const Naming naming{logits, "cross_entropy"};
    if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
      logits.graph().refuse(graph::Problem::label_smoothing_is_outside_0_to_1,
                            graph::shown_as_integer(options.label_smoothing), 1, {});
    if (are_probabilities_of(logits, labels)) return of_probabilities(logits, labels, options);
    if (!are_labels_of(logits, labels, options.axis, options.weight)) return logits;
    const graph::Value x = widened(with_classes_last(logits, options.axis));
    const LabelledRows rows{x, labels, options.ignore_index};
    const bool is_weighted = options.weight.id() >= 0;
    const graph::Value weight = is_weighted ? graph::cast(options.weight, x.dtype()) : graph::Value{};
    // -log softmax(x)[label] = log(sum(exp(x))) - x[label]
    const auto [greatest, excess] = graph::normaliser(x, -1, {});
    graph::Value losses = excess - (rows.of_label(x) - greatest);
    if (is_weighted) losses = losses * rows.of_label(weight);
    if (options.label_smoothing != 0) {
      // (1 - s) loss + s / classes * sum over classes of -log softmax(x)
      const graph::Value all = excess - (x - greatest);
      const graph::Value uniform = graph::mean(is_weighted ? all * weight : all, {-1}, graph::KeepDims::yes);
      losses = losses * (1 - options.label_smoothing) + uniform * options.label_smoothing;
    }
    return rows.reduced(losses, weight, options.reduce);
  }

  [[nodiscard]] static TWILL_CONSTEXPR graph::Value of_probabilities(graph::Value logits, graph::Value target,
                                                                     const CrossEntropyOptions& options) {
    if (!require_probabilities(logits, target)) return logits;
    const graph::Value x = widened(with_classes_last(logits, options.axis));
    const graph::Value t = widened(with_classes_last(target, options.axis));
    const auto [greatest, excess] = graph::normaliser(x, -1, {});
    return expected_losses(excess - (x - greatest), t, options.label_smoothing, options.weight, options.reduce);
  }
};

struct NllFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value log_probabilities, graph::Value labels,
                                                  NllOptions options = {}) const {
    const Naming naming{log_probabilities, "nll"};
    if (are_probabilities_of(log_probabilities, labels)) {
      if (!require_probabilities(log_probabilities, labels)) return log_probabilities;
      const graph::Value t = widened(with_classes_last(labels, options.axis));
      return expected_losses(-widened(with_classes_last(log_probabilities, options.axis)), t, 0, options.weight,
                             options.reduce);
    }
    if (!are_labels_of(log_probabilities, labels, options.axis, options.weight)) return log_probabilities;
    const graph::Value x = widened(with_classes_last(log_probabilities, options.axis));
    const LabelledRows rows{x, labels, options.ignore_index};
    if (options.weight.id() < 0) return rows.reduced(-rows.of_label(x), {}, options.reduce);
    const graph::Value weight = graph::cast(options.weight, x.dtype());
    return rows.reduced(-rows.of_label(x) * rows.of_label(weight), weight, options.reduce);
  }
};

struct BinaryCrossEntropyFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value target,
                                                  BceWithLogitsOptions options = {}) const {
    const Naming naming{logits, "bce_with_logits"};
    require_equal_ranks(logits, target);
    const graph::Value x = widened(logits);
    const graph::Value t = widened(target);
    // log(1 + exp(x)) - x t; positive targets count p times: (1 - t) x + (1 - t + p t) log(1 + exp(-x))
    const graph::Term& p = options.pos_weight;
    graph::Value losses =
        p.is_number && p.number == 1 ? of_logits(x, t) : of_weighted_logits(x, t, 1.0 - t + graph::multiply(p, t));
    if (!options.weight.is_number || options.weight.number != 1) losses = losses * options.weight;
    return reduced(losses, options.reduce);
  }

private:
  /// In an order that loses no digits where prediction and target agree.
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value of_logits(graph::Value x, graph::Value t) {
    return graph::with_derivatives<by_logit, by_target>(
        (graph::maximum(x, 0) - x * t) + graph::log1p(graph::exp(-graph::abs(x))), x, t);
  }
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value of_weighted_logits(graph::Value x, graph::Value t, graph::Value w) {
    const graph::Value linear = (1.0 - t) * x + w * graph::maximum(-x, 0);
    const auto whole = [&](graph::Value part) { return graph::broadcast_to(part, linear.shape()); };
    return graph::with_rule(linear + w * graph::log1p(graph::exp(-graph::abs(x))),
                            graph::smooth_rule<by_weighted_logit, by_weighted_target, by_weight>,
                            {whole(x), whole(t), whole(w)});
  }
  using Weighted = graph::Applied<3>;
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value by_weighted_logit(const Weighted& f) {
    return f.x[2] * graph::sigmoid(f.x[0]) - (f.x[2] - 1.0 + f.x[1]);
  }
  [[nodiscard]] static constexpr graph::Value by_weighted_target(const Weighted& f) { return -f.x[0]; }
  [[nodiscard]] static constexpr graph::Value by_weight(const Weighted& f) { return graph::softplus(-f.x[0]); }
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value by_logit(const graph::Applied<2>& f) {
    return graph::sigmoid(f.x[0]) - f.x[1];
  }
  [[nodiscard]] static constexpr graph::Value by_target(const graph::Applied<2>& f) { return -f.x[0]; }
};

struct BceFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value probabilities, graph::Value target,
                                                  BceOptions options = {}) const {
    const Naming naming{probabilities, "bce"};
    require_equal_ranks(probabilities, target);
    if (probabilities.dtype() == DType::float16 || probabilities.dtype() == DType::bfloat16)
      probabilities.graph().refuse(graph::Problem::bce_of_probabilities_in_half_precision_use_bce_with_logits,
                                   static_cast<int>(probabilities.dtype()), static_cast<int>(DType::float32), {});
    const graph::Value p = widened(probabilities);
    const graph::Value t = widened(target);
    graph::Value losses = of_probabilities(p, t);
    if (!options.weight.is_number || options.weight.number != 1) losses = losses * options.weight;
    return reduced(losses, options.reduce);
  }

private:
  /// -(t log p + (1 - t) log(1 - p)), logarithms not below -100; the derivative (p - t) / (p (1 - p)) does not divide
  /// by less than 1e-12. Both like PyTorch, so that a probability of exactly 0 or 1 can still be changed by training.
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value of_probabilities(graph::Value p, graph::Value t) {
    return graph::with_derivatives<by_probability, by_target>(
        (t - 1.0) * logarithm(graph::log1p(-p)) - t * logarithm(graph::log(p)), p, t);
  }
  [[nodiscard]] static constexpr graph::Value logarithm(graph::Value of) { return graph::maximum(of, -100.0); }
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value by_probability(const graph::Applied<2>& f) {
    return (f.x[0] - f.x[1]) / graph::maximum((1.0 - f.x[0]) * f.x[0], 1e-12);
  }
  [[nodiscard]] static TWILL_CONSTEXPR graph::Value by_target(const graph::Applied<2>& f) {
    return logarithm(graph::log1p(-f.x[0])) - logarithm(graph::log(f.x[0]));
  }
};

struct KlFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value log_prediction, graph::Value target,
                                                  KlOptions options = {}) const {
    const Naming naming{log_prediction, "kl_divergence"};
    require_equal_ranks(log_prediction, target);
    const graph::Value x = widened(log_prediction);
    const graph::Value t = widened(target);
    // t (log t - x), zero where t is zero
    const graph::Value losses = options.log_target ? graph::exp(t) * (t - x) : graph::xlogy(t, t) - t * x;
    if (options.reduce == KlReduce::none) return losses;
    if (options.reduce == KlReduce::mean) return graph::mean(losses);
    const graph::Value total = graph::sum(losses);
    if (options.reduce == KlReduce::sum) return total;
    return total * graph::constant(x.graph(), x.dtype(), 1, x.shape()[0]);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// -log softmax(logits)[label]. logits: (batch, …, classes), labels: (batch, …) integers, or probabilities of all
/// classes in the shape of the logits.
/// throws: IndexError in a run on a host device, for a label that is no class; on a GPU, unless the step is checked,
/// and where the model computes labels, the loss is infinite
inline constexpr Loss<detail::CrossEntropyFormula> cross_entropy{};

/// -log_probabilities[label]; of probabilities -sum of probability times log_probabilities. Shapes as for
/// `cross_entropy`.
inline constexpr Loss<detail::NllFormula> nll{};

/// Binary cross entropy of sigmoid(logits) against targets in [0, 1], without overflow.
inline constexpr Loss<detail::BinaryCrossEntropyFormula> bce_with_logits{};

/// Binary cross entropy of probabilities in float32 or float64; `bce_with_logits` takes any precision.
inline constexpr Loss<detail::BceFormula> bce{};

/// The divergence of a distribution from a predicted one, which is given as logarithms (Kullback and Leibler, 1951).
inline constexpr Loss<detail::KlFormula> kl_divergence{};

}}}} // namespace twill::v0::nn::TWILL_ISA
