#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of training/.

#include <twill/training/accumulation.hpp>
#include <twill/training/fit_report.hpp>
#include <twill/training/inspect.hpp>
#include <twill/training/optimiser.hpp>
#include <twill/training/optimiser_state.hpp>
#include <twill/training/rule_options.hpp>
#include <twill/training/sources.hpp>
#include <twill/training/step_loss.hpp>
#include <twill/training/step_program.hpp>
#include <twill/training/summary.hpp>
#include <twill/training/train_step.hpp>
#include <twill/training/training_state.hpp>
