#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of ops/.

#include <twill/ops/channels_last.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/transposed_convolution.hpp>
