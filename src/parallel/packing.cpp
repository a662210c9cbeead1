#include "packing.hpp"

namespace tarn::parallel {

void Packer::append(std::size_t size, const void* values, std::size_t bytes) {
  words_.push_back(size);
  const std::size_t begin = words_.size();
  words_.resize(begin + (bytes + 7) / 8);
  if (bytes > 0) std::memcpy(words_.data() + begin, values, bytes);
}

}  // namespace tarn::parallel
