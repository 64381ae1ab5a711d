// SPDX-License-Identifier: Apache-2.0
//
// The learning rate by the name that it has in PyTorch.
//
// expect: twill: the learning rate is called rate, not lr

#include <twill/optim/adam.hpp>

using namespace twill;

#ifdef MISUSE
const optim::Adam rule{{.lr = 0.1}};
#else
const optim::Adam rule{{.rate = 0.1}};
#endif
