#pragma once

#include "command.hpp"

namespace tarn::cli {

/// Each function adds one subcommand. Its callback throws the library's errors; `exit_code` carries
/// a non-zero exit code that is not caused by an error, such as that of an interrupt.
void add_run(Command& app, int& exit_code);
void add_check(Command& app, int& exit_code);
void add_energy(Command& app);
void add_cluster(Command& app, int& exit_code);
void add_minimise(Command& app, int& exit_code);
void add_modes(Command& app, int& exit_code);
void add_compare(Command& app, int& exit_code);
void add_serve(Command& app, int& exit_code);
void add_rdf(Command& app);
void add_analyse(Command& app);
void add_plot(Command& app);
void add_convert(Command& app, int& exit_code);
void add_draw(Command& app);
void add_models(Command& app);
void add_doctor(Command& app);

}  // namespace tarn::cli
