#include "tarn/io/csv.hpp"
#include "testing.hpp"
#include "trajectory_fixtures.hpp"

namespace tarn::io {
namespace {

using namespace test;
using Kind = TableColumn::Kind;

const std::string kText =
    "# tarn; water\n"
    "step,time_ps,replica,energy,mixed\n"
    "0,0,mean,-1.5,1\n"
    "10,0.02,mean,nan,x\n";

void expect_columns(const Table& table) {
  ASSERT_EQ(table.columns.size(), 5u);
  EXPECT_EQ(table.rows, 2u);
  EXPECT_EQ(table.provenance, " tarn; water");
  const auto& c = table.columns;
  EXPECT_EQ(c[0].name, "step");
  EXPECT_EQ(c[0].kind, Kind::integer);
  EXPECT_EQ(c[0].integers, (std::vector<std::int64_t>{0, 10}));
  EXPECT_EQ(c[1].kind, Kind::number);
  EXPECT_EQ(c[1].numbers, (std::vector<double>{0.0, 0.02}));
  EXPECT_TRUE(c[1].integers.empty());
  EXPECT_EQ(c[2].kind, Kind::text);
  EXPECT_EQ(c[2].texts, (std::vector<std::string>{"mean", "mean"}));
  EXPECT_EQ(c[3].kind, Kind::number);
  EXPECT_EQ(c[3].numbers[0], -1.5);
  EXPECT_TRUE(std::isnan(c[3].numbers[1]));
  EXPECT_EQ(c[4].kind, Kind::text);
  EXPECT_EQ(c[4].texts, (std::vector<std::string>{"1", "x"}));
  EXPECT_TRUE(c[4].numbers.empty());
}

TEST(Table, HasTypedColumns) {
  ScratchFolder folder;
  write_text(folder.file("a.csv"), kText);
  expect_columns(read_table(folder.file("a.csv")));
  expect_columns(parse_table(kText));
}

TEST(Table, MayHaveNoRows) {
  const Table table = parse_table("# empty\na,b\n");
  EXPECT_EQ(table.rows, 0u);
  EXPECT_EQ(table.columns.size(), 2u);
}

TEST(Table, RejectsFilesThatAreNoTables) {
  ScratchFolder folder;
  EXPECT_THROW(read_table(folder.file("missing.csv")), IoError);
  write_text(folder.file("a.csv"), "# x\na,b\n1\n");
  EXPECT_THROW(read_table(folder.file("a.csv")), InputError);
}

}  // namespace
}  // namespace tarn::io
