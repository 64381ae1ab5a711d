// SPDX-License-Identifier: Apache-2.0
//
// Special functions at given arguments, for tools/ulp/special_functions.py: reads lines of a function and its arguments, and
// prints the result, in hexadecimal. Arguments of `name:32` are float32 numbers, as the result is.

#include <twill/kernel/apply.hpp>

#include <cstdio>
#include <cstring>
#include <string_view>

using namespace twill;
using kernel::Primitive;

namespace {

struct Function {
  std::string_view name;
  double (*wide)(const double* x);
  double (*narrow)(const double* x);
};

template <Primitive P, class T> double value(const double* x) {
  constexpr int arity = kernel::info(P).arity;
  const auto at = [&](int i) { return static_cast<T>(x[i]); };
  if constexpr (arity == 1)
    return static_cast<double>(kernel::apply<P>(at(0)));
  else if constexpr (arity == 2)
    return static_cast<double>(kernel::apply<P>(at(0), at(1)));
  else
    return static_cast<double>(kernel::apply<P>(at(0), at(1), at(2)));
}
template <Primitive P> constexpr Function function{kernel::info(P).name, &value<P, double>, &value<P, float>};

constexpr Function functions[] = {
    function<Primitive::digamma>,   function<Primitive::polygamma>, function<Primitive::erfinv>,
    function<Primitive::ndtri>,     function<Primitive::i0>,        function<Primitive::i0e>,
    function<Primitive::i1>,        function<Primitive::i1e>,       function<Primitive::bessel_j0>,
    function<Primitive::bessel_j1>, function<Primitive::gammainc>,  function<Primitive::gammaincc>,
    function<Primitive::betainc>,
};

} // namespace

int main() {
  char line[256], name[32];
  while (std::fgets(line, sizeof line, stdin) != nullptr) {
    double x[3]{};
    if (std::sscanf(line, "%31s %la %la %la", name, &x[0], &x[1], &x[2]) < 2) return 1;
    char* const type = std::strchr(name, ':');
    if (type != nullptr) *type = 0;
    for (const Function& each : functions)
      if (each.name == name) std::printf("%a\n", type != nullptr ? each.narrow(x) : each.wide(x));
  }
}
