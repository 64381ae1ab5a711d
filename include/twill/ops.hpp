#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of ops/.

#include <twill/ops/attention.hpp>
#include <twill/ops/axes.hpp>
#include <twill/ops/biased_product.hpp>
#include <twill/ops/channels_last.hpp>
#include <twill/ops/collective.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/move.hpp>
#include <twill/ops/norms.hpp>
#include <twill/ops/padded_rows.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/rank_sum.hpp>
#include <twill/ops/slice.hpp>
#include <twill/ops/sort.hpp>
#include <twill/ops/split.hpp>
#include <twill/ops/transposed_convolution.hpp>
#include <twill/ops/transposed_convolution3d.hpp>
#include <twill/ops/triangles.hpp>
