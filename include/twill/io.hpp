#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of io/.

#include <twill/io/atomic_file.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/csv.hpp>
#include <twill/io/files.hpp>
#include <twill/io/image_reading.hpp>
#include <twill/io/json.hpp>
#include <twill/io/npy.hpp>
#include <twill/io/safetensors.hpp>
#include <twill/io/sharded.hpp>
#include <twill/io/stored.hpp>
#include <twill/io/tokens.hpp>
#include <twill/io/training.hpp>
