// SPDX-License-Identifier: Apache-2.0
//
// GPT-2 of 124 million weights on 256 tokens, for bench/models/compare.py.

#include "examples/models/gpt2.hpp"
#include "bench/models/step_server.hpp"

namespace {

template <class D> using Tokens = twill::Tensor<std::int64_t, D, twill::Shape<twill::dyn, 256>>;

} // namespace

int main(int count, char** arguments) {
  return bench::serve<models::Gpt2<models::gpt2_small, 256>, Tokens, Tokens>(count, arguments, models::NextToken{});
}
