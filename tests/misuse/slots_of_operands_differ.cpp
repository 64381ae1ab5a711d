// SPDX-License-Identifier: Apache-2.0
//
// A skip connection that stays on the device that the block has left.
//
// nvcc
// expect: operands_lie_in_different_slots_move_one_with_to
// expect: left_slot<1>
// expect: right_slot<0>

#include <twill/nn.hpp>

using namespace twill;

struct Block {
  static constexpr auto forward(Input<Dim<"batch">, 4> x) {
    const auto away = tanh(nn::linear(nn::to(x, nn::Slot{1}), 4, "block"));
#ifdef MISUSE
    return away + x;
#else
    return away + nn::to(x, nn::Slot{1});
#endif
  }
};

const auto slots = nn::Network<Block>::slots;
