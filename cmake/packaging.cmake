# SPDX-License-Identifier: Apache-2.0
#
# Installs the headers, a CMake package, pkg-config files and the licence, and packs them (`cpack`). What was found on this
# machine is written into none of them: twillConfig.cmake looks for it on the machine that uses it. So the tree is the same
# on every machine and can be moved; it lies in include/ and share/, where both tools look on any architecture.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_DATADIR}/cmake/twill)
install(TARGETS twill twill_cuda twill_algorithms twill_mpi EXPORT twillTargets FILE_SET HEADERS)
install(EXPORT twillTargets NAMESPACE twill:: DESTINATION ${package_dir})
set(twill_share ${CMAKE_INSTALL_DATADIR}/twill)
configure_package_config_file(cmake/twillConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/twillConfig.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS twill_share)
# A minor release may change anything before 1.0 and breaks nothing after.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION VERSION_LESS 1)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/twillConfigVersion.cmake
                                 COMPATIBILITY ${compatibility} ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/cmake/twillConfig.cmake ${PROJECT_BINARY_DIR}/cmake/twillConfigVersion.cmake
              cmake/build_type.cmake cmake/compiled_library.cmake cmake/cuda_libraries.cmake cmake/fit.cmake cmake/fit_main.cpp.in
              cmake/host_libraries.cmake
        DESTINATION ${package_dir})

# For builds without CMake. The second and third add the libraries for matrix products and convolutions, the last names the
# sources of the compiled library.
foreach(name IN ITEMS twill twill-openblas twill-onednn twill-compiled)
  configure_file(cmake/pkgconfig/${name}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
endforeach()
# The compiled library and the PTX interpreter are built where they are used.
install(DIRECTORY src DESTINATION ${twill_share})
install(DIRECTORY ptxrun DESTINATION ${twill_share})
# One file with tensors and expressions, to copy or paste; made anew by each installation.
if(Python3_FOUND)
  install(CODE "execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/tools/amalgamate\"
                                        \"${PROJECT_BINARY_DIR}/twill_tensor.hpp\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${PROJECT_BINARY_DIR}/twill_tensor.hpp DESTINATION ${twill_share})
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/twill)

# The reference as HTML: in an archive where Doxygen was found, which makes it while `cpack` runs; by `cmake --install` where the
# target docs was built.
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/html DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/twill OPTIONAL)

# `cpack -G TGZ` and `cpack -G DEB`, the same for every architecture. Doxygen's pages are made before the files are installed.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_CONTACT "The twill developers <twill@localhost>")
  set(CPACK_PACKAGE_VENDOR "The twill developers")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_PACKAGE_FILE_NAME twill-${PROJECT_VERSION})
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_GENERATOR TGZ DEB)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_NAME libtwill-dev)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas-openmp-dev, libdnnl-dev")
  set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config, libopenmpi-dev, libthrust-dev, libtbb-dev")
  find_program(TWILL_DOXYGEN doxygen)
  mark_as_advanced(TWILL_DOXYGEN)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  if(TWILL_DOXYGEN AND Python3_FOUND)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pack_reference.cmake @ONLY CONTENT [[
execute_process(COMMAND "@Python3_EXECUTABLE@" "@PROJECT_SOURCE_DIR@/tools/checks/reference.py" --write "@PROJECT_BINARY_DIR@/docs"
                COMMAND_ERROR_IS_FATAL ANY)
]])
    set(CPACK_INSTALL_SCRIPTS ${PROJECT_BINARY_DIR}/pack_reference.cmake)
  endif()
  include(CPack)
endif()
