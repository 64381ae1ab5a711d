// SPDX-License-Identifier: Apache-2.0
//
// The training step of a ResNet-50 with mixed precision, whose trace has 8,589 nodes: nvcc's front end compiles it to tables and
// finds none of its memory leaking (core/list.hpp).

#include <examples/models/resnet.hpp>

#include <twill/nn/autocast.hpp>
#include <twill/nn/losses.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/training/train_step.hpp>

#include <cstdint>
#include <type_traits>

namespace {

using namespace twill;

using Model = nn::Autocast<models::ResNet50<224>, bfloat16>;
using Loss = std::remove_cvref_t<decltype(nn::cross_entropy)>;
using Step = training::WholeStep<Model, float, Loss, optim::Sgd, compile::Argument<std::int64_t, Shape<dyn>>>;

static_assert(compile::Compiled<Step>::sizes.kernels > 1);

} // namespace
