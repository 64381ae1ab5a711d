// SPDX-License-Identifier: Apache-2.0
//
// Draws beside SciPy's distributions. A case is a distribution, its parameters and a seed, the operand some points. Results
// are the share of draws up to each point, which Dvoretzky, Kiefer and Wolfowitz bound around the distribution function; how
// often two neighbouring draws are both below the first point; mean and variance, where there are any. References have
// the bounds of one false alarm in a thousand million cases.

#include "tests/oracle/registry.hpp"

#include <twill/expr/distributions.hpp>
#include <twill/expr/draws.hpp>
#include <twill/tensor/access.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace oracle {
namespace {

using Plane = UnknownShape<2>;
using Numbers64 = std::vector<double>;
const Dims drawn_extents{97, 211}; // oracle.py's DRAWS

Values made_of(const std::vector<double>& numbers) {
  Values values{.type = DType::float64, .extents = Dims(static_cast<std::int64_t>(numbers.size()))};
  values.bytes.resize(numbers.size() * sizeof(double));
  std::memcpy(values.bytes.data(), numbers.data(), values.bytes.size());
  return values;
}
Values made_of(double number) {
  Values values = made_of(std::vector{number});
  values.extents = Dims{};
  return values;
}
template <class T> double wide(T x) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

template <class T> std::vector<double> numbers_of(const TensorOf<T, 2>& drawn) {
  std::vector<double> numbers;
  for (const T x : twill::to_vector(drawn)) numbers.push_back(wide(x));
  return numbers;
}

std::vector<Values> statistics_of(const std::vector<double>& x, const std::vector<double>& points, bool has_moments) {
  const auto count = static_cast<double>(x.size());
  std::vector<double> shares;
  for (const double point : points) {
    std::int64_t below = 0;
    for (const double each : x) below += each <= point ? 1 : 0;
    shares.push_back(static_cast<double>(below) / count);
  }
  std::int64_t both = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) both += x[i] <= points[0] && x[i + 1] <= points[0] ? 1 : 0;
  std::vector<Values> results{made_of(shares), made_of(static_cast<double>(both) / (count - 1))};
  if (!has_moments) return results;
  double sum = 0;
  for (const double each : x) sum += each;
  double squares = 0;
  for (const double each : x) squares += (each - sum / count) * (each - sum / count);
  results.push_back(made_of(sum / count));
  results.push_back(made_of(squares / (count - 1)));
  return results;
}

template <class F, class T, bool HasMoments> std::vector<Values> run_draw(const Case& test) {
  manual_seed(Cpu{0}, static_cast<std::uint64_t>(test.numbers.back()));
  const TensorOf<T, 2> drawn = F{}.template operator()<T>(test.numbers);
  std::vector<double> points;
  for (const T x : twill::to_vector(Views<T, 1>::make(test.operands.at(0)))) points.push_back(wide(x));
  return statistics_of(numbers_of<T>(drawn), points, HasMoments);
}

template <bool HasMoments = true, class F, Scalar... T>
void draws(Registry& to, const std::string& name, Types<T...>, F) {
  (to.push_back({name, {twill::dtype_of<T>}, exact, run_draw<F, T, HasMoments>}), ...);
}

/// A parameter for each element, all equal.
template <class T> TensorOf<T, 2> all(double number) {
  return twill::full<T, Plane>(drawn_extents, static_cast<T>(number), Cpu{0});
}

} // namespace

void add_draws(Registry& to) {
  using Real = Types<float, double>;
  using N = const Numbers64&;
  draws(to, "draws.gamma_each", Real{}, []<class T>(N n) { return twill::gamma(all<T>(n[0])); });
  draws(to, "draws.poisson_each", Real{}, []<class T>(N n) { return twill::poisson(all<T>(n[0])); });
  draws(to, "draws.bernoulli_each", Real{}, []<class T>(N n) { return twill::bernoulli(all<T>(n[0])); });
  draws(to, "draws.dirichlet", Real{}, []<class T>(N n) { // the first of three numbers
    const auto concentrations = twill::tensor({static_cast<T>(n[0]), static_cast<T>(n[1]), static_cast<T>(1.5)});
    const auto rows = twill::dirichlet(concentrations, drawn_extents.elements());
    return TensorOf<T, 2>(rows(twill::slice{}, twill::slice{.begin = 0, .end = 1}));
  });
  draws(to, "draws.rand", Types<half, bfloat16, float, double>{},
        []<class T>(N) { return twill::rand<T, Plane>(drawn_extents); });
  draws(to, "draws.randn", Types<half, bfloat16, float, double>{},
        []<class T>(N) { return twill::randn<T, Plane>(drawn_extents); });
  draws(to, "draws.uniform", Real{}, []<class T>(N n) { return twill::uniform<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.normal", Real{}, []<class T>(N n) { return twill::normal<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.exponential", Real{},
        []<class T>(N n) { return twill::exponential<T, Plane>(n[0], drawn_extents); });
  draws(to, "draws.laplace", Real{}, []<class T>(N n) { return twill::laplace<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.gumbel", Real{}, []<class T>(N n) { return twill::gumbel<T, Plane>(n[0], n[1], drawn_extents); });
  draws<false>(to, "draws.cauchy", Real{},
               []<class T>(N n) { return twill::cauchy<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.log_normal", Real{},
        []<class T>(N n) { return twill::log_normal<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.truncated_normal", Real{},
        []<class T>(N n) { return twill::truncated_normal<T, Plane>(n[0], n[1], n[2], n[3], drawn_extents); });
  draws(to, "draws.gamma", Real{}, []<class T>(N n) { return twill::gamma<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.beta", Real{}, []<class T>(N n) { return twill::beta<T, Plane>(n[0], n[1], drawn_extents); });
  draws(to, "draws.poisson", Types<std::int32_t, std::int64_t, double>{},
        []<class T>(N n) { return twill::poisson<T, Plane>(n[0], drawn_extents); });
  draws(to, "draws.integers",
        Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
              std::uint64_t>{},
        []<class T>(N n) {
          return twill::integers<T, Plane>(static_cast<std::int64_t>(n[0]), static_cast<std::int64_t>(n[1]),
                                           drawn_extents);
        });
  draws(to, "draws.bernoulli", Types<std::uint8_t, float>{},
        []<class T>(N n) { return twill::bernoulli<T, Plane>(n[0], drawn_extents); });
}

} // namespace oracle
