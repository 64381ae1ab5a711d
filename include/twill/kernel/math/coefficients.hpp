#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients of the vector functions, lowest first. Written by `tools/remez/remez.py --write`, with the function, the
// interval and the error before rounding of each list; do not edit. Read next: kernel/math/polynomial.hpp.

namespace twill { inline namespace v0 { namespace kernel { namespace math_coefficients {

// clang-format off
/// (e^r - 1 - r) / r^2 on [-0.34657, 0.34657]; error 1.2e-07
inline constexpr float exp_reduced[] = {0x1p-1F, 0x1.5554dep-3F, 0x1.5555bap-5F, 0x1.120b1ep-7F, 0x1.6c6a18p-10F};

/// (2^r - 1) / r on [-0.501, 0.501]; error 2.4e-10
inline constexpr float exp2_reduced[] = {0x1.62e43p-1F, 0x1.ebfbep-3F, 0x1.c6b08cp-5F, 0x1.3b2a1ap-7F, 0x1.5d88bep-10F,
                                         0x1.4440ap-13F, 0x1.ffcc8ap-17F};

/// (log(1 + f) - f + f^2 / 2) / f^3 on [-0.29289, 0.41421]; error 4.1e-07
inline constexpr float log_mantissa[] = {0x1.555554p-2F, -0x1.0000ccp-2F, 0x1.999fe6p-3F, -0x1.54d1dp-3F,
                                         0x1.23050ap-3F, -0x1.0a0538p-3F, 0x1.033052p-3F, -0x1.469fc6p-4F};

/// log2(1 + f) / f - 1.4375 on [-0.29289, 0.41421]; error 4.1e-09
inline constexpr float log2_mantissa[] = {0x1.547652p-8F, -0x1.71547p-1F, 0x1.ec7096p-2F, -0x1.715a76p-2F,
                                          0x1.277e38p-2F, -0x1.eabc88p-3F, 0x1.a305a4p-3F, -0x1.874be4p-3F,
                                          0x1.7d4956p-3F, -0x1.c25a9ep-4F};

/// log10(1 + f) / f - 0.4375 on [-0.29289, 0.41421]; error 4.1e-09
inline constexpr float log10_mantissa[] = {-0x1.a42756p-9F, -0x1.bcb7aap-3F, 0x1.287a72p-3F, -0x1.bcbeeap-4F,
                                           0x1.63cf1ep-4F, -0x1.2773eap-4F, 0x1.f88d84p-5F, -0x1.d72afap-5F,
                                           0x1.cb1d5ap-5F, -0x1.0f23dep-5F};

/// (sin(r) / r - 1) / t in t = r^2 on [0, 0.62302]; error 1.3e-07
inline constexpr float sin_reduced[] = {-0x1.555552p-3F, 0x1.110c08p-7F, -0x1.9ab942p-13F};

/// (cos r - 1 + t / 2) / t^2 in t = r^2 on [0, 0.62302]; error 5.0e-08
inline constexpr float cos_reduced[] = {0x1.555554p-5F, -0x1.6c12bcp-10F, 0x1.9bcc4cp-16F};

/// (asin(x) / x - 1) / t in t = x^2 on [0, 0.2501]; error 3.6e-07
inline constexpr float asin_small[] = {0x1.55555ep-3F, 0x1.3326bcp-4F, 0x1.70b9bap-5F, 0x1.b219a6p-6F, 0x1.38fa96p-5F};

/// (atan(x) / x - 1) / t in t = x^2 on [0, 0.3636]; error 9.2e-08
inline constexpr float atan_small[] = {-0x1.555554p-2F, 0x1.99965cp-3F, -0x1.24270ep-3F, 0x1.bcbdc8p-4F,
                                       -0x1.37e88cp-4F, 0x1.100d5cp-5F};

/// (sinh(x) / x - 1) / t in t = x^2 on [0, 1]; error 5.1e-07
inline constexpr float sinh_small[] = {0x1.55556p-3F, 0x1.110402p-7F, 0x1.a8d466p-13F};

/// (tanh(x) / x - 1) / t in t = x^2 on [0, 0.4]; error 1.5e-07
inline constexpr float tanh_small[] = {-0x1.555552p-2F, 0x1.110dd8p-3F, -0x1.b9159cp-5F, 0x1.576efap-6F,
                                       -0x1.8c30f2p-8F};

/// tanh(x) / x in t = x^2 on [0, 68.89]; error 9.7e-09; polished
inline constexpr float tanh_fast_p[] = {0x1p+0F, 0x1.13033ep-3F, 0x1.d19424p-9F, 0x1.69a33ap-16F, 0x1.f97ac4p-27F};
inline constexpr float tanh_fast_q[] = {0x1p+0F, 0x1.ded6eep-2F, 0x1.ab7a1ap-6F, 0x1.62474cp-12F, 0x1.bebebep-21F};
inline constexpr float tanh_fast_bound = 0x1.038788p+3F; ///< where the quotient is 1 to the bit

/// erf(x) / x in t = x^2 on [0, 15.445]; error 1.9e-08; polished
inline constexpr float erf_fast_p[] = {0x1.20dd74p+0F, 0x1.86b9b8p-3F, 0x1.b07546p-5F, 0x1.ef66bap-9F, 0x1.2aa4c4p-12F,
                                       0x1.1211a2p-19F};
inline constexpr float erf_fast_q[] = {0x1p+0F, 0x1.013bf2p-1F, 0x1.d3ffbcp-4F, 0x1.eb6facp-7F, 0x1.317428p-10F,
                                       0x1.3ecd2ap-15F};
inline constexpr float erf_fast_bound = 0x1.ecccd8p+1F; ///< where the quotient is 1 to the bit

/// erf(x) / x - 1.125 in t = x^2 on [0, 0.81]; error 2.9e-10
inline constexpr float erf_small[] = {0x1.baea06p-9F, -0x1.812744p-2F, 0x1.ce2e54p-4F, -0x1.b81524p-6F, 0x1.550a44p-8F,
                                      -0x1.aca38ep-11F, 0x1.6510b6p-14F};

/// -log(erfc(x)), the error that of erf on [0.88, 3.95]; error 4.8e-11
inline constexpr float erf_large[] = {-0x1.27f106p-13F, 0x1.211bccp+0F, 0x1.447f2cp-1F, 0x1.b926e2p-4F,
                                      -0x1.93e304p-6F, 0x1.01be04p-8F, -0x1.79bc88p-12F, 0x1.1198f6p-17F,
                                      0x1.036cb6p-20F};

/// erfc(x) e^(x^2) on [0, 10.3]; error 2.9e-11
inline constexpr double erfc_scaled_p[] = {0x1.ffffffffc045bp-1, 0x1.632a03bf013bcp+0, 0x1.e3164adeb1ae7p-1,
                                           0x1.79d3008a4e8d2p-2, 0x1.51c18f3d47623p-4, 0x1.17f6d73c3718dp-7,
                                           0x1.d24dda1d40b36p-30};
inline constexpr double erfc_scaled_q[] = {0x1p+0, 0x1.4203bc58a8017p+1, 0x1.642057d460013p+1, 0x1.beb1c737aab57p+0,
                                           0x1.52be41fb8a961p-1, 0x1.2b5215ee0629bp-3, 0x1.f03a9add29277p-7};

/// lgamma(x) / ((x - 1) (x - 2)) on [1, 3]; error 5.0e-13
inline constexpr double lgamma_middle_p[] = {0x1.119c9e1e211bp+1, 0x1.459c79c955e09p+4, 0x1.15dda7286b12cp+5,
                                             0x1.c31cdde8a5258p+3, 0x1.33f306b5b5b8ap+0, 0x1.6cab4df3b765bp-8};
inline constexpr double lgamma_middle_q[] = {0x1p+0, 0x1.2a3526d6fb3bbp+4, 0x1.bb09c8759b197p+5, 0x1.4d40e218f97acp+5,
                                             0x1.1346b0702bbddp+3, 0x1.7e642e09361efp-2};

/// x (lgamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2)) in u = 1 / x^2 on [0, 0.11111]; error 3.3e-10
inline constexpr double lgamma_stirling[] = {0x1.5555555371d3fp-4, -0x1.6c16517b3c908p-9, 0x1.9f9443989b1c7p-11,
                                             -0x1.29b04974579f4p-11, 0x1.09f6065a49b1ep-11};

/// (e^r - 1 - r) / r^2 on [-0.34657, 0.34657]; error 2.0e-16
inline constexpr double exp_reduced_double[] = {0x1.0000000000001p-1, 0x1.555555555554dp-3, 0x1.5555555553d82p-5,
                                                0x1.1111111114479p-7, 0x1.6c16c17881619p-10, 0x1.a01a018c3784ap-13,
                                                0x1.a019b9311936ep-16, 0x1.71de5a3018fdcp-19, 0x1.28915ee3e1597p-22,
                                                0x1.aeab0a80093b1p-26};

/// (2 atanh(s) / s - 2) / z in z = s^2 on [0, 0.029732]; error 4.9e-16
inline constexpr double log_mantissa_double[] = {0x1.5555555555558p-1, 0x1.9999999994e35p-2, 0x1.2492492e744ffp-2,
                                                 0x1.c71c624027879p-3, 0x1.7462e3483e784p-3, 0x1.39f8605ff7d61p-3,
                                                 0x1.2ba1dbd6b0fffp-3};

/// (2 atanh(s) / s - 2 - 2 z / 3) / z^2 in z = s^2 on [0, 0.029732]; error 7.3e-16
inline constexpr double log_mantissa_rest_double[] = {0x1.999999999999fp-2, 0x1.249249248e11fp-2, 0x1.c71c71d8ccb25p-3,
                                                      0x1.745d095fdde75p-3, 0x1.3b18e1be3f93cp-3, 0x1.10136bd1e255fp-3,
                                                      0x1.08b91848d91aap-3};

/// (sin(r) / r - 1) / t in t = r^2 on [0, 0.62302]; error 1.3e-16
inline constexpr double sin_reduced_double[] = {-0x1.5555555555555p-3, 0x1.1111111110b5ep-7, -0x1.a01a019e70446p-13,
                                                0x1.71de377e00c32p-19, -0x1.ae5ff1f7cdd65p-26, 0x1.5e023d399314ep-33};

/// (cos r - 1 + t / 2) / t^2 in t = r^2 on [0, 0.62302]; error 3.3e-17
inline constexpr double cos_reduced_double[] = {0x1.5555555555555p-5, -0x1.6c16c16c1693fp-10, 0x1.a01a019f457dep-16,
                                                -0x1.27e4fa0c2584dp-22, 0x1.1eeb5ce7470eap-29, -0x1.90751ab19d25fp-37};

/// (tanh(x) / x - 1) / t in t = x^2 on [0, 0.4]; error 1.2e-20
inline constexpr double tanh_small_double_p[] = {-0x1.5555555555555p-2, -0x1.5ef43dacc02f5p-6, -0x1.ff4ef9eb03b5cp-13,
                                                 -0x1.2c0e5b901a5a6p-26};
inline constexpr double tanh_small_double_q[] = {0x1p+0, 0x1.db676529fda27p-2, 0x1.91ebca2533913p-6,
                                                 0x1.0b426c54ced93p-12};

// clang-format on

}}}} // namespace twill::v0::kernel::math_coefficients
