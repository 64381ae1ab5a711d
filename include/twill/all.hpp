#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Everything for hosts: twill.hpp with data sets, files, several devices and profiling.

#include <twill/data.hpp>
#include <twill/fft.hpp>
#include <twill/io.hpp>
#include <twill/linalg.hpp>
#include <twill/parallel.hpp>
#include <twill/profile.hpp>
#include <twill/twill.hpp>
