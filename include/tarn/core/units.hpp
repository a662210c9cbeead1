#pragma once

/// @file
/// Units and physical constants.
///
/// Internal units are angstrom, kcal/mol, dalton and elementary charge. The resulting time unit is
/// the AKMA unit sqrt(Da A^2 / (kcal/mol)) = 48.88821 fs.

namespace tarn::units {

inline constexpr double femtoseconds_per_akma = 48.88821;
inline constexpr double picoseconds_per_akma = femtoseconds_per_akma * 1e-3;
inline constexpr double pi = 3.14159265358979323846;
/// Boltzmann constant [kcal/(mol K)].
inline constexpr double boltzmann_kcal_per_mol_K = 0.0019872041;
/// Kilojoules per kilocalorie.
inline constexpr double kilojoules_per_kcal = 4.184;
/// Coulomb constant [kcal A/(mol e^2)].
inline constexpr double coulomb_kcal_A_per_mol_e2 = 332.0637;
/// Dipole moment of an elementary charge at one angstrom [debye].
inline constexpr double debye_per_e_A = 4.80320471;
inline constexpr double speed_of_light_cm_per_fs = 2.99792458e-5;
/// Integrated absorption of an oscillating charge e with a mass of one dalton [km/mol]: pi/3 times
/// the Coulomb constant over the squared speed of light, per mole.
inline constexpr double absorption_km_per_mol_Da_per_e2 =
    pi / 3.0 * coulomb_kcal_A_per_mol_e2 /
    (speed_of_light_cm_per_fs * speed_of_light_cm_per_fs * 1e16 * femtoseconds_per_akma *
     femtoseconds_per_akma) *
    6.02214076e10;
/// The same with the charge in debye/A [km/mol (A^2 Da)/D^2].
inline constexpr double absorption_km_per_mol_A2_Da_per_D2 =
    absorption_km_per_mol_Da_per_e2 / (debye_per_e_A * debye_per_e_A);
/// Energy of a quantum, Planck's constant times the speed of light [kcal/mol per 1/cm].
inline constexpr double quantum_kcal_cm_per_mol =
    6.62607015e-34 * 6.02214076e23 * (speed_of_light_cm_per_fs * 1e15) / 4184.0;
/// Reduced Planck constant [kcal/mol AKMA].
inline constexpr double hbar_kcal_akma_per_mol =
    quantum_kcal_cm_per_mol / (speed_of_light_cm_per_fs * femtoseconds_per_akma) / (2.0 * pi);
/// One kilocalorie per mole [meV].
inline constexpr double meV_per_kcal_per_mol = 4184.0 / 6.02214076e23 / 1.602176634e-22;
inline constexpr double megahertz_per_cm = speed_of_light_cm_per_fs * 1e9;
inline constexpr double angstrom_per_bohr = 0.529177210903;
/// One hartree per molecule [kcal/mol].
inline constexpr double kcal_per_mol_per_hartree = 4.3597447222071e-18 * 6.02214076e23 / 4184.0;
/// One dalton per cubic angstrom [g/cm^3].
inline constexpr double g_per_cm3_of_Da_per_A3 = 10.0 / 6.02214076;
inline constexpr double mass_hydrogen_Da = 1.008;
inline constexpr double mass_oxygen_Da = 15.9994;

constexpr double akma_from_fs(double time_fs) { return time_fs / femtoseconds_per_akma; }
constexpr double ps_from_akma(double time_akma) { return time_akma * picoseconds_per_akma; }
/// Converts a rate per picosecond to a rate per AKMA time unit.
constexpr double per_akma_from_per_ps(double rate_per_ps) {
  return rate_per_ps * picoseconds_per_akma;
}

/// Electric field [kcal/mol/(e A)].
constexpr double field_from_V_per_nm(double field_V_per_nm) {
  return field_V_per_nm / (0.01 * meV_per_kcal_per_mol);
}

/// Wavenumber [1/cm] of an angular frequency [1/akma].
constexpr double wavenumber_per_cm(double frequency_per_akma) {
  return frequency_per_akma / (2.0 * pi * speed_of_light_cm_per_fs * femtoseconds_per_akma);
}

/// Rotational constant h / (8 pi^2 I) [MHz] of a moment of inertia I [Da A^2].
constexpr double rotational_constant_MHz(double inertia_Da_A2) {
  // h in kcal/mol AKMA.
  const double planck =
      quantum_kcal_cm_per_mol / (speed_of_light_cm_per_fs * femtoseconds_per_akma);
  return planck / (8.0 * pi * pi * inertia_Da_A2) / femtoseconds_per_akma * 1e9;
}

}  // namespace tarn::units
