#include "profiles/store/device_constants.hpp"

namespace gnntune::store {

DeviceConstants stored_device_constants(const Store& store, const Environment& environment) {
    DeviceConstants constants;
    // Ids start at 1.
    std::int64_t id = store.find_environment_id(environment).value_or(0);
    if (id == 0 || store.device_constants(id).empty()) {
        id = 0;
        for (const auto& row : store.environments()) {
            if (row.environment.device_name == environment.device_name && !store.device_constants(row.id).empty()) {
                id = row.id;
            }
        }
    }
    if (id == 0) return constants;
    for (const auto& c : store.device_constants(id)) {
        if (c.name == "copy_gbps") constants.copy_gbps = c.value;
        if (c.name == "gather_gbps") {
            constants.gather.push_back({static_cast<double>(c.table_bytes), static_cast<double>(c.row_bytes), c.value});
        }
    }
    return constants;
}

}  // namespace gnntune::store
