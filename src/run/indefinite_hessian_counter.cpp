#include "indefinite_hessian_counter.hpp"

#include "tarn/io/binary.hpp"

namespace tarn {

void IndefiniteHessianCounter::save(std::ostream& out) { io::put(out, count()); }
void IndefiniteHessianCounter::load(std::istream& in) { before_ = io::get_i64(in); }

}  // namespace tarn
