// usage: PROGRAM [NAME]... [option of GoogleTest]...
//
// Runs the tests of the files NAME.cpp, or all.

#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

/// The names of all tests in name.cpp, as a filter of GoogleTest.
std::string tests_of_file(std::string_view name) {
  const std::string end = "/" + std::string(name) + ".cpp";
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  std::string filter;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(t);
      if (!std::string_view(test.file()).ends_with(end)) continue;
      filter += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  return filter;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  std::string filter;
  for (int k = 1; k < argc; ++k) {
    const std::string tests = tests_of_file(argv[k]);
    if (tests.empty()) {
      std::fprintf(stderr, "no tests in %s.cpp\n", argv[k]);
      return 1;
    }
    filter += tests;
  }
  if (argc > 1) ::testing::GTEST_FLAG(filter) = filter;
  return RUN_ALL_TESTS();
}
