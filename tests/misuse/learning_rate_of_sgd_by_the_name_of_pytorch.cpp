// SPDX-License-Identifier: Apache-2.0
//
// The learning rate of gradient descent by the name that it has in PyTorch, beside another option.
//
// expect: twill: the learning rate is called rate, not lr

#include <twill/optim/sgd.hpp>

using namespace twill;

#ifdef MISUSE
const optim::MomentumSgd rule{{.lr = 0.1, .momentum = 0.5}};
#else
const optim::MomentumSgd rule{{.rate = 0.1, .momentum = 0.5}};
#endif
