#include "core/generate/generate.hpp"

#include <array>

#include "core/common/error.hpp"
#include "core/generate/finish.hpp"
#include "core/generate/kinds.hpp"

namespace gnntune::generate {

namespace {

struct Maker {
    std::string_view kind;
    CsrGraph (*make)(const Parameters&);
};

constexpr std::array<Maker, 10> kMakers{{{"uniform", make_uniform},
                                         {"rmat", make_rmat},
                                         {"power_law", make_power_law},
                                         {"sbm", make_sbm},
                                         {"banded", make_banded},
                                         {"bipartite", make_bipartite},
                                         {"mesh", make_mesh},
                                         {"molecules", make_molecules},
                                         {"cliques", make_cliques},
                                         {"tiles", make_tiles}}};

}  // namespace

CsrGraph generate(const Recipe& recipe) {
    const Parameters p(recipe);
    for (const Maker& maker : kMakers) {
        if (maker.kind != p.kind()) continue;
        CsrGraph graph = maker.make(p);
        const bool symmetric = p.has("symmetric") && p.boolean("symmetric");
        if (p.boolean("weighted")) add_weights(graph, symmetric, p.seed());
        return graph;
    }
    throw Error(ErrorKind::runtime, "kind " + p.kind() + " is listed but has no maker; report this as a defect");
}

}  // namespace gnntune::generate
