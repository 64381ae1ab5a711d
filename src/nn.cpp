// SPDX-License-Identifier: Apache-2.0
//
// Bodies of nn/ in the compiled library.

#include <twill/nn/hooks.ipp>
#include <twill/nn/initialise.ipp>
#include <twill/nn/layer_hooks.ipp>
#include <twill/nn/shards.ipp>
#include <twill/nn/state_dict.ipp>
#include <twill/nn/stored_tensor.ipp>
