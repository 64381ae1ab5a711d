# SPDX-License-Identifier: Apache-2.0
#
# twill_join_sources(<list> <name> <size>): puts files that join up to <size> of a list's sources in their place, in the build
# folder. Sources that would mean something else in another's company stay alone: those with conditions or macros of the
# preprocessor, with specialisations or an operator new, or compiled without the precompiled header.

function(twill_join_sources list name size)
  set(alone "")
  set(groups "")
  set(group "")
  foreach(source IN LISTS ${list})
    file(STRINGS ${source} own REGEX "^#(if|define)|^template <> struct|^namespace twill|operator new" LIMIT_COUNT 1)
    get_source_file_property(without_header ${source} SKIP_PRECOMPILE_HEADERS)
    if(own OR without_header)
      list(APPEND alone ${source})
      continue()
    endif()
    list(APPEND group ${source})
    list(LENGTH group length)
    if(length EQUAL size)
      string(REPLACE ";" "|" joined "${group}")
      list(APPEND groups ${joined})
      set(group "")
    endif()
  endforeach()
  string(REPLACE ";" "|" joined "${group}")
  list(APPEND groups ${joined})
  set(number 0)
  foreach(group IN LISTS groups)
    string(REPLACE "|" ";" members "${group}")
    math(EXPR number "${number} + 1")
    set(out ${CMAKE_CURRENT_BINARY_DIR}/joined/${name}_${number}.cpp)
    add_custom_command(OUTPUT ${out} VERBATIM DEPENDS ${members} ${PROJECT_SOURCE_DIR}/cmake/join_sources.py
                       COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/cmake/join_sources.py --out ${out} ${members})
    list(APPEND alone ${out})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/joined)
  set(${list} "${alone}" PARENT_SCOPE)
endfunction()
