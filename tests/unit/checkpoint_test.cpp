#include "tarn/io/checkpoint.hpp"

#include <cerrno>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "tarn/core/error.hpp"
#include "tarn/io/atomic_file.hpp"
#include "tarn/io/binary.hpp"

namespace tarn::io {
namespace {

using test::contains;
using test::message_of;
using test::read_text;
using test::ScratchFolder;
using test::write_text;

Checkpoint example() {
  Checkpoint c;
  c.tarn_version = "0.1.0";
  c.physics = "[system]\nmolecules = 1\n";
  c.device = "cpu";
  c.state.molecules = 1;
  c.state.step = 123'456'789'012;
  c.state.replica_ids = {0, 5};
  for (int i = 0; i < 18; ++i) {
    c.state.positions_A.push_back(1.0 / (i + 3.0));
    c.state.velocities_A_per_akma.push_back(-1e-300 * i);
  }
  c.state.heat_kcal_per_mol = {1.0 / 7.0, -2.0};
  c.blow_ups = {{5, 17, 3, {{3, 0}, {4, 2}, 0.25}, {{3, 1}, 1e9}, true}};
  c.observers = {{"energies", std::string("\0\n\xff", 3)}, {"rdf", ""}};
  return c;
}

class CheckpointFile : public ::testing::Test {
 protected:
  CheckpointFile() { write_checkpoint(path_, example()); }
  std::string refusal(const std::string& bytes) {
    write_text(path_, bytes);
    return message_of<IoError>([&] { read_checkpoint(path_); });
  }
  ScratchFolder folder_;
  std::string path_ = folder_.file("checkpoint.bin");
};

TEST_F(CheckpointFile, RestoresEveryBit) {
  const Checkpoint c = example();
  const Checkpoint d = read_checkpoint(path_);
  EXPECT_EQ(d.tarn_version, c.tarn_version);
  EXPECT_EQ(d.physics, c.physics);
  EXPECT_EQ(d.device, c.device);
  EXPECT_EQ(d.state.molecules, 1);
  EXPECT_EQ(d.state.step, c.state.step);
  EXPECT_EQ(d.state.replica_ids, c.state.replica_ids);
  EXPECT_EQ(d.state.positions_A, c.state.positions_A);
  EXPECT_EQ(d.state.velocities_A_per_akma, c.state.velocities_A_per_akma);
  EXPECT_EQ(d.state.heat_kcal_per_mol, c.state.heat_kcal_per_mol);
  EXPECT_EQ(d.blow_ups, c.blow_ups);
  ASSERT_EQ(d.observers.size(), 2u);
  EXPECT_EQ(d.observers[0].name, "energies");
  EXPECT_EQ(d.observers[0].bytes, c.observers[0].bytes);
  EXPECT_EQ(d.observers[1].bytes, "");
}

TEST_F(CheckpointFile, IsTheSameBytesEachTime) {
  const std::string bytes = read_text(path_);
  write_checkpoint(path_, example());
  EXPECT_EQ(read_text(path_), bytes);
  // Detects changes of the format: magic, then version 8 with its low byte first.
  EXPECT_EQ(bytes.substr(0, 8), "\x89TARN\r\n\n");
  EXPECT_EQ(bytes.substr(8, 8), std::string("\10\0\0\0\0\0\0\0", 8));
}

TEST_F(CheckpointFile, RefusesEachFaultInItsOwnWords) {
  const std::string good = read_text(path_);
  EXPECT_TRUE(contains(refusal("step,time_ps\n1,2\n and some more text"), "not a checkpoint"));
  EXPECT_TRUE(contains(refusal(""), "empty"));
  std::string other_version = good;
  other_version[8] = 1;
  EXPECT_TRUE(contains(refusal(other_version), "format version 1, this program reads version 8"));
  std::string damaged = good;
  damaged[good.size() / 2] ^= 1;
  EXPECT_TRUE(contains(refusal(damaged), "damaged"));
  EXPECT_TRUE(contains(refusal(good + "x"), "damaged"));
  EXPECT_TRUE(contains(refusal(good.substr(0, good.size() - 9)), "cut off after"));
  EXPECT_TRUE(contains(message_of<IoError>([&] { read_checkpoint(folder_.file("none")); }),
                       "No such file"));
}

TEST_F(CheckpointFile, RefusesEveryPrefixAndEveryFlippedByte) {
  const std::string good = read_text(path_);
  for (std::size_t length = 0; length < good.size(); ++length) {
    refusal(good.substr(0, length));
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 0x40;
    refusal(bad);
  }
}

TEST_F(CheckpointFile, AFailedWriteKeepsTheOlderOne) {
  const std::string good = read_text(path_);
  // With a file name of the largest length, no temporary name is possible.
  const std::string longest = folder_.file(std::string(255, 'c'));
  std::filesystem::copy_file(path_, longest);
  EXPECT_THROW(write_checkpoint(longest, example()), IoError);
  EXPECT_EQ(read_text(longest), good);
}

TEST(Binary, FloatsComeBack) {
  const std::vector<float> values{0.0f, -1.5f, 1e-45f, std::numeric_limits<float>::max()};
  std::ostringstream out;
  put(out, std::span<const float>(values));
  EXPECT_EQ(out.str().size(), 8u + 4u * values.size());
  EXPECT_EQ(out.str().substr(8 + 4, 4), (std::string{0, 0, '\xc0', '\xbf'}));  // little-endian
  std::istringstream in(out.str());
  EXPECT_EQ(get_floats(in), values);
}

TEST(Binary, RejectsAWrongCount) {
  std::ostringstream out;
  put(out, std::numeric_limits<std::uint64_t>::max());
  std::istringstream doubles(out.str());
  EXPECT_THROW(get_doubles(doubles), IoError);
  std::istringstream floats(out.str());
  EXPECT_THROW(get_floats(floats), IoError);
  std::istringstream text(out.str());
  EXPECT_THROW(get_string(text), IoError);
  std::istringstream empty;
  EXPECT_THROW(get_u64(empty), IoError);
}

TEST(Binary, AnotherNumberOfValuesIsRefused) {
  std::ostringstream out;
  put(out, std::span<const double>(std::vector<double>{1.0, 2.0, 3.0}));
  for (std::size_t count : {0, 2, 3, 4}) {
    std::istringstream in(out.str());
    if (count == 3) {
      EXPECT_EQ(get_doubles(in, count).back(), 3.0);
    } else {
      EXPECT_THROW(get_doubles(in, count), LayoutError) << count;
    }
  }
}

/// A record of another layout is named; other errors are passed on unchanged.
TEST(Record, OfAnotherLayoutIsNamed) {
  const ObserverRecord record{"rdf", "1234"};
  EXPECT_EQ(
      message_of<LayoutError>([&] { read_record(record, [](std::istream& in) { get_u64(in); }); }),
      "the state of 'rdf' in the checkpoint does not match this program: the data end too early");
  EXPECT_EQ(message_of<IoError>([&] {
              read_record(record, [](std::istream&) { throw IoError("the disk is full"); });
            }),
            "the disk is full");
}

/// Only runs can be resumed, and only their own messages mention it.
TEST(IoError, AFullDiskPromisesNothing) {
  const std::string message =
      message_of<tarn::IoError>([] { throw_io_error("write", "a.csv", ENOSPC); });
  EXPECT_NE(message.find("Free some space there"), std::string::npos) << message;
  EXPECT_EQ(message.find("--resume"), std::string::npos) << message;
}

TEST(Binary, ChecksumIsFnv1a) {
  // Test vectors of the authors of FNV (Fowler, Noll, Vo).
  EXPECT_EQ(checksum(""), 0xcbf29ce484222325u);
  EXPECT_EQ(checksum("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(checksum("foobar"), 0x85944171f73967e8u);
}

TEST(Binary, LongChecksumIsXxh64) {
  const auto sum = [](std::string_view bytes) {
    LongChecksum checksum;
    checksum.add(bytes);
    return checksum.value();
  };
  EXPECT_EQ(sum(""), 0xef46db3751d8e999u);
  EXPECT_EQ(sum("a"), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(sum("abc"), 0x44bc2cf5ad770999u);
  // More than a stripe, and all sizes of a rest.
  EXPECT_EQ(sum("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1u);
}

TEST(Binary, LongChecksumDoesNotDependOnThePieces) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes += static_cast<char>(37 * i % 251);
  LongChecksum whole;
  whole.add(bytes);
  for (std::size_t piece = 1; piece < 100; ++piece) {
    LongChecksum checksum;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      checksum.add(std::string_view(bytes).substr(at, piece));
    }
    ASSERT_EQ(checksum.value(), whole.value()) << piece;
  }
}

/// Large arrays are written in pieces; records lie before and behind them.
TEST_F(CheckpointFile, RestoresALargeState) {
  Checkpoint c = example();
  c.state.replica_ids.clear();
  c.state.positions_A.clear();
  for (int r = 0; r < 20'001; ++r) {
    c.state.replica_ids.push_back(r);
    for (int k = 0; k < 9; ++k) c.state.positions_A.push_back(1.0 / (9 * r + k + 1));
  }
  c.state.velocities_A_per_akma = c.state.positions_A;
  c.state.heat_kcal_per_mol.clear();
  c.observers[1].bytes.assign(1'000'001, 'x');
  write_checkpoint(path_, c);
  const Checkpoint d = read_checkpoint(path_);
  EXPECT_EQ(d.state.replica_ids, c.state.replica_ids);
  EXPECT_EQ(d.state.positions_A, c.state.positions_A);
  EXPECT_EQ(d.state.velocities_A_per_akma, c.state.velocities_A_per_akma);
  ASSERT_EQ(d.observers.size(), 2u);
  EXPECT_EQ(d.observers[0].bytes, c.observers[0].bytes);
  EXPECT_EQ(d.observers[1].bytes, c.observers[1].bytes);
}

}  // namespace
}  // namespace tarn::io
