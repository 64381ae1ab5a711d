#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// All of io/.

#include <twill/io/atomic_file.hpp>
#include <twill/io/checked.hpp>
#include <twill/io/checkpoint.hpp>
#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/checksum.hpp>
#include <twill/io/csv.hpp>
#include <twill/io/csv_cells.hpp>
#include <twill/io/csv_columns.hpp>
#include <twill/io/csv_dataset.hpp>
#include <twill/io/csv_labels.hpp>
#include <twill/io/csv_numbers.hpp>
#include <twill/io/file_calls.hpp>
#include <twill/io/folder.hpp>
#include <twill/io/image_options.hpp>
#include <twill/io/json.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/npy.hpp>
#include <twill/io/npy_header.hpp>
#include <twill/io/safetensors.hpp>
#include <twill/io/safetensors_header.hpp>
#include <twill/io/sharded.hpp>
#include <twill/io/stored.hpp>
#include <twill/io/tokens.hpp>
#include <twill/io/training.hpp>
#include <twill/io/unfinished.hpp>
