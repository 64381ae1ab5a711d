#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Pooling layers. They have no weights: they are the functions of ops/pooling.hpp under the names used in models.

#include <twill/core/config.hpp>
#include <twill/ops/pooling.hpp>

namespace twill { inline namespace v0 { namespace nn { inline namespace TWILL_ISA {

using graph::AveragePoolOptions;
using graph::CeilMode;
using graph::CountPadding;
using graph::MaxPoolOptions;

using graph::adaptive_avg_pool1d;
using graph::adaptive_avg_pool2d;
using graph::adaptive_max_pool1d;
using graph::adaptive_max_pool2d;
using graph::avg_pool1d;
using graph::avg_pool2d;
using graph::max_pool1d;
using graph::max_pool2d;

}}}} // namespace twill::v0::nn::TWILL_ISA
