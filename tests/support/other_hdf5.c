/* Preloaded by a test: an HDF5 library of another version. */
int H5get_libversion(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = 8;
  *release = 20;
  return 0;
}
