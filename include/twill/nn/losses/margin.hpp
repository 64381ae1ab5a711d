#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Margin losses: of pairs and triplets of vectors, of rankings, and of classes. Definitions, defaults and divisors are
// PyTorch's, slopes at the margin as well. Targets of pairs are 1 and -1. Not in twill.hpp. Read next:
// nn/losses/likelihood.hpp.

#include <twill/core/config.hpp>
#include <twill/nn/losses/classification.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/norms.hpp>

#include <limits>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Options of a loss of similar and dissimilar pairs.
struct HingeEmbeddingOptions {
  double margin = 1;            ///< distance from which on a dissimilar pair costs nothing
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a ranking loss.
struct MarginRankingOptions {
  double margin = 0;            ///< by which the greater one has to be greater
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a loss of angles between vectors.
struct CosineEmbeddingOptions {
  double margin = 0;            ///< cosine up to which a dissimilar pair costs nothing
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a triplet loss.
struct TripletMarginOptions {
  double margin = 1;            ///< by which the negative has to be further away
  double order = 2;             ///< of the norm; infinity: the greatest difference
  double epsilon = 1e-6;        ///< added to each difference
  bool swap = false;            ///< whether the positive's distance from the negative counts where it is less
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of a margin loss over classes.
struct MultiMarginOptions {
  double margin = 1;            ///< by which the label's value has to exceed the others
  int power = 1;                ///< of the excess, 1 or 2
  graph::Value weight{};        ///< of each class, a vector
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of losses of logistic margins.
struct SoftMarginOptions {
  Reduce reduce = Reduce::mean; ///< mean, sum or none
};
/// Options of the hinge loss over classes of which several may apply.
struct MultilabelMarginOptions {
  Reduce reduce = Reduce::mean; ///< mean, sum or none, of the rows
};
/// Options of a loss over classes of which several may apply.
struct MultilabelSoftMarginOptions {
  graph::Term weight = 1.0;     ///< of each class, a number or a vector
  Reduce reduce = Reduce::mean; ///< mean, sum or none, of the rows
};

}}}} // namespace twill::v0::nn::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

/// max(x, 0) with slope 0 at 0.
[[nodiscard]] TWILL_CONSTEXPR graph::Value above_zero(graph::Value x) { return graph::clamp_min(x, 0.0); }

struct HingeEmbeddingFormula {
  // x where y = 1, max(0, margin - x) where y = -1
  [[nodiscard]] constexpr graph::Value operator()(graph::Value x, graph::Value target,
                                                  HingeEmbeddingOptions options = {}) const {
    const Naming naming{x, "hinge_embedding"};
    require_equal_ranks(x, target);
    const graph::Value wide = widened(x);
    const graph::Value apart = graph::where(graph::not_equal(target, 1), above_zero(options.margin - wide), 0.0);
    return reduced(apart + graph::where(graph::not_equal(target, -1), wide, 0.0), options.reduce);
  }
};

struct MarginRankingFormula {
  // max(0, -y (a - b) + margin)
  [[nodiscard]] constexpr graph::Value operator()(graph::Value first, graph::Value second, graph::Value target,
                                                  MarginRankingOptions options = {}) const {
    const Naming naming{first, "margin_ranking"};
    require_equal_ranks(first, second);
    require_equal_ranks(first, target);
    const graph::Value way = widened(first) - widened(second);
    return reduced(above_zero(options.margin - graph::cast(target, way.dtype()) * way), options.reduce);
  }
};

struct CosineEmbeddingFormula {
  // 1 - cos(a, b) where y = 1, max(0, cos(a, b) - margin) where y = -1; squares of lengths are increased by 1e-12
  [[nodiscard]] constexpr graph::Value operator()(graph::Value first, graph::Value second, graph::Value target,
                                                  CosineEmbeddingOptions options = {}) const {
    const Naming naming{first, "cosine_embedding"};
    require_equal_ranks(first, second);
    if (target.rank() + 1 != first.rank())
      first.graph().refuse(graph::Problem::loss_shapes_differ, first.rank(), target.rank() + 1, {});
    if (first.graph().fault.any()) return first;
    const graph::Value a = widened(first), b = widened(second);
    const auto over_rows = [](graph::Value x) { return graph::sum(x, {-1}); };
    const graph::Value squares = (over_rows(a * a) + 1e-12) * (over_rows(b * b) + 1e-12);
    const graph::Value cosine = over_rows(a * b) / graph::sqrt(squares);
    const graph::Value alike = graph::where(graph::equal(target, 1), 1.0 - cosine, 0.0);
    return reduced(alike + graph::where(graph::equal(target, -1), above_zero(cosine - options.margin), 0.0),
                   options.reduce);
  }
};

struct TripletMarginFormula {
  // max(0, margin + |a - p| - |a - n|)
  [[nodiscard]] constexpr graph::Value operator()(graph::Value anchor, graph::Value positive, graph::Value negative,
                                                  TripletMarginOptions options = {}) const {
    const Naming naming{anchor, "triplet_margin"};
    require_equal_ranks(anchor, positive);
    require_equal_ranks(anchor, negative);
    if (anchor.graph().fault.any()) return anchor;
    const auto distance = [&](graph::Value a, graph::Value b) {
      return graph::pairwise_distance(widened(a), widened(b), options.order, options.epsilon);
    };
    graph::Value far = distance(anchor, negative);
    if (options.swap) far = graph::minimum(far, distance(positive, negative));
    return reduced(above_zero(distance(anchor, positive) - far + options.margin), options.reduce);
  }
};

struct MultiMarginFormula {
  // sum over other classes of max(0, margin - x[label] + x[class])^p / classes
  [[nodiscard]] constexpr graph::Value operator()(graph::Value values, graph::Value labels,
                                                  MultiMarginOptions options = {}) const {
    const Naming naming{values, "multi_margin"};
    if (!are_labels_of(values, labels, -1, options.weight)) return values;
    const graph::Value x = widened(values);
    const LabelledRows rows{x, labels, no_index};
    graph::Value excess = above_zero(x - rows.of_label(x) + options.margin);
    if (options.power == 2) excess = graph::square(excess);
    graph::Value losses = graph::mean(graph::where(rows.is_label, 0.0, excess), {-1}, graph::KeepDims::yes);
    if (options.weight.id() >= 0) losses = losses * rows.of_label(graph::cast(options.weight, x.dtype()));
    return reduced(graph::sum(rows.checked(losses), {-1}), options.reduce); // of one each
  }
};

struct MultilabelMarginFormula {
  // sum over labels and over classes that are no label of max(0, 1 - x[label] + x[class]) / classes
  [[nodiscard]] constexpr graph::Value operator()(graph::Value values, graph::Value labels,
                                                  MultilabelMarginOptions options = {}) const {
    const Naming naming{values, "multilabel_margin"};
    graph::Graph& graph = values.graph();
    if (is_floating(labels.dtype()) || labels.dtype() == DType::boolean)
      graph.refuse(graph::Problem::labels_are_not_integers, static_cast<int>(labels.dtype()), 0, {});
    require_equal_ranks(values, labels);
    if (graph.fault.any()) return values;
    for (int axis = 0; axis < values.rank(); ++axis) require_extent(graph, values.shape()[axis], labels.shape()[axis]);
    if (graph.fault.any() || values.rank() == 0) return values;
    const graph::Value x = widened(values);
    const graph::Extent classes = x.shape()[x.rank() - 1];
    graph.require_within(labels.id(), {.what = "a label", .has_exception = true, .exception = -1, .end = classes});
    graph::Extents line{};
    line.append(classes);
    const graph::Value label = graph::cast(labels, DType::int64);
    // Labels after the first -1 do not count, one that stands twice counts twice.
    const graph::Value counts = graph::equal(graph::cumsum(label < 0, -1), 0);
    const graph::Value is_label = graph::logical_and(
        graph::unsqueeze(counts, -1), graph::equal(graph::unsqueeze(label, -1), graph::iota(graph, line)));
    const graph::Value times = graph::sum(is_label, {-2}); // of each class
    const graph::Value excess = 1.0 - graph::unsqueeze(x, -1) + graph::unsqueeze(x, -2);
    const graph::Value weight =
        graph::unsqueeze(times, -1) * graph::cast(graph::unsqueeze(graph::equal(times, 0), -2), DType::int64);
    const graph::Value hinges = above_zero(excess) * graph::cast(weight, x.dtype());
    const graph::Value losses = graph::sum(graph::mean(hinges, {-2}), {-1});
    const graph::Value is_whole = graph::equal(graph::sum(times, {-1}), graph::sum(counts, {-1}));
    return reduced(graph::where(is_whole, losses, std::numeric_limits<double>::infinity()), options.reduce);
  }
};

struct SoftMarginFormula {
  // log(1 + exp(-y x))
  [[nodiscard]] constexpr graph::Value operator()(graph::Value x, graph::Value target,
                                                  SoftMarginOptions options = {}) const {
    const Naming naming{x, "soft_margin"};
    require_equal_ranks(x, target);
    const graph::Value wide = widened(x);
    return reduced(graph::softplus(-(graph::cast(target, wide.dtype()) * wide)), options.reduce);
  }
};

struct MultilabelSoftMarginFormula {
  // -(y log sigmoid(x) + (1 - y) log sigmoid(-x)), the mean over classes
  [[nodiscard]] constexpr graph::Value operator()(graph::Value x, graph::Value target,
                                                  MultilabelSoftMarginOptions options = {}) const {
    const Naming naming{x, "multilabel_soft_margin"};
    require_equal_ranks(x, target);
    const graph::Value wide = widened(x);
    const graph::Value t = graph::cast(target, wide.dtype());
    graph::Value losses = -(t * graph::logsigmoid(wide) + (1.0 - t) * graph::logsigmoid(-wide));
    if (!options.weight.is_number || options.weight.number != 1) losses = losses * options.weight;
    return reduced(graph::mean(losses, {-1}), options.reduce);
  }
};

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

/// Distances x of pairs, whose target is 1 if they are similar: x, or -1 if not: max(0, margin - x).
inline constexpr Loss<detail::HingeEmbeddingFormula> hinge_embedding{};

/// max(0, -y (a - b) + margin): a is to be greater where y is 1, b where it is -1.
inline constexpr Loss<detail::MarginRankingFormula> margin_ranking{};

/// 1 - cos(a, b) of similar pairs (target 1), max(0, cos(a, b) - margin) of others (-1).
/// a, b: (..., width), target: (...)
inline constexpr Loss<detail::CosineEmbeddingFormula> cosine_embedding{};

/// max(0, |anchor - positive| - |anchor - negative| + margin) of rows (..., width) (Schroff et al., 2015).
inline constexpr Loss<detail::TripletMarginFormula> triplet_margin{};

/// The mean over classes of max(0, margin - x[label] + x[class])^p, without the label's own. x: (batch, classes),
/// labels: (batch) integers.
inline constexpr Loss<detail::MultiMarginFormula> multi_margin{};

/// The sum over labels and over classes that are no label of max(0, 1 - x[label] + x[class]), divided by the classes.
/// x: (batch, classes), labels: (batch, classes) integers, of which those before the first -1 count.
/// throws: IndexError as for `cross_entropy`
inline constexpr Loss<detail::MultilabelMarginFormula> multilabel_margin{};

/// log(1 + exp(-y x)) for targets 1 and -1.
inline constexpr Loss<detail::SoftMarginFormula> soft_margin{};

/// Binary cross entropy of sigmoid(x) for each class, the mean over the last axis, which are the classes.
inline constexpr Loss<detail::MultilabelSoftMarginFormula> multilabel_soft_margin{};

}}}} // namespace twill::v0::nn::TWILL_ISA
