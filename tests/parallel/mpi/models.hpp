#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What models.mpi.cpp adds to the program of suites.mpi.cpp.

#include <twill/parallel/messages/mpi.hpp>

/// Models of two or four processes. throws: std::logic_error for a wrong number
void check_models();

/// Eight processes: replicas of pipelines of divided layers.
void check_cube();
