#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "kernels/cusolver_calls.hpp"
#include "testing.hpp"

/// @file
/// The emulated cuSOLVER follows cuSOLVER's documentation: it factorises and solves, uses only the
/// named triangle, and reports the first pivot that is not positive.

namespace tarn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

class Cusolver : public ::testing::Test {
 protected:
  void SetUp() override { call_.create(&handle_); }
  void TearDown() override { call_.destroy(handle_); }

  /// One triangle of a definite matrix, in a larger array that is otherwise NaN.
  Eigen::MatrixXd half_of(const Eigen::MatrixXd& a, cublasFillMode_t half) const {
    Eigen::MatrixXd stored = Eigen::MatrixXd::Constant(a.rows() + 2, a.cols(), kNone);
    for (int c = 0; c < a.cols(); ++c) {
      for (int r = 0; r < a.rows(); ++r) {
        if (half == CUBLAS_FILL_MODE_LOWER ? r >= c : r <= c) stored(r, c) = a(r, c);
      }
    }
    return stored;
  }
  static Eigen::MatrixXd definite(int n) {
    std::mt19937 random(static_cast<unsigned>(n));
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const Eigen::MatrixXd b = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return uniform(random); });
    return b * b.transpose() + n * Eigen::MatrixXd::Identity(n, n);
  }

  const gpu::CusolverCalls& call_ = gpu::cusolver_calls();
  cusolverDnHandle_t handle_ = nullptr;
};

TEST_F(Cusolver, FactorisesAndSolvesWithEitherHalf) {
  for (cublasFillMode_t half : {CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER}) {
    for (int n : {1, 9, 27}) {
      const Eigen::MatrixXd a = definite(n);
      Eigen::MatrixXd stored = half_of(a, half);
      Eigen::VectorXd work(n), b = Eigen::VectorXd::LinSpaced(n, 1.0, 2.0);
      const Eigen::VectorXd expected = a.llt().solve(b);
      int info = -1;
      ASSERT_EQ(call_.factorise(handle_, half, n, stored.data(), n + 2, work.data(), n, &info),
                CUSOLVER_STATUS_SUCCESS);
      cudaDeviceSynchronize();
      EXPECT_EQ(info, 0);
      ASSERT_EQ(call_.solve(handle_, half, n, 1, stored.data(), n + 2, b.data(), n, &info),
                CUSOLVER_STATUS_SUCCESS);
      cudaDeviceSynchronize();
      // Condition numbers below 5, some n roundings.
      EXPECT_LT((b - expected).norm(), 1e-14 * n * expected.norm());
      EXPECT_TRUE(std::isnan(stored(n, 0)));
    }
  }
}

TEST_F(Cusolver, NumbersTheFirstBadPivot) {
  Eigen::MatrixXd good = definite(9), bad = good;
  bad(4, 4) = -1.0;
  double* matrices[] = {bad.data(), good.data()};
  int infos[] = {-1, -1};
  ASSERT_EQ(call_.factorise_batched(handle_, CUBLAS_FILL_MODE_LOWER, 9, matrices, 9, infos, 2),
            CUSOLVER_STATUS_SUCCESS);
  cudaDeviceSynchronize();
  EXPECT_EQ(infos[0], 5);
  EXPECT_EQ(infos[1], 0);
}

}  // namespace
}  // namespace tarn
