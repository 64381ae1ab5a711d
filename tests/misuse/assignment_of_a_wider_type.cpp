// SPDX-License-Identifier: Apache-2.0
//
// A tensor of floats from doubles.
//
// expect: conversion from
// expect: Tensor<double
// expect: Tensor<float

#include <twill/tensor.hpp>

using namespace twill;

const auto x = zeros<double, Shape<3>>();

#ifdef MISUSE
const Tensor<float, Cpu, Shape<3>> y = x;
#else
const Tensor<float, Cpu, Shape<3>> y = x.to<float>();
#endif
