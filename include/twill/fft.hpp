#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of fft/.

#include <twill/fft/along.hpp>
#include <twill/fft/convolve.hpp>
#include <twill/fft/cosine.hpp>
#include <twill/fft/frequencies.hpp>
#include <twill/fft/lines.hpp>
#include <twill/fft/norm.hpp>
#include <twill/fft/passes.hpp>
#include <twill/fft/plan.hpp>
#include <twill/fft/roots.hpp>
#include <twill/fft/several_axes.hpp>
#include <twill/fft/transform.hpp>
#include <twill/fft/transforms.hpp>
