#pragma once

#include "kernels/spmm/common/sample_params.hpp"

namespace gnntune::spmm_es_registers {

/// `group` threads hold the sample of one row, at most 32 edges, in their registers.
struct RegistersParams {
    int sampling = 0;      ///< a SampleKind
    int S = 16;            ///< largest number of edges used of a row
    int prime = 577;       ///< P' of equation 2
    int second_prime = 0;  ///< used for rows whose degree `prime` divides; 0: `prime` there too
    int rescale = 0;       ///< 1: sums are multiplied by degree / S where edges were left out
    int group = 32;        ///< threads of a row
    int unroll = 4;        ///< gathers that a lane keeps in flight

    static const std::vector<ParamField<RegistersParams>>& fields();
    static Verdict legal(const Query& query, const RegistersParams& params);
    static bool searched(const Query& query, const RegistersParams& params);
    static RegistersParams defaults(const Query& query);
};

}  // namespace gnntune::spmm_es_registers
