#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Everything for hosts: twill.hpp with data sets, files, several devices and profiling.

#include <twill/algorithms/partition.hpp>
#include <twill/algorithms/sampled.hpp>
#include <twill/algorithms/sets.hpp>
#include <twill/data.hpp>
#include <twill/expr/distances.hpp>
#include <twill/fft.hpp>
#include <twill/io.hpp>
#include <twill/linalg.hpp>
#include <twill/nn/convolution3d.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/losses/ctc.hpp>
#include <twill/nn/losses/likelihood.hpp>
#include <twill/nn/losses/margin.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/nn/weight_norm.hpp>
#include <twill/ops/convolution3d.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/pooling3d.hpp>
#include <twill/ops/repeat.hpp>
#include <twill/ops/resample.hpp>
#include <twill/ops/sides3.hpp>
#include <twill/optim/adaptive.hpp>
#include <twill/optim/averaged.hpp>
#include <twill/optim/maximize.hpp>
#include <twill/parallel.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>
