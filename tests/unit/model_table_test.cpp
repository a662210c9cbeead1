#include "physics/model_table.hpp"

#include "physics/cluster_shape.hpp"
#include "tarn/physics/parameters.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

TEST(ModelTable, EveryModelHasATitleAndASource) {
  std::set<std::string_view> titles;
  const std::vector<ModelDescription> all = describe_models();
  ASSERT_EQ(all.size(), kWaterModels.size() + kFlexibleWaterModels.size());
  for (const ModelDescription& d : all) {
    EXPECT_EQ(find_water_model(d.name)->name, d.model.name);
    EXPECT_NE(d.title, d.name) << "a title as in papers";
    EXPECT_TRUE(titles.insert(d.title).second) << d.title;
    EXPECT_FALSE(d.source.empty()) << d.name;
  }
}

// Three digits, as printed with the models; see water_model_test. Flexible models at the minimum of
// their intramolecular potential: 2 q_H gamma r cos(theta/2).
TEST(ModelTable, DipoleMomentsMatchTheLiterature) {
  const std::map<std::string, double> published{
      {"tip3p", 2.35},      {"spc", 2.27},       {"spce", 2.35}, {"tips2", 2.24}, {"tip4p", 2.18},
      {"tip4p2005", 2.305}, {"tip4pice", 2.426}, {"opc", 2.48},  {"opc3", 2.43}};
  for (const ModelDescription& d : describe_models()) {
    if (const auto found = published.find(d.name); found != published.end()) {
      EXPECT_NEAR(d.dipole_D, found->second, 0.005) << d.name;
    }
    const Triple<double> x = test::molecule_at_origin(d.model);
    const Vec3<double> moment = dipole_moment(x, d.model.dipole_charge_e());
    EXPECT_NEAR(d.dipole_D, std::sqrt(norm2(moment)) * units::debye_per_e_A, 1e-12) << d.name;
  }
}

TEST(ModelTable, PublishedSigmaEpsilonAndSitesComeBack) {
  const ModelDescription rigid =
      describe_model(of_sigma_epsilon("own", 0.96, 105.0, 3.2, 0.18, 0.5, 0.14), "own");
  EXPECT_NEAR(rigid.sigma_A, 3.2, 1e-14);
  EXPECT_NEAR(rigid.epsilon_kcal_per_mol, 0.18, 1e-15);
  EXPECT_NEAR(rigid.om_A, 0.14, 1e-15);
  EXPECT_EQ(rigid.sites(), 4);
  EXPECT_EQ(rigid.title, "own");
  EXPECT_TRUE(rigid.source.empty());
  const ModelDescription spc = describe_model(*find_water_model("spc"), "spc");
  EXPECT_EQ(spc.om_A, 0.0);
  EXPECT_EQ(spc.sites(), 3);
  // r_OM of a flexible model is (1 - gamma) r cos(theta/2).
  const ModelDescription flexible = describe_model(*find_water_model("qtip4pf"), "qtip4pf");
  EXPECT_NEAR(flexible.om_A, (1 - 0.73612) * 0.9419 * std::cos(107.4 * units::pi / 360), 1e-14);
}

}  // namespace
}  // namespace tarn
