# cpack: a .deb of what cmake --install installs (docs/install.md).  Built by
# deploy/package.sh, which sets what makes it the same bytes each time.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME fa-coord)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "fa-coord authors <maintainers@fa-coord.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "coordinator for GPU kernel tuning sweeps over SSH")
set(CPACK_PACKAGE_DESCRIPTION
"fa-coord finds the fastest configuration of a CUDA kernel with tunable
parameters.  It builds each legal configuration on hosts that it reaches by
SSH, checks it against a reference, times it, and keeps every sample in a
SQLite database, with what it cost.
.
Without a GPU it runs kernels in an emulator, which needs g++.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_THREADS 1) # more would make other bytes

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, openssh-client")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nvidia-cuda-toolkit")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What Debian wants otherwise than cmake --install does it.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_debian.cmake)
set(CPACK_FA_DATE ${FA_VERSION_DATE})
include(CPack)
