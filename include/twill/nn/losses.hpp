#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Losses as function objects on traced values, means over the batch. They are passed to `train_step`, called on what
// `forward` returns, or called inside a traced function; definitions are PyTorch's.

#include <twill/core/config.hpp>
#include <twill/nn/activations.hpp>

namespace twill::inline v0::nn::inline TWILL_ISA {

/// A loss from its formula on traced values.
template <class Formula> struct Loss : Formula {
  using Formula::operator();

  /// The loss of what a network's `forward` returned, as one more stage; see nn/tracked.hpp.
  template <class Prediction, class Target>
  requires(!std::derived_from<Prediction, graph::Value>) [[nodiscard]] auto operator()(const Prediction& prediction,
                                                                                       const Target& target) const {
    return apply(*this, prediction, target);
  }
};

} // namespace twill::inline v0::nn::inline TWILL_ISA

namespace twill::inline v0::nn::detail::inline TWILL_ISA {

struct CrossEntropyFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value labels) const {
    graph::Graph& graph = logits.graph();
    const graph::Extents shape = logits.shape();
    if (is_floating(labels.dtype()) || labels.dtype() == DType::boolean)
      graph.refuse(graph::Problem::labels_are_not_integers, static_cast<int>(labels.dtype()), 0, 0);
    if (shape.rank != labels.rank() + 1) {
      graph.refuse(graph::Problem::loss_shapes_differ, shape.rank, labels.rank() + 1, 0);
      return logits;
    }
    graph::Extents classes{};
    classes.append(shape[shape.rank - 1]);
    const graph::Value is_label =
        graph::equal(graph::unsqueeze(graph::cast(labels, DType::int64), -1), graph::iota(graph, classes));
    // -log softmax(x)[label] = log(sum(exp(x))) - x[label]
    const graph::Value picked = graph::sum(graph::where(is_label, logits, 0), {-1}, graph::KeepDims::yes);
    return graph::mean(graph::logsumexp(logits) - picked);
  }
};

[[nodiscard]] constexpr graph::Value difference(graph::Value prediction, graph::Value target) {
  if (prediction.rank() != target.rank())
    prediction.graph().refuse(graph::Problem::loss_shapes_differ, prediction.rank(), target.rank(), 0);
  return prediction - target;
}

struct MeanSquaredErrorFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target) const {
    return graph::mean(graph::square(difference(prediction, target)));
  }
};

struct MeanAbsoluteErrorFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value prediction, graph::Value target) const {
    return graph::mean(graph::abs(difference(prediction, target)));
  }
};

struct BinaryCrossEntropyFormula {
  [[nodiscard]] constexpr graph::Value operator()(graph::Value logits, graph::Value target) const {
    // max(x, 0) - x t + log(1 + exp(-|x|))
    return graph::mean(graph::softplus(logits) - logits * target);
  }
};

} // namespace twill::inline v0::nn::detail::inline TWILL_ISA

namespace twill::inline v0::nn::inline TWILL_ISA {

/// Mean of -log softmax(logits)[label]. logits: (batch, classes), labels: (batch) integers.
inline constexpr Loss<detail::CrossEntropyFormula> cross_entropy{};

/// Mean of (prediction - target)^2.
inline constexpr Loss<detail::MeanSquaredErrorFormula> mse{};

/// Mean of |prediction - target|.
inline constexpr Loss<detail::MeanAbsoluteErrorFormula> l1{};

/// Binary cross entropy of sigmoid(logits) against targets in [0, 1], without overflow.
inline constexpr Loss<detail::BinaryCrossEntropyFormula> bce_with_logits{};

} // namespace twill::inline v0::nn::inline TWILL_ISA
