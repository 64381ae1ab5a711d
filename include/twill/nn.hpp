#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of nn/.

#include <twill/nn/activations.hpp>
#include <twill/nn/attention.hpp>
#include <twill/nn/autocast.hpp>
#include <twill/nn/batch_norm.hpp>
#include <twill/nn/convolution.hpp>
#include <twill/nn/declared_inputs.hpp>
#include <twill/nn/device_trace.hpp>
#include <twill/nn/dropout.hpp>
#include <twill/nn/embedding.hpp>
#include <twill/nn/fit.hpp>
#include <twill/nn/hooked.hpp>
#include <twill/nn/hooks.hpp>
#include <twill/nn/initialise.hpp>
#include <twill/nn/initialisers.hpp>
#include <twill/nn/layer_hooks.hpp>
#include <twill/nn/leaf.hpp>
#include <twill/nn/linear.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/losses/classification.hpp>
#include <twill/nn/losses/loss.hpp>
#include <twill/nn/losses/regression.hpp>
#include <twill/nn/moved.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/network_state.hpp>
#include <twill/nn/norm_layers.hpp>
#include <twill/nn/normalisation.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/nn/recurrent.hpp>
#include <twill/nn/recurrent_layers.hpp>
#include <twill/nn/run_executor.hpp>
#include <twill/nn/shards.hpp>
#include <twill/nn/slot.hpp>
#include <twill/nn/spectral_norm.hpp>
#include <twill/nn/stage.hpp>
#include <twill/nn/stage_boundary.hpp>
#include <twill/nn/state_dict.hpp>
#include <twill/nn/stored_tensor.hpp>
#include <twill/nn/tap.hpp>
#include <twill/nn/tensor_parallel.hpp>
#include <twill/nn/tracked.hpp>
#include <twill/nn/tracked_functions.hpp>
