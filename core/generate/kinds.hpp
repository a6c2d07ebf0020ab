// One function per kind. Parameters have been checked one by one; these check what they are together.
// All return rows with ascending columns and no weights.
#pragma once

#include "core/generate/parameters.hpp"
#include "core/graph/types.hpp"

namespace gnntune::generate {

CsrGraph make_uniform(const Parameters& p);
CsrGraph make_rmat(const Parameters& p);
CsrGraph make_power_law(const Parameters& p);
CsrGraph make_sbm(const Parameters& p);
CsrGraph make_banded(const Parameters& p);
CsrGraph make_bipartite(const Parameters& p);
CsrGraph make_mesh(const Parameters& p);
CsrGraph make_molecules(const Parameters& p);
CsrGraph make_cliques(const Parameters& p);
CsrGraph make_tiles(const Parameters& p);

}  // namespace gnntune::generate
