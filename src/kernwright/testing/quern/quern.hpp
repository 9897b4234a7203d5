// An accelerator that does not exist, played by the processor. A program sees the host's arrays through `Far` alone; all
// arithmetic is on `Grain`s, and all data passes through a stone's bin.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern {

constexpr int LANES = 12;        // numbers of a grain
constexpr int BIN = 3072;        // numbers of a stone's bin
constexpr int HAUL = 240;        // numbers that one fetch or store moves at most
constexpr int PORTS = 3;         // hauls under way at most
constexpr float CHAFF = 7.7e33f; // what lies where nothing was put

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What is said is put together only where it is.
#define QUERN_REQUIRE(right, said) \
  do {                             \
    if (!(right)) throw Fault(said); \
  } while (0)

class Grain {
 public:
  Grain() { for (float& lane : lanes_) lane = CHAFF; }
  explicit Grain(float all) { for (float& lane : lanes_) lane = all; }

  friend Grain operator+(const Grain& a, const Grain& b) { return zip(a, b, [](float x, float y) { return x + y; }); }
  friend Grain operator-(const Grain& a, const Grain& b) { return zip(a, b, [](float x, float y) { return x - y; }); }
  friend Grain operator*(const Grain& a, const Grain& b) { return zip(a, b, [](float x, float y) { return x * y; }); }
  friend Grain larger(const Grain& a, const Grain& b) {
    return zip(a, b, [](float x, float y) { return x > y ? x : y; });
  }
  // Lane i of the result is lane (i + by) modulo 12.
  friend Grain turn(const Grain& a, int by) {
    Grain result;
    for (int i = 0; i < LANES; ++i) result.lanes_[i] = a.lanes_[((i + by) % LANES + LANES) % LANES];
    return result;
  }
  // The first `count` lanes as they are, `filler` in the others.
  friend Grain sift(const Grain& a, int count, float filler) {
    Grain result;
    for (int i = 0; i < LANES; ++i) result.lanes_[i] = i < count ? a.lanes_[i] : filler;
    return result;
  }
  // 1 / sqrt(a) to five bits, for a > 0.
  friend Grain seed_rsqrt(const Grain& a) {
    return each(a, [](float x) { return coarse(1.0f / std::sqrt(x)); });
  }
  // 1 / a to five bits.
  friend Grain seed_reciprocal(const Grain& a) {
    return each(a, [](float x) { return coarse(1.0f / x); });
  }
  // 2 to the whole number nearest to a; what is left over is for the program.
  friend Grain whole_power(const Grain& a) {
    return each(a, [](float x) { return std::ldexp(1.0f, x < -126.0f ? -126 : x > 127.0f ? 127 : (int)std::nearbyint(x)); });
  }
  // The whole number nearest to a.
  friend Grain whole(const Grain& a) {
    return each(a, [](float x) { return std::nearbyint(x); });
  }

 private:
  friend class Stone;
  float lanes_[LANES];

  template <class F> static Grain zip(const Grain& a, const Grain& b, F f) {
    Grain result;
    for (int i = 0; i < LANES; ++i) result.lanes_[i] = f(a.lanes_[i], b.lanes_[i]);
    return result;
  }
  template <class F> static Grain each(const Grain& a, F f) {
    Grain result;
    for (int i = 0; i < LANES; ++i) result.lanes_[i] = f(a.lanes_[i]);
    return result;
  }
  static float coarse(float x) {
    int32_t bits;
    std::memcpy(&bits, &x, 4);
    bits &= ~((1 << 18) - 1);
    std::memcpy(&x, &bits, 4);
    return x;
  }
};

// An array of the host. Programs can ask how long it is, and have pieces of it hauled.
class Far {
 public:
  Far(float* at, int64_t count) : at_(at), count_(count) {}
  int64_t count() const { return count_; }

 private:
  friend class Stone;
  float* at_;
  int64_t count_;
};

// What the launch passed: arrays, whole numbers and scalars, each in their order.
class Feed {
 public:
  Feed(const int64_t* addresses, const int64_t* counts, int64_t arrays, const double* numbers, int64_t given)
      : addresses_(addresses), counts_(counts), arrays_(arrays), numbers_(numbers), given_(given) {}
  Far far(int place) const {
    QUERN_REQUIRE(place >= 0 && place < arrays_, "far(" + std::to_string(place) + "): the launch passed " + std::to_string(arrays_) + " arrays");
    return Far((float*)(intptr_t)addresses_[place], counts_[place]);
  }
  double number(int place) const {
    QUERN_REQUIRE(place >= 0 && place < given_, "number(" + std::to_string(place) + "): the launch passed " + std::to_string(given_) + " numbers");
    return numbers_[place];
  }

 private:
  const int64_t* addresses_;
  const int64_t* counts_;
  int64_t arrays_;
  const double* numbers_;
  int64_t given_;
};

class Stone {
 public:
  Stone(int64_t index, int64_t count) : index_(index), count_(count), bin_(BIN, CHAFF) {}
  int64_t index() const { return index_; }
  int64_t count() const { return count_; }

  // Begins to bring `count` numbers from `at` of the array to `into` of the bin; they are there once it is settled.
  int fetch(Far from, int64_t at, int into, int count) {
    check("fetch", from, at, into, count);
    return begin({from.at_ + at, into, count, true});
  }
  // Begins to bring `count` numbers from `from` of the bin to `at` of the array.
  int store(int from, Far to, int64_t at, int count) {
    check("store", to, at, from, count);
    return begin({to.at_ + at, from, count, false});
  }
  void settle(int ticket) {
    QUERN_REQUIRE(ticket >= 0 && ticket < (int)hauls_.size() && hauls_[ticket].host, "settle(" + std::to_string(ticket) + "): no such ticket is open");
    Haul& haul = hauls_[ticket];
    float* here = bin_.data() + haul.place;
    if (haul.in) {
      std::memcpy(here, haul.host, sizeof(float) * haul.count);
      for (int i = haul.count; i % LANES; ++i) here[i] = CHAFF;
    } else {
      std::memcpy(haul.host, here, sizeof(float) * haul.count);
    }
    haul.host = nullptr;
    --open_;
  }
  Grain take(int at) const {
    grain("take", at);
    Grain result;
    std::memcpy(result.lanes_, bin_.data() + at, sizeof(result.lanes_));
    return result;
  }
  void put(int at, const Grain& value) {
    grain("put", at);
    std::memcpy(bin_.data() + at, value.lanes_, sizeof(value.lanes_));
  }
  void finish() const {
    QUERN_REQUIRE(open_ == 0, "stone " + std::to_string(index_) + " ended with " + std::to_string(open_) + " tickets open; settle each");
  }

 private:
  struct Haul {
    float* host;
    int place, count;
    bool in;
  };
  int64_t index_, count_;
  std::vector<float> bin_;
  std::vector<Haul> hauls_;
  int open_ = 0;

  int begin(Haul haul) {
    QUERN_REQUIRE(open_ < PORTS, "a fourth haul while three are open: the port is jammed; settle one first");
    ++open_;
    hauls_.push_back(haul);
    return (int)hauls_.size() - 1;
  }
  static void grain(const char* what, int at) {
    QUERN_REQUIRE(at >= 0 && at % LANES == 0 && at + LANES <= BIN, std::string(what) + "(" + std::to_string(at) + "): a place in the bin is a multiple of 12, at most 3060");
  }
  static void check(const char* what, const Far& far, int64_t at, int place, int count) {
    QUERN_REQUIRE(count > 0 && count <= HAUL, std::string(what) + ": " + std::to_string(count) + " numbers; a haul moves 1 to 240");
    QUERN_REQUIRE(place >= 0 && place % LANES == 0 && place + (count + LANES - 1) / LANES * LANES <= BIN, std::string(what) + ": place " + std::to_string(place) + "; a place in the bin is a multiple of 12, and whole grains must fit into 3072");
    QUERN_REQUIRE(at >= 0 && at + count <= far.count_, std::string(what) + ": numbers " + std::to_string(at) + " to " + std::to_string(at + count - 1) + " of an array of " + std::to_string(far.count_));
  }
};

}  // namespace quern

#define QUERN_PROGRAM(name)                                                                                     \
  static void name##_program(quern::Stone& stone, const quern::Feed& feed);                                     \
  extern "C" void name(const int64_t* addresses, const int64_t* counts, int64_t arrays, const double* numbers,  \
                       int64_t given, int64_t stones, char* said) {                                             \
    try {                                                                                                       \
      quern::Feed feed(addresses, counts, arrays, numbers, given);                                              \
      for (int64_t i = 0; i < stones; ++i) {                                                                    \
        quern::Stone stone(i, stones);                                                                          \
        name##_program(stone, feed);                                                                            \
        stone.finish();                                                                                         \
      }                                                                                                         \
    } catch (const quern::Fault& fault) {                                                                       \
      std::strncpy(said, fault.what(), 199);                                                                    \
    }                                                                                                           \
  }                                                                                                             \
  static void name##_program(quern::Stone& stone, const quern::Feed& feed)
