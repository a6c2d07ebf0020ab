#include "tools/scale/options.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "core/common/numbers.hpp"

namespace gnntune::scale {

const char* const kUsage =
    R"(usage: gnntune_stream [OPTIONS]

  --scale N         2^N rows and columns (default: 26)
  --graph FILE      a graph in the place of an R-MAT: .gnng or a CSR .npz of any number of edges, or what gnntune reads
  --edges N         expected edges (default: 3000000000)
  --k N             features (default: 64)
  --weighted        edge weights too, from host memory as the ids are
  --tile N          most edges of a tile (default: the library's)
  --device D        cuda or cpu (default: cuda)
  --database FILE   (default: the user's)
  --runs N          timed runs of each kind (default: 5)
  --rows N          sampled rows (default: 2000)
  --host-limit N    most GiB of host memory, --device-limit N of device memory: what takes more is refused
  --csv FILE        rows of what was measured are appended
  --commit HASH     of the build, for the file
)";

namespace {

template <typename T>
T number(const std::string& option, const std::string& text, T least) {
    const auto value = parse_number<T>(text);
    if (!value || !(*value >= least)) {
        throw invalid_argument(option + " " + text + ": expected a number of at least " + std::to_string(least));
    }
    return *value;
}

}  // namespace

Options options_of(int argc, char** argv) {
    Options o;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        if (option == "--weighted") {
            o.weighted = true;
            continue;
        }
        if (i + 1 == argc) throw invalid_argument(option + ": no such option, or its value is missing");
        const std::string text = argv[++i];
        const auto whole = [&](std::int64_t least) { return number<std::int64_t>(option, text, least); };
        if (option == "--scale") {
            o.rmat.scale = static_cast<int>(std::min<std::int64_t>(whole(1), 30));
        } else if (option == "--graph") {
            o.graph = text;
        } else if (option == "--edges") {
            o.rmat.edges = whole(1);
        } else if (option == "--k") {
            o.k = whole(1);
        } else if (option == "--tile") {
            o.tile = whole(1);
        } else if (option == "--device") {
            o.device = text;
        } else if (option == "--database") {
            o.database = text;
        } else if (option == "--runs") {
            o.runs = whole(1);
        } else if (option == "--rows") {
            o.rows = whole(1);
        } else if (option == "--host-limit") {
            o.host_limit_gib = number<double>(option, text, 0);
        } else if (option == "--device-limit") {
            o.device_limit_gib = number<double>(option, text, 0);
        } else if (option == "--csv") {
            o.csv = text;
        } else if (option == "--commit") {
            o.commit = text;
        } else {
            throw invalid_argument(option + ": no such option");
        }
    }
    return o;
}

}  // namespace gnntune::scale
