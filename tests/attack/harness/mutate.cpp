// Feeds mutated files to the fuzz targets of tests/fuzz in one process, without libFuzzer, so that any compiler with
// sanitizers will do: PROGRAM TARGET SEED FIRST SECONDS FOUND CORPUS
//
// Try number i of a seed is the same on every machine; FIRST is the first, SECONDS say how many there are. What ends the
// program (a signal, a report of a sanitizer, ten seconds or 256 MiB for one try) leaves the bytes in the file FOUND and
// the number of the try on stdout. At the end it prints the number behind the last try.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#define GNNTUNE_TARGET(name) extern "C" int gnntune_fuzz_##name(const std::uint8_t* data, std::size_t size);
GNNTUNE_TARGETS
#undef GNNTUNE_TARGET

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "abort_on_error=1:max_allocation_size_mb=256:detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:"
           "handle_sigfpe=0:handle_sigill=0";
}

namespace {

constexpr std::size_t kMostBytes = 16384;
constexpr unsigned kMostSecondsOfATry = 10;

struct Target {
    const char* name;
    int (*run)(const std::uint8_t* data, std::size_t size);
};
#define GNNTUNE_TARGET(name) {#name, gnntune_fuzz_##name},
constexpr Target kTargets[] = {GNNTUNE_TARGETS};
#undef GNNTUNE_TARGET

// What a signal handler needs.
const char* found_path = nullptr;
const std::string* current = nullptr;
std::uint64_t try_number = 0;

extern "C" void on_end(int number) {
    const int file = open(found_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        [[maybe_unused]] const auto written = write(file, current->data(), current->size());
        close(file);
    }
    char digits[32];
    std::size_t at = sizeof digits;
    digits[--at] = '\n';
    std::uint64_t left = try_number;
    do {
        digits[--at] = static_cast<char>('0' + left % 10);
        left /= 10;
    } while (left > 0);
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, digits + at, sizeof digits - at);
    _exit(128 + number);
}

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t limit) {
    return limit == 0 ? 0 : random() % limit;
}

/// Numbers at the edges of types and of what formats allow.
std::string odd_number(Random& random) {
    static const char* const kNumbers[] = {"0",
                                           "-1",
                                           "1e999",
                                           "nan",
                                           "inf",
                                           "2147483647",
                                           "2147483648",
                                           "4294967296",
                                           "9223372036854775807",
                                           "99999999999999999999",
                                           "1.5",
                                           "-0",
                                           "1e-320",
                                           "0x10",
                                           "",
                                           "00000000000000001"};
    return kNumbers[below(random, std::size(kNumbers))];
}

void mutate(std::string& bytes, const std::vector<std::string>& corpus, Random& random) {
    const std::size_t at = below(random, bytes.size() + 1);
    const std::size_t length = std::min(below(random, 1 + below(random, 64)), bytes.size() - at);
    switch (below(random, 10)) {
        case 0:
            if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(random, 8)));
            break;
        case 1:
            if (at < bytes.size()) bytes[at] = static_cast<char>(random());
            break;
        case 2:
            bytes.erase(at, length);
            break;
        case 3:
            bytes.insert(at, bytes.substr(at, length));
            break;
        case 4:
            bytes.resize(at);
            break;
        case 5: {
            const std::string& other = corpus[below(random, corpus.size())];
            const std::size_t from = below(random, other.size() + 1);
            bytes.insert(at, other.substr(from, below(random, 256)));
            break;
        }
        case 6: {  // a number of the text
            const std::size_t first = bytes.find_first_of("0123456789", at);
            if (first == std::string::npos) break;
            const std::size_t last = bytes.find_first_not_of("0123456789", first);
            bytes.replace(first, last == std::string::npos ? last : last - first, odd_number(random));
            break;
        }
        case 7: {  // a number of a binary file
            const std::uint64_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, random()};
            const std::uint64_t value = values[below(random, std::size(values))];
            const std::size_t size = std::size_t{1} << below(random, 4);
            if (at + size <= bytes.size()) std::memcpy(bytes.data() + at, &value, size);
            break;
        }
        case 8:
            bytes.insert(at, below(random, 2) == 0 ? "\n" : " ");
            break;
        default:
            if (at < bytes.size()) bytes.insert(at, 1 + below(random, 300), bytes[at]);
    }
    if (bytes.size() > kMostBytes) bytes.resize(kMostBytes);
}

std::vector<std::string> read_corpus(const char* folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

}  // namespace

int main(int argc, char** argv) {
    const Target* const target = argc == 7
                                     ? std::find_if(std::begin(kTargets), std::end(kTargets),
                                                    [&](const Target& t) { return t.name == std::string(argv[1]); })
                                     : std::end(kTargets);
    if (target == std::end(kTargets)) {
        std::fprintf(stderr, "usage: TARGET SEED FIRST SECONDS FOUND CORPUS\n");
        return 2;
    }
    const std::uint64_t seed = std::strtoull(argv[2], nullptr, 10);
    try_number = std::strtoull(argv[3], nullptr, 10);
    const std::chrono::duration<double> seconds(std::strtod(argv[4], nullptr));
    found_path = argv[5];
    const std::vector<std::string> corpus = read_corpus(argv[6]);
    if (corpus.empty()) {
        std::fprintf(stderr, "%s holds no file\n", argv[6]);
        return 2;
    }
    struct sigaction action {};
    action.sa_handler = on_end;
    for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGALRM}) sigaction(number, &action, nullptr);

    const auto start = std::chrono::steady_clock::now();
    for (; std::chrono::steady_clock::now() - start < seconds; ++try_number) {
        std::seed_seq sequence{seed, seed >> 32, try_number, try_number >> 32};
        Random random(sequence);
        std::string bytes = corpus[below(random, corpus.size())];
        for (std::size_t i = 1 + below(random, 8); i > 0; --i) mutate(bytes, corpus, random);
        current = &bytes;
        // A copy of exactly this size, so that the sanitizer sees the byte behind it.
        const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
        alarm(kMostSecondsOfATry);
        target->run(exact.data(), exact.size());
    }
    alarm(0);
    std::printf("%llu\n", static_cast<unsigned long long>(try_number));
    return 0;
}
