// SPDX-License-Identifier: Apache-2.0
//
// Constexpr functions for use at run time in the compiled library, which headers define with TWILL_CONSTEXPR. Models are traced
// by them in milliseconds: cmake/compiled_library.cmake has this file compiled at -O1.

#define TWILL_BUILDS_CONSTEXPR
#include <twill/fft/value_convolve.hpp>
#include <twill/fft/value_cosine.hpp>
#include <twill/fft/value_lines.hpp>
#include <twill/fft/value_several_axes.hpp>
#include <twill/fft/value_transforms.hpp>
#include <twill/linalg.hpp>
#include <twill/nn/auxiliary_loss.hpp>
#include <twill/nn/convolution3d.hpp>
#include <twill/nn/embedding_bag.hpp>
#include <twill/nn/gates.hpp>
#include <twill/nn/local_response_norm.hpp>
#include <twill/nn/losses/concatenated_ctc.hpp>
#include <twill/nn/losses/ctc.hpp>
#include <twill/nn/losses/margin.hpp>
#include <twill/nn/mixture_of_experts.hpp>
#include <twill/nn/projected_lstm.hpp>
#include <twill/nn/recurrent_cells.hpp>
#include <twill/nn/transformer.hpp>
#include <twill/nn/transposed_convolution3d.hpp>
#include <twill/nn/weight_norm.hpp>
#include <twill/ops/all_to_all.hpp>
#include <twill/ops/complex_functions.hpp>
#include <twill/ops/complex_moves.hpp>
#include <twill/ops/complex_value.hpp>
#include <twill/ops/convolution3d.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/padded_rows.hpp>
#include <twill/ops/patches.hpp>
#include <twill/ops/pooling3d.hpp>
#include <twill/ops/repeat.hpp>
#include <twill/ops/resample.hpp>
#include <twill/ops/ring_attention.hpp>
#include <twill/ops/ring_shift.hpp>
#include <twill/ops/transposed_convolution3d.hpp>
#include <twill/ops/value_diagonals.hpp>
#include <twill/ops/value_draws.hpp>
#include <twill/ops/value_quantiles.hpp>
#include <twill/ops/value_samples.hpp>
#include <twill/ops/value_search.hpp>
#include <twill/ops/value_statistics.hpp>
#include <twill/ops/value_windows.hpp>
#include <twill/optim/adafactor.hpp>
#include <twill/optim/adaptive.hpp>
#include <twill/optim/muon.hpp>
#include <twill/optim/sam.hpp>
#include <twill/sparse/csr_value.hpp>
#include <twill/twill.hpp>
