#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of parallel/group/communicator.hpp.

#include <twill/parallel/group/communicator.hpp>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

TWILL_BODY Call Call::all_reduce(ConstElements source, Elements target, Reduction reduction) {
  return {Operation::all_reduce, source, target, 0, reduction};
}

TWILL_BODY Call Call::all_reduce(Elements data, Reduction reduction) { return all_reduce(data, data, reduction); }

TWILL_BODY Call Call::reduce(ConstElements source, Elements target, int root, Reduction reduction) {
  return {Operation::reduce, source, target, root, reduction};
}

TWILL_BODY Call Call::reduce_scatter(ConstElements source, Elements target, Reduction reduction) {
  return {Operation::reduce_scatter, source, target, 0, reduction};
}

TWILL_BODY Call Call::gather(ConstElements source, Elements target, int root) {
  return {Operation::gather, source, target, root};
}

TWILL_BODY Call Call::scatter(ConstElements source, Elements target, int root) {
  return {Operation::scatter, source, target, root};
}

TWILL_BODY Call Call::send(ConstElements source, int destination, int tag) {
  return {Operation::send, source, {}, destination, Reduction::sum, tag};
}

TWILL_BODY Call Call::receive(Elements target, int source, int tag) {
  return {Operation::receive, {}, target, source, Reduction::sum, tag};
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
