// SPDX-License-Identifier: Apache-2.0
//
// Bodies of optim/ in the compiled library.

#include <twill/optim/lbfgs.ipp>
#include <twill/optim/options.ipp>
#include <twill/optim/schedules.ipp>
#include <twill/optim/sgd.ipp>
