#include "tarn/physics/water_model.hpp"

#include "physics/cluster_shape.hpp"
#include "physics/model_table.hpp"
#include "physics/pair_force.hpp"
#include "tarn/physics/parameters.hpp"
#include "testing.hpp"
#include "water_fixtures.hpp"

namespace tarn {
namespace {

using namespace test;

TEST(WaterModel, IsFoundByItsName) {
  for (const char* name : {"tip3p", "spc", "spce", "bf", "tips2", "tip4p", "tip4pew", "tip4p2005",
                           "tip4pice", "opc", "opc3"}) {
    const std::optional<WaterModel> model = find_water_model(name);
    ASSERT_TRUE(model.has_value()) << name;
    EXPECT_EQ(model->name, name);
  }
  for (const char* name : {"", "TIP3P", "tip3", "tip5p"}) EXPECT_FALSE(find_water_model(name));
}

TEST(WaterModel, IsNeutral) {
  for_models([](const WaterModel& model) {
    EXPECT_NEAR(model.charge_o_e + 2 * model.charge_h_e + model.charge_m_e, 0.0, 4 * kEpsilon);
    EXPECT_EQ(model.has_m_site(), model.charge_m_e != 0.0);
    EXPECT_EQ(model.negative_charge_e(), model.charge_o_e + model.charge_m_e);
    EXPECT_LT(model.negative_charge_e(), 0.0);
  });
}

// sigma = (A/C)^(1/6) and epsilon = C^2/(4 A), as often quoted (kcal/mol).
TEST(WaterModel, LennardJonesParametersMatchTheLiterature) {
  const auto check = [](const char* name, double sigma_A, double epsilon) {
    const WaterModel m = *find_water_model(name);
    const double a = m.lj_a_kcal_A12_per_mol, c = m.lj_c_kcal_A6_per_mol;
    EXPECT_NEAR(std::pow(a / c, 1.0 / 6.0), sigma_A, 5e-4) << name;
    EXPECT_NEAR(c * c / (4 * a), epsilon, 5e-5) << name;
  };
  check("tip3p", 3.1506, 0.1521);
  check("spc", 3.1656, 0.1554);
  check("spce", 3.1656, 0.1554);
  check("tip4p", 3.1536, 0.1550);
  check("tip4pew", 3.16435, 0.16275);
  check("tip4p2005", 3.1589, 0.7749 / 4.184);  // kJ/mol
  check("tip4pice", 3.1668, 0.8822 / 4.184);
  check("opc", 3.16655, 0.2128);
  check("opc3", 3.17427, 0.16341);
}

// The law of cosines, and the reference lengths of the three bonds.
TEST(WaterModel, LengthsAreATriangle) {
  for_models([](const WaterModel& model) {
    const double hh = model.r_hh_A(), oh = model.r_oh_A;
    const double cosine = std::cos(model.angle_hoh_degrees * units::pi / 180);
    EXPECT_NEAR(hh * hh, 2 * oh * oh * (1 - cosine), 8 * kEpsilon);
    const std::array<double, 3> r2 = model.squared_lengths_A2();
    EXPECT_EQ(r2[0], oh * oh);
    EXPECT_EQ(r2[1], oh * oh);
    EXPECT_EQ(r2[2], hh * hh);
    const BondReference<double> r = bond_reference(model);
    EXPECT_EQ(r.oh2, r2[0]);
    EXPECT_EQ(r.hh2, r2[2]);
  });
}

// M is r_OM from the oxygen, on the bisector, on the side of the hydrogens.
TEST(WaterModel, MSiteLiesOnTheBisector) {
  for_models([](const WaterModel& model) {
    if (!model.has_m_site()) {
      EXPECT_EQ(model.m_site_weight(), 0.0);
      return;
    }
    const Triple<double> x = molecule_at_origin(model);
    const Vec3<double> m = site_offsets<true>(x, model.m_site_weight()).m;
    EXPECT_NEAR(m.x, model.r_om_A, 4 * kEpsilon);
    EXPECT_NEAR(m.y, 0.0, 4 * kEpsilon);
    EXPECT_EQ(m.z, 0.0);
  });
}

TEST(WaterModel, Masses) {
  for_models([](const WaterModel& model) {
    EXPECT_NEAR(model.molecule_mass_Da(), 18.0154, few_roundings(18.0));
    EXPECT_EQ(model.mass_Da(0), units::mass_oxygen_Da);
    EXPECT_EQ(model.mass_Da(1), units::mass_hydrogen_Da);
    EXPECT_EQ(model.mass_Da(2), units::mass_hydrogen_Da);
    const Masses<double> m = masses(model);
    EXPECT_EQ(m.o * m.inverse_o, 1.0);
    EXPECT_EQ(m.h * m.inverse_h, 1.0);
  });
}

TEST(PairParameters, AreProductsOfChargesAndForceCoefficients) {
  for_models([](const WaterModel& model) {
    const auto p = pair_parameters<double>(model);
    const double n = model.has_m_site() ? model.charge_m_e : model.charge_o_e;
    EXPECT_DOUBLE_EQ(p.qq_nn, 332.0637 * n * n);
    EXPECT_DOUBLE_EQ(p.qq_nh, 332.0637 * n * model.charge_h_e);
    EXPECT_DOUBLE_EQ(p.qq_hh, 332.0637 * model.charge_h_e * model.charge_h_e);
    EXPECT_DOUBLE_EQ(p.lj_12a, 12 * model.lj_a_kcal_A12_per_mol);
    EXPECT_DOUBLE_EQ(p.lj_6c, 6 * model.lj_c_kcal_A6_per_mol);
    EXPECT_EQ(p.m_weight, model.m_site_weight());
    // Neutral molecules: q_N = -2 q_H.
    EXPECT_NEAR(p.qq_nn, 4 * p.qq_hh, 8 * kEpsilon * p.qq_nn);
    EXPECT_NEAR(p.qq_nh, -2 * p.qq_hh, 8 * kEpsilon * p.qq_nn);
    // In float: the same numbers, rounded once.
    const auto f = pair_parameters<float>(model);
    EXPECT_EQ(f.qq_nn, static_cast<float>(p.qq_nn));
    EXPECT_EQ(f.lj_12a, static_cast<float>(p.lj_12a));
    EXPECT_EQ(f.m_weight, static_cast<float>(p.m_weight));
  });
}

TEST(ZssParameters, AreInversesAndVanishWithInfiniteOmega) {
  IntegratorSpec s;
  s.timestep_akma = 0.05;
  s.beta = 0.4;
  s.omega = 20.0;
  const ZssParameters<double> p = zss_parameters(s);
  EXPECT_DOUBLE_EQ(p.inverse_bh2, 1000.0);
  EXPECT_DOUBLE_EQ(p.inverse_bh2w2, 2.5);
  s.omega = std::numeric_limits<double>::infinity();
  EXPECT_EQ(zss_parameters(s).inverse_bh2w2, 0.0);
  EXPECT_EQ(zss_parameters(s).inverse_bh2, p.inverse_bh2);
}

// --- the table of the models ---

TEST(ModelTable, EveryModelHasATitleAndASource) {
  std::set<std::string_view> titles;
  const std::vector<ModelDescription> all = describe_models();
  ASSERT_EQ(all.size(), water_models().size());
  for (const ModelDescription& d : all) {
    EXPECT_EQ(find_water_model(d.name)->name, d.model.name);
    EXPECT_NE(d.title, d.name) << "a title as in papers";
    EXPECT_TRUE(titles.insert(d.title).second) << d.title;
    EXPECT_FALSE(d.source.empty()) << d.name;
  }
}

// Dipole moments in debye as printed with the models, three digits: SPC, TIPS2, TIP3P and TIP4P
// (Jorgensen et al. 1983), SPC/E (Berendsen et al. 1987: 2.35), TIP4P-Ew (Horn et al. 2004: 2.32),
// TIP4P/2005 (2.305), TIP4P/Ice (2.426), OPC (2.48), OPC3 (2.43). Flexible models at the minimum of
// their intramolecular potential: 2 q_H gamma r cos(theta/2).
TEST(ModelTable, DipoleMomentsMatchTheLiterature) {
  const std::map<std::string, double> published{
      {"tip3p", 2.35}, {"spc", 2.27},     {"spce", 2.35},       {"tips2", 2.24},
      {"tip4p", 2.18}, {"tip4pew", 2.32}, {"tip4p2005", 2.305}, {"tip4pice", 2.426},
      {"opc", 2.48},   {"opc3", 2.43}};
  for (const ModelDescription& d : describe_models()) {
    if (const auto found = published.find(d.name); found != published.end()) {
      EXPECT_NEAR(d.dipole_D, found->second, 0.005) << d.name;
    }
    const Triple<double> x = molecule_at_origin(d.model);
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
