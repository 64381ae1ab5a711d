// SPDX-License-Identifier: Apache-2.0

#include "ptxrun/instructions/families.hpp"

#include <string_view>
#include <unordered_map>

namespace ptxrun {
namespace {

/// An instruction that integers and floating-point numbers share.
template <Decoder Integer, Decoder Floating = &decode_floating, Decoder HalfPrecision = &decode_half>
void by_type(Statement& statement) {
  const Type type = statement.type();
  if (is_half(type))
    HalfPrecision(statement);
  else if (is_single_or_double(type))
    Floating(statement);
  else
    Integer(statement);
}

const std::unordered_map<std::string_view, Decoder>& decoders() {
  static const auto* const all = new std::unordered_map<std::string_view, Decoder>{
      {"add", &by_type<&decode_integer_sum>},
      {"sub", &by_type<&decode_integer_sum>},
      {"addc", &decode_integer_sum},
      {"subc", &decode_integer_sum},
      {"mul", &by_type<&decode_integer_product>},
      {"mul24", &decode_product_of_24_bits},
      {"mad24", &decode_product_of_24_bits},
      {"mad", &by_type<&decode_integer_product_sum>},
      {"madc", &decode_integer_product_sum},
      {"fma", &by_type<&decode_integer_product_sum>},
      {"div", &by_type<&decode_integer_quotient>},
      {"rem", &decode_integer_remainder},
      {"min", &by_type<&decode_integer_minimum>},
      {"max", &by_type<&decode_integer_maximum>},
      {"abs", &by_type<&decode_integer_magnitude, &decode_sign, &decode_sign>},
      {"neg", &by_type<&decode_integer_negation, &decode_sign, &decode_sign>},
      {"copysign", &decode_sign},
      {"sqrt", &decode_floating},
      {"rsqrt", &decode_floating},
      {"rcp", &decode_floating},
      {"lg2", &decode_floating},
      {"sin", &decode_floating},
      {"cos", &decode_floating},
      {"ex2", &by_type<&decode_floating>},
      {"tanh", &by_type<&decode_floating>},
      {"and", &decode_logic},
      {"or", &decode_logic},
      {"xor", &decode_logic},
      {"not", &decode_logic},
      {"cnot", &decode_logic},
      {"shl", &decode_shift},
      {"shr", &decode_shift},
      {"shf", &decode_funnel_shift},
      {"lop3", &decode_look_up},
      {"prmt", &decode_permutation},
      {"bfe", &decode_field},
      {"bfi", &decode_field},
      {"bmsk", &decode_field},
      {"brev", &decode_bit_count},
      {"popc", &decode_bit_count},
      {"clz", &decode_bit_count},
      {"bfind", &decode_bit_count},
      {"setp", &decode_comparison},
      {"set", &decode_comparison},
      {"selp", &decode_selection},
      {"slct", &decode_selection},
      {"testp", &decode_test},
      {"mov", &decode_move},
      {"cvta", &decode_address_conversion},
      {"isspacep", &decode_space_test},
      {"cvt", &decode_conversion},
      {"ld", &decode_load},
      {"ldu", &decode_load},
      {"st", &decode_store},
      {"atom", &decode_atomic},
      {"red", &decode_atomic},
      {"membar", &decode_fence},
      {"fence", &decode_fence},
      {"shfl", &decode_shuffle},
      {"vote", &decode_vote},
      {"match", &decode_match},
      {"redux", &decode_warp_reduction},
      {"elect", &decode_election},
      {"activemask", &decode_active_mask},
      {"bra", &decode_branch},
      {"brx", &decode_branch},
      {"ret", &decode_end},
      {"exit", &decode_end},
      {"trap", &decode_end},
      {"brkpt", &decode_end},
      {"bar", &decode_barrier},
      {"barrier", &decode_barrier},
      {"call", &decode_call},
      {"nanosleep", &decode_nothing},
      {"prefetch", &decode_nothing},
      {"prefetchu", &decode_nothing},
      {"discard", &decode_nothing},
      {"applypriority", &decode_nothing},
      {"griddepcontrol", &decode_nothing},
      {"setmaxnreg", &decode_nothing}};
  return *all;
}

} // namespace

void decode(Statement& statement) {
  Instruction& instruction = statement.instruction;
  instruction.type = statement.type();
  instruction.flushes = statement.has("ftz");
  instruction.saturates = statement.has("sat");
  instruction.is_relu = statement.has("relu");
  instruction.rounding = statement.has("rz")    ? Rounding::zero
                         : statement.has("rm")  ? Rounding::down
                         : statement.has("rp")  ? Rounding::up
                         : statement.has("rni") ? Rounding::nearest_integral
                         : statement.has("rzi") ? Rounding::zero_integral
                         : statement.has("rmi") ? Rounding::down_integral
                         : statement.has("rpi") ? Rounding::up_integral
                                                : Rounding::nearest;
  const auto found = decoders().find(statement.opcode);
  if (found == decoders().end()) statement.reject("unknown instruction");
  found->second(statement);
  if (instruction.handler == nullptr && instruction.flow == Flow::next)
    statement.reject("instruction of an unknown type");
}

} // namespace ptxrun
