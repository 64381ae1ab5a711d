// SPDX-License-Identifier: Apache-2.0
//
// Bodies of io/ in the compiled library.

#include <twill/io/atomic_file.ipp>
#include <twill/io/checked.ipp>
#include <twill/io/checkpoint.ipp>
#include <twill/io/checkpoint_folder.ipp>
#include <twill/io/checksum.ipp>
#include <twill/io/csv.ipp>
#include <twill/io/csv_cells.ipp>
#include <twill/io/csv_columns.ipp>
#include <twill/io/csv_labels.ipp>
#include <twill/io/csv_numbers.ipp>
#include <twill/io/file_calls.ipp>
#include <twill/io/folder.ipp>
#include <twill/io/image_options.ipp>
#include <twill/io/json.ipp>
#include <twill/io/mapped_file.ipp>
#include <twill/io/npy.ipp>
#include <twill/io/npy_header.ipp>
#include <twill/io/safetensors.ipp>
#include <twill/io/safetensors_header.ipp>
#include <twill/io/sharded.ipp>
#include <twill/io/training.ipp>
#include <twill/io/unfinished.ipp>
