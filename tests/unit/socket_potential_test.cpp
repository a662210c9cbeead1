#include "tarn/socket_potential.hpp"

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

#include "engine_fixtures.hpp"
#include "raw_socket.hpp"
#include "tarn/force_field.hpp"
#include "tarn/physics/parameters.hpp"
#include "testing.hpp"

namespace {

/// Immediate acknowledgements that sockets of other ports and of this one requested.
std::atomic<in_port_t> g_port = 0;
std::atomic<int> g_acknowledged[2];

}  // namespace

extern "C" int setsockopt(int socket, int level, int name, const void* value,
                          socklen_t size) noexcept {
  if (level == IPPROTO_TCP && name == TCP_QUICKACK) {
    sockaddr_in at{};
    socklen_t at_size = sizeof(at);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &at_size);
    if (at.sin_family == AF_INET) ++g_acknowledged[at.sin_port == g_port];
  }
  return static_cast<int>(::syscall(SYS_setsockopt, socket, level, name, value, size));
}

namespace tarn {
namespace {

using namespace test;
using namespace std::chrono_literals;

constexpr int kMolecules = 3;
constexpr int kAtoms = 3 * kMolecules;

WaterModel model() { return *find_water_model("tip4p"); }

/// A client whose answers the test chooses. It waits until tarn listens.
class RawClient : public RawSocket {
 public:
  explicit RawClient(const std::string& path) : RawSocket(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    const sockaddr_un to = unix_address(path);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
    const timeval limit{20, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }

  /// @return zeros if tarn closed the connection
  template <class T>
  T number() {
    T value{};
    is_open_ = receive_all(&value, sizeof(value));
    return value;
  }
  /// @return an empty text if tarn closed the connection
  std::string header() {
    const auto text = number<std::array<char, 12>>();
    const std::string whole(text.data(), is_open_ ? text.size() : 0);
    return whole.substr(0, whole.find_last_not_of(' ') + 1);
  }
  void answer_status(const std::string& status) {
    EXPECT_EQ(header(), "STATUS");
    say(status);
  }
  /// @return the image id and the text
  std::pair<std::int32_t, std::string> init() {
    EXPECT_EQ(header(), "INIT");
    const auto id = number<std::int32_t>();
    std::string text(static_cast<std::size_t>(number<std::int32_t>()), ' ');
    for (char& c : text) c = number<char>();
    return {id, text};
  }
  std::vector<double> positions() {
    EXPECT_EQ(header(), "POSDATA");
    cell_ = number<std::array<double, 18>>();
    std::vector<double> x(3 * static_cast<std::size_t>(number<std::int32_t>()));
    for (double& value : x) value = number<double>();
    return x;
  }
  std::vector<double> take_positions() {
    answer_status("READY");
    return positions();
  }
  void give_forces(double energy, int atoms = kAtoms, std::int32_t text = 0) {
    answer_status("HAVEDATA");
    send_forces(energy, atoms, text);
  }
  void expect_end() {
    answer_status("READY");
    EXPECT_EQ(header(), "EXIT");
  }
  /// Until tarn closes the connection.
  void hang() {
    while (header() != "") continue;
  }
  /// Answers GETFORCE.
  void send_forces(double energy, int atoms = kAtoms, std::int32_t text = 0) {
    EXPECT_EQ(header(), "GETFORCE");
    say("FORCEREADY");
    send_number(energy);
    send_number(atoms);
    for (int i = 0; i < 3 * atoms + 9; ++i) send_number(0.25);
    send_number(text);
    const std::string words(static_cast<std::size_t>(std::max(text, 0)), 'x');
    send(words.data(), words.size());
  }
  const std::array<double, 18>& cell() const { return cell_; }

 private:
  bool is_open_ = true;
  std::array<double, 18> cell_{};
};

/// Positions, ids and results of a batch.
struct Images {
  explicit Images(int count) {
    for (int i = 0; i < count; ++i) {
      const std::vector<double> x = lattice_cluster(model(), kMolecules, 20 + i);
      positions_A.insert(positions_A.end(), x.begin(), x.end());
      ids.push_back(100 + i);
    }
    energies.assign(ids.size(), 0.0);
    forces.assign(positions_A.size(), 0.0);
  }
  void compute(Potential& potential) {
    std::ranges::fill(energies, std::nan(""));
    std::ranges::fill(forces, std::nan(""));
    potential.compute(positions_A, ids, energies, forces);
  }
  std::vector<double> positions_A;
  std::vector<std::int64_t> ids;
  std::vector<double> energies, forces;
};

/// Compares with tarn's own forces.
void expect_forces_of_the_model(const Images& images) {
  ForceField force_field(model(), kMolecules);
  std::vector<double> expected(9 * kMolecules);
  for (std::size_t i = 0; i < images.ids.size(); ++i) {
    const std::size_t first = i * expected.size();
    const std::span<const double> x(&images.positions_A[first], expected.size());
    const double energy = force_field.energy_and_forces(x, expected).total_kcal_per_mol();
    // Positions are rounded twice, by 1e-15 A each, and forces change by up to 1e3 times that.
    EXPECT_NEAR(images.energies[i], energy, 1e-10 * std::max(1.0, std::abs(energy)));
    for (std::size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(images.forces[first + k], expected[k],
                  1e-10 * std::max(1.0, std::abs(expected[k])));
    }
  }
}

class SocketPotentials : public ::testing::Test {
 protected:
  SocketPotentials() {
    options_.address.unix_name = folder_.file("socket");
    options_.molecules = kMolecules;
    options_.timeout_s = 20.0;
    options_.on_message = [this](const Message& message) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(message);
    };
  }
  ~SocketPotentials() override { join(); }

  const std::string& path() const { return options_.address.unix_name; }
  /// Runs parallel to the test.
  void start(std::function<void()> what) { threads_.emplace_back(std::move(what)); }
  /// The other clients may complete the images before this one connects.
  void start_serve() {
    start([address = options_.address] {
      ServeOptions options{model()};
      options.molecules = kMolecules;
      options.wait_seconds = 0.0;
      try {
        serve_forces(address, options);
      } catch (const IoError& error) {
        EXPECT_TRUE(contains(error.what(), "cannot connect"));
      }
    });
  }
  /// Waits for the clients, which end with the potential.
  void join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  std::ptrdiff_t warnings() const {
    return std::ranges::count(messages_, Level::warning, &Message::level);
  }
  bool has_message(const std::string& part) {
    const std::lock_guard lock(mutex_);
    return std::ranges::any_of(messages_, [&](const Message& m) { return contains(m.text, part); });
  }
  /// Computes while these programs run, until all have ended.
  void compute_with(Images& images, const std::vector<std::function<void()>>& programs) {
    {
      const auto potential = make_socket_potential(options_);
      for (const auto& program : programs) start(program);
      images.compute(*potential);
    }
    join();
  }
  /// Computes with the forces of a client, until both have ended.
  void compute(Images& images, const std::function<void(RawClient&)>& talk) {
    compute_with(images, {[&] {
                   RawClient client(path());
                   talk(client);
                 }});
  }
  /// Expects an error with these parts for the answers of a client.
  void expect_error(std::initializer_list<std::string_view> parts,
                    const std::function<void(RawClient&)>& talk) {
    Images images(1);
    expect_throws<IoError>(parts, [&] { compute(images, talk); });
    join();
  }

  ScratchFolder folder_;
  SocketPotentialOptions options_;
  std::mutex mutex_;
  Messages messages_;
  std::list<std::thread> threads_;
};

TEST_F(SocketPotentials, GiveTheForcesOfTheModelWithAnyNumberOfClients) {
  Images one(7), three(7);
  for (Images* images : {&one, &three}) {
    options_.clients = images == &one ? 1 : 3;
    const auto potential = make_socket_potential(options_);
    EXPECT_EQ(potential->name(), "i-PI clients");
    for (int c = 0; c < options_.clients; ++c) start_serve();
    for (int step = 0; step < 3; ++step) images->compute(*potential);
  }
  join();
  expect_forces_of_the_model(one);
  EXPECT_EQ(one.energies, three.energies);
  EXPECT_EQ(one.forces, three.forces);
  EXPECT_EQ(warnings(), 0);
}

TEST_F(SocketPotentials, WorkOverTcp) {
  // A free port. Another program may take it before the potential does, which is unlikely.
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int free = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(free, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
  socklen_t size = sizeof(at);
  ::getsockname(free, reinterpret_cast<sockaddr*>(&at), &size);
  ::close(free);
  options_.address = {"", "localhost", ntohs(at.sin_port)};
  g_port = at.sin_port;
  options_.clients = 2;
  Images images(4);
  {
    const auto potential = make_socket_potential(options_);
    expect_throws<IoError>({"another program uses this address"},
                           [&] { make_socket_potential(options_); });
    start_serve();
    start_serve();
    images.compute(*potential);
    images.compute(*potential);
  }
  join();
  expect_forces_of_the_model(images);
  // Each image takes a message each way.
  for (const std::atomic<int>& count : g_acknowledged) EXPECT_GE(count, 8);
  // The connections of the first potential have just ended.
  EXPECT_NO_THROW(make_socket_potential(options_));
}

/// All images are sent before the first result is: each client has one.
TEST_F(SocketPotentials, UseAllClientsAtOnce) {
  options_.clients = 3;
  Images images(3);
  std::atomic<int> busy = 0;
  const auto program = [&] {
    RawClient client(path());
    client.take_positions();
    ++busy;
    while (busy < 3) std::this_thread::sleep_for(1ms);
    client.give_forces(1.0);
    client.expect_end();
  };
  compute_with(images, {program, program, program});
  for (const double e : images.energies) EXPECT_EQ(e, units::kcal_per_mol_per_hartree);
}

/// Clients that answer NEEDINIT receive the id. Texts of clients are ignored.
TEST_F(SocketPotentials, SendImageIdsAndAVacuumCell) {
  Images images(2);
  images.ids = {7, (std::int64_t{3} << 31) + 5};
  std::vector<std::pair<std::int32_t, std::string>> ids;
  std::vector<double> received;
  std::array<double, 18> cell{};
  std::string last;
  compute(images, [&](RawClient& client) {
    client.answer_status("NEEDINIT");
    for (int i = 0; i < 2; ++i) {
      ids.push_back(client.init());
      received = client.take_positions();
      client.give_forces(i == 0 ? std::nan("") : -0.5, kAtoms, 70'000);
      client.answer_status("NEEDINIT");
    }
    cell = client.cell();
    last = client.header();
  });
  EXPECT_EQ(ids[0], (std::pair<std::int32_t, std::string>{7, "7"}));
  EXPECT_EQ(ids[1], (std::pair<std::int32_t, std::string>{5, "6442450949"}));
  EXPECT_TRUE(std::isnan(images.energies[0])) << "the engine stops this replica";
  EXPECT_EQ(images.energies[1], -0.5 * units::kcal_per_mol_per_hartree);
  EXPECT_EQ(images.forces[5], 0.25 * units::kcal_per_mol_per_hartree / units::angstrom_per_bohr);
  ASSERT_EQ(received.size(), 3u * kAtoms);
  EXPECT_EQ(received[4], images.positions_A[3 * kAtoms + 4] / units::angstrom_per_bohr);
  EXPECT_GT(cell[8], 1000.0);
  EXPECT_NEAR(cell[8] * cell[17], 1.0, 1e-15);
  EXPECT_EQ(cell[1], 0.0);
  EXPECT_EQ(last, "EXIT");
}

TEST_F(SocketPotentials, WaitForTheFirstClientAndUseLateOnes) {
  options_.clients = 2;
  Images images(2);
  // The first client holds its image until another one has connected and computed the other.
  compute_with(images, {[&] {
                 while (!has_message("waiting for 2 clients at " + path())) {
                   std::this_thread::sleep_for(1ms);
                 }
                 RawClient first(path());
                 first.take_positions();
                 RawClient second(path());
                 second.take_positions();
                 second.give_forces(2.0);
                 second.answer_status("READY");
                 first.give_forces(1.0);
                 first.expect_end();
                 EXPECT_EQ(second.header(), "EXIT");
               }});
  EXPECT_EQ(images.energies[0], units::kcal_per_mol_per_hartree);
  EXPECT_EQ(images.energies[1], 2.0 * units::kcal_per_mol_per_hartree);
  EXPECT_EQ(messages_.size(), 1u);
}

/// No more clients than requested have an image; the next one replaces a client that leaves.
TEST_F(SocketPotentials, FurtherClientsWait) {
  Images images(2);
  compute(images, [&](RawClient& first) {
    RawClient second(path());
    first.take_positions();
    first.give_forces(1.0);
    first.hang_up();
    second.take_positions();
    second.give_forces(2.0);
    second.expect_end();
  });
  EXPECT_EQ(images.energies[0], units::kcal_per_mol_per_hartree);
  EXPECT_EQ(images.energies[1], 2.0 * units::kcal_per_mol_per_hartree);
  EXPECT_TRUE(has_message("client 1 at " + path() + " closed the connection"));
}

TEST_F(SocketPotentials, ReplaceAClientThatDies) {
  options_.clients = 2;
  Images images(5);
  for (const bool within_message : {false, true}) {
    messages_.clear();
    const auto potential = make_socket_potential(options_);
    start([&] {
      RawClient client(path());
      client.take_positions();
      if (within_message) {
        client.answer_status("HAVEDATA");
        EXPECT_EQ(client.header(), "GETFORCE");
        client.say("FORCEREADY");
        client.send_number(1.0);
      }
      client.hang_up();
      // A client that connects earlier takes the image without that warning.
      for (int ms = 0; ms < 10'000 && !has_message("no client is left"); ++ms) {
        std::this_thread::sleep_for(1ms);
      }
      start_serve();
    });
    images.compute(*potential);
    expect_forces_of_the_model(images);
    images.compute(*potential);
    expect_forces_of_the_model(images);
    EXPECT_EQ(warnings(), 2);
    EXPECT_TRUE(has_message("client 1 at " + path() +
                            " closed the connection while it computed image 100, which goes to "
                            "another client"));
    EXPECT_TRUE(has_message("no client is left at " + path() + "; waiting for up to 20 s"));
  }
}

/// A client that hangs loses its image to one that waits.
TEST_F(SocketPotentials, ReplaceAClientThatHangs) {
  options_.clients = 2;
  options_.timeout_s = 0.3;
  Images images(5);
  std::atomic<bool> is_busy = false;
  compute_with(images, {[&] {
                          RawClient client(path());
                          client.take_positions();
                          is_busy = true;
                          client.hang();
                        },
                        [&] {
                          while (!is_busy) std::this_thread::sleep_for(1ms);
                          ServeOptions options{model()};
                          options.molecules = kMolecules;
                          serve_forces(options_.address, options);
                        }});
  expect_forces_of_the_model(images);
  EXPECT_EQ(warnings(), 1);
  EXPECT_TRUE(has_message("client 1 at " + path() +
                          " did not answer for 0.3 s while it computed image 100"));
}

TEST_F(SocketPotentials, EndAWaitWithoutClients) {
  options_.timeout_s = 0.3;
  Images images(4);
  {
    const auto potential = make_socket_potential(options_);
    expect_throws<IoError>({"no client computed at " + path() + " for 0.3 s: 0 clients connected",
                            "0 of 4 images computed, image 100 is next. Start clients"},
                           [&] { images.compute(*potential); });
    // A potential can be used again.
    start_serve();
    images.compute(*potential);
  }
  join();
  expect_forces_of_the_model(images);
  expect_error({"for 0.3 s: 0 clients connected"}, [](RawClient& client) {
    client.answer_status("READY");
    client.hang();
  });
  EXPECT_TRUE(has_message("client 1 at " + path() + " did not answer for 0.3 s"));
  // Not even an answer to STATUS.
  expect_error({"no client computed"}, [](RawClient& client) { client.hang(); });
}

/// A restarted client that fails for one image must not repeat that forever.
TEST_F(SocketPotentials, EndWithAnImageThatAllClientsLose) {
  expect_error({"client 3", "while it computed image 100. 3 clients were lost with this image"},
               [&](RawClient& client) {
                 client.take_positions();
                 client.hang_up();
                 for (int i = 0; i < 2; ++i) {
                   RawClient next(path());
                   next.take_positions();
                 }
               });
}

TEST_F(SocketPotentials, RejectInvalidMessages) {
  const auto until_forces = [](RawClient& client) {
    client.take_positions();
    client.answer_status("HAVEDATA");
  };
  // Answers GETFORCE with a message of so many atoms and bytes of text.
  const auto expect_error_of = [&](std::string_view part, int atoms, std::int32_t text) {
    expect_error({part}, [&](RawClient& client) {
      until_forces(client);
      client.send_forces(1.0, atoms, text);
    });
  };
  expect_error({"answered 'NEEDINIT' after INIT; expected READY"}, [](RawClient& client) {
    client.answer_status("NEEDINIT");
    client.init();
    client.answer_status("NEEDINIT");
  });
  expect_error({"answered 'READY' after it received positions; expected HAVEDATA"},
               [](RawClient& client) {
                 client.take_positions();
                 client.answer_status("READY");
               });
  expect_error({"answered 'HAVEDATA' to GETFORCE; expected FORCEREADY"}, [&](RawClient& client) {
    until_forces(client);
    client.header();
    client.say("HAVEDATA");
  });
  expect_error_of("sent forces on 12 atoms; each image has 9", 12, 0);
  expect_error_of("sent forces on -1 atoms", -1, 0);
  for (const std::int32_t size : {-1, (1 << 20) + 1}) {
    expect_error_of(fmt::format("sent forces with a text of {} bytes", size), kAtoms, size);
  }
  expect_error({"sent 12 bytes without a request"}, [](RawClient& client) {
    client.header();
    client.send("READY       READY       ", 24);
  });
}

/// Port scans, browsers and other programs, before the first client and between two calls.
TEST_F(SocketPotentials, IgnoreStrangers) {
  Images images(2);
  const std::vector<std::string> words{"",
                                       "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                       "HELLO\n      ",
                                       "HAVEDATA    ",
                                       std::string("\x16\x03\x01\0\xa5\x01", 6),
                                       std::string(1 << 20, '\0')};
  std::list<RawClient> strangers;
  {
    const auto potential = make_socket_potential(options_);
    for (int call = 0; call < 2; ++call) {
      for (const std::string& text : words) {
        for (const bool leaves : {false, true}) {
          start([&stranger = strangers.emplace_back(path()), text, leaves] {
            stranger.send(text.data(), text.size());
            if (leaves) stranger.hang_up();
          });
        }
      }
      // More than the number that is kept.
      for (int i = 0; i < 70; ++i) strangers.emplace_back(path());
      if (call == 0) start_serve();
      images.compute(*potential);
      expect_forces_of_the_model(images);
    }
  }
  join();
  EXPECT_EQ(warnings(), 0);
  const auto is_last = [](const Message& m) {
    return contains(m.text, "; further connections of other programs are not reported");
  };
  EXPECT_EQ(std::ranges::count_if(messages_, is_last), 1);
  EXPECT_TRUE(has_message("a connection at " + path() + " "));
}

/// The client of another program, started again and again.
TEST_F(SocketPotentials, IgnoreBadClientsBesideAGoodOne) {
  options_.clients = 2;
  Images images(3);
  constexpr int kBad = 4;
  compute(images, [&](RawClient& good) {
    good.answer_status("READY");
    for (int image = 0; image < 3; ++image) {
      good.positions();
      for (int bad = 0; image == 1 && bad < kBad; ++bad) {
        RawClient client(path());
        client.take_positions();
        client.give_forces(1.0, 12);
        EXPECT_EQ(client.header(), "STATUS");
        EXPECT_EQ(client.header(), "");
      }
      good.give_forces(image);
      good.answer_status("READY");
    }
    EXPECT_EQ(good.header(), "EXIT");
  });
  EXPECT_EQ(images.energies[2], 2 * units::kcal_per_mol_per_hartree);
  EXPECT_EQ(warnings(), kBad);
  EXPECT_TRUE(has_message("client 5 at " + path() +
                          " sent forces on 12 atoms; each image has 9, for image 102, which goes "
                          "to another client"));
}

/// Clients that fold atoms into the cell receive no atom outside of it.
TEST_F(SocketPotentials, SendDriftedClustersNearTheOrigin) {
  Images images(2);
  const double drift_A[3] = {520.0, -1300.0, 249.0};
  const std::size_t size = images.positions_A.size() / 2;
  for (std::size_t k = 0; k < size; ++k) {
    images.positions_A[size + k] = images.positions_A[k] + drift_A[k % 3];
  }
  std::vector<double> received[2];
  compute(images, [&](RawClient& client) {
    for (std::vector<double>& positions : received) {
      positions = client.take_positions();
      client.give_forces(1.0);
    }
    client.expect_end();
  });
  // Half edges of the cell of 1000 A.
  const double shift_A[2][3] = {{0.0, 0.0, 0.0}, {500.0, -1500.0, 0.0}};
  for (std::size_t k = 0; k < 2 * size; ++k) {
    EXPECT_EQ(received[k / size][k % size],
              (images.positions_A[k] - shift_A[k / size][k % 3]) / units::angstrom_per_bohr);
  }
}

TEST_F(SocketPotentials, EndOnRequestAndCanBeUsedAgain) {
  Images images(3);
  {
    std::atomic<bool> is_interrupted = true;
    options_.interrupted = [&] { return is_interrupted.load(); };
    const auto potential = make_socket_potential(options_);
    EXPECT_THROW(images.compute(*potential), PotentialInterrupted);
    is_interrupted = false;
    std::atomic<bool> is_busy = false, can_answer = false;
    options_.interrupted = {};
    start([&] {
      RawClient client(path());
      client.take_positions();
      is_busy = true;
      while (!can_answer) std::this_thread::sleep_for(1ms);
      client.give_forces(9.0);
      for (int i = 1; i <= 3; ++i) {
        client.take_positions();
        client.give_forces(i);
      }
      client.expect_end();
    });
    start([&] {
      while (!is_busy) std::this_thread::sleep_for(1ms);
      is_interrupted = true;
    });
    EXPECT_THROW(images.compute(*potential), PotentialInterrupted);
    is_interrupted = false;
    can_answer = true;
    // The result for the interrupted call is not used.
    images.compute(*potential);
  }
  join();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(images.energies[i], (1.0 + i) * units::kcal_per_mol_per_hartree);
  }
}

TEST_F(SocketPotentials, RemoveTheFilesOfDeadProgramsOnly) {
  {
    const auto potential = make_socket_potential(options_);
    EXPECT_TRUE(std::filesystem::exists(path()));
    expect_throws<IoError>({"cannot listen at " + path() + ": another program uses this address"},
                           [&] { make_socket_potential(options_); });
    EXPECT_TRUE(std::filesystem::exists(path()));
    start_serve();
    Images images(1);
    images.compute(*potential);
    expect_forces_of_the_model(images);
  }
  join();
  EXPECT_FALSE(std::filesystem::exists(path()));
  // A program that ended without removing its file.
  const sockaddr_un at = unix_address(path());
  const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(dead, reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
  ::listen(dead, 1);
  ::close(dead);
  EXPECT_TRUE(std::filesystem::exists(path()));
  {
    const auto potential = make_socket_potential(options_);
    start_serve();
    Images images(1);
    images.compute(*potential);
    // Another program has replaced the file.
    std::filesystem::remove(path());
    write_text(path(), "no socket");
  }
  join();
  EXPECT_EQ(read_text(path()), "no socket");
  expect_throws<IoError>({"the file exists and is not a socket"},
                         [&] { make_socket_potential(options_); });
  EXPECT_EQ(read_text(path()), "no socket");
  options_.address.unix_name = folder_.file("missing/socket");
  expect_throws<IoError>({"cannot listen at " + path() + ": No such file"},
                         [&] { make_socket_potential(options_); });
}

TEST_F(SocketPotentials, RejectInvalidOptions) {
  const auto expect_error_with = [&](std::string_view part, const auto& change) {
    SocketPotentialOptions options = options_;
    change(options);
    expect_throws<InputError>({part}, [&] { make_socket_potential(options); });
  };
  expect_error_with("clients must be at least 1", [](auto& o) { o.clients = 0; });
  expect_error_with("at least one molecule", [](auto& o) { o.molecules = 0; });
  expect_error_with("timeout_s must", [](auto& o) { o.timeout_s = std::nan(""); });
  expect_error_with("cell_A must be a length", [](auto& o) { o.cell_A = 0.0; });
  expect_error_with("exceeds", [](auto& o) { o.address = {std::string(200, 'a')}; });
  expect_error_with("port 0", [](auto& o) { o.address = {"", "localhost", 0}; });
  options_.address = {"", "no-such-host.invalid", 1};
  expect_throws<IoError>({"cannot find the host 'no-such-host.invalid'"},
                         [&] { make_socket_potential(options_); });
}

}  // namespace
}  // namespace tarn
