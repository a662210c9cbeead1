#pragma once

#include <cmath>
#include <cstdint>

#include "tarn/core/number.hpp"

/// @file
/// A number type that counts its operations. It replaces a pack in the formulas, so that the
/// operations of a pack are counted.

namespace tarn::test {

/// Number of operations of each kind.
struct Operations {
  int add = 0;  ///< and subtract
  int multiply = 0;
  int fma = 0;  ///< a b + c and c - a b, one operation with two flops
  int divide = 0;
  int square_root = 0;
  int rsqrt = 0;   ///< 1/sqrt, which is several instructions
  int negate = 0;  ///< often free: folded into an fma, or into a constant
  int choose = 0;  ///< comparisons and selections
  int word = 0;    ///< integer operations and conversions
  int word_multiply = 0;

  friend bool operator==(const Operations&, const Operations&) = default;
  /// f(a, b) of each number.
  template <class F>
  friend Operations combine(const Operations& a, const Operations& b, const F& f) {
    return {f(a.add, b.add),
            f(a.multiply, b.multiply),
            f(a.fma, b.fma),
            f(a.divide, b.divide),
            f(a.square_root, b.square_root),
            f(a.rsqrt, b.rsqrt),
            f(a.negate, b.negate),
            f(a.choose, b.choose),
            f(a.word, b.word),
            f(a.word_multiply, b.word_multiply)};
  }
  friend Operations operator+(const Operations& a, const Operations& b) {
    return combine(a, b, [](int x, int y) { return x + y; });
  }
  friend Operations operator-(const Operations& a, const Operations& b) {
    return combine(a, b, [](int x, int y) { return x - y; });
  }
  friend Operations operator*(int n, const Operations& a) {
    return combine(a, a, [n](int x, int) { return n * x; });
  }
  /// Floating-point operations as usually counted: two for an fma, one for a root.
  int flops() const { return add + multiply + 2 * fma + divide + square_root + rsqrt; }
};

/// Operations on numbers of type R.
template <class R>
Operations& tally() {
  static Operations operations;
  return operations;
}

/// Operations of `work` on numbers of the types R.
template <class... R, class Work>
Operations count_on(const Work& work) {
  ((tally<R>() = {}), ...);
  work();
  return (tally<R>() + ...);
}
/// Operations of `work`.
template <class Work>
Operations count(const Work& work) {
  return count_on<float, double, std::uint32_t, std::uint64_t>(work);
}

/// @param R double or float
template <class R>
struct Counted {
  R v{};

  Counted() = default;
  template <class U>
  requires std::is_arithmetic_v<U> Counted(U value) : v(static_cast<R>(value)) {}

  friend Counted operator+(Counted a, Counted b) { return ++tally<R>().add, Counted(a.v + b.v); }
  friend Counted operator-(Counted a, Counted b) { return ++tally<R>().add, Counted(a.v - b.v); }
  friend Counted operator*(Counted a, Counted b) {
    return ++tally<R>().multiply, Counted(a.v * b.v);
  }
  friend Counted operator/(Counted a, Counted b) { return ++tally<R>().divide, Counted(a.v / b.v); }
  friend Counted operator-(Counted a) { return ++tally<R>().negate, Counted(-a.v); }
  friend Counted fma(const Counted& a, const Counted& b, const Counted& c) {
    return ++tally<R>().fma, Counted(std::fma(a.v, b.v, c.v));
  }
  friend Counted fnma(const Counted& a, const Counted& b, const Counted& c) {
    return ++tally<R>().fma, Counted(std::fma(-a.v, b.v, c.v));
  }
  friend Counted sqrt(const Counted& a) {
    return ++tally<R>().square_root, Counted(std::sqrt(a.v));
  }
  friend Counted rsqrt(const Counted& a) {
    return ++tally<R>().rsqrt, Counted(R(1) / std::sqrt(a.v));
  }
  friend bool operator<(const Counted& a, const Counted& b) {
    return ++tally<R>().choose, a.v < b.v;
  }
  friend bool operator>(const Counted& a, const Counted& b) { return b < a; }
  friend bool operator==(const Counted& a, const Counted& b) {
    return ++tally<R>().choose, a.v == b.v;
  }
  friend Counted select(bool m, const Counted& yes, const Counted& no) {
    return ++tally<R>().choose, m ? yes : no;
  }
};

/// The same for unsigned words.
template <class W>
struct CountedWord {
  W v{};

  CountedWord() = default;
  template <class U>
  requires std::is_arithmetic_v<U> CountedWord(U value) : v(static_cast<W>(value)) {}

  static CountedWord counted(W value) { return ++tally<W>().word, CountedWord(value); }
  friend CountedWord operator+(CountedWord a, CountedWord b) { return counted(a.v + b.v); }
  friend CountedWord operator-(CountedWord a, CountedWord b) { return counted(a.v - b.v); }
  friend CountedWord operator|(CountedWord a, CountedWord b) { return counted(a.v | b.v); }
  friend CountedWord operator^(CountedWord a, CountedWord b) { return counted(a.v ^ b.v); }
  friend CountedWord operator&(CountedWord a, CountedWord b) { return counted(a.v & b.v); }
  friend CountedWord operator<<(CountedWord a, int n) { return counted(a.v << n); }
  friend CountedWord operator>>(CountedWord a, int n) { return counted(a.v >> n); }
};

using Word32 = CountedWord<std::uint32_t>;
using Word64 = CountedWord<std::uint64_t>;
using CountedFloat = Counted<float>;

inline Word64 multiply_low32(const Word64& a, std::uint32_t b) {
  return ++tally<std::uint64_t>().word_multiply, Word64(tarn::multiply_low32(a.v, b));
}
inline CountedFloat float_of_int(const Word32& a) {
  return ++tally<std::uint32_t>().word, CountedFloat(tarn::float_of_int(a.v));
}
/// Reinterpreting bits costs no operation.
inline Word32 bits_of(const CountedFloat& a) { return Word32(tarn::bits_of(a.v)); }
inline CountedFloat float_of_bits(const Word32& a) {
  return CountedFloat(tarn::float_of_bits(a.v));
}
inline Word32 shift_right_signed(const Word32& a, int n) {
  return Word32::counted(tarn::shift_right_signed(a.v, n));
}

}  // namespace tarn::test

namespace tarn {
inline namespace TARN_ARCH {
template <class R>
struct ScalarOf<test::Counted<R>> {
  using type = R;
};
}  // namespace TARN_ARCH
}  // namespace tarn
