#pragma once

#include <CLI/CLI.hpp>

namespace tarn::cli {

/// Each function adds one subcommand. Its callback throws the library's errors; `exit_code` carries
/// a non-zero exit code that is not caused by an error, such as that of an interrupt.
void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_energy(CLI::App& app);
void add_cluster(CLI::App& app, int& exit_code);
void add_minimise(CLI::App& app, int& exit_code);
void add_modes(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_rdf(CLI::App& app);
void add_analyse(CLI::App& app);
void add_plot(CLI::App& app);
void add_convert(CLI::App& app, int& exit_code);
void add_draw(CLI::App& app);
void add_models(CLI::App& app);
void add_doctor(CLI::App& app);

}  // namespace tarn::cli
