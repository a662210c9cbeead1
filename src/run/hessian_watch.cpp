#include "hessian_watch.hpp"

#include "tarn/io/binary.hpp"

namespace tarn {

void HessianWatch::save(std::ostream& out) { io::put(out, count()); }
void HessianWatch::load(std::istream& in) { before_ = io::get_i64(in); }

}  // namespace tarn
