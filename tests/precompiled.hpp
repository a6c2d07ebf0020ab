// What most tests include, read once for each program (tests/CMakeLists.txt). No test relies on it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "core/dispatch/plan.hpp"
#include "core/registry/variant.hpp"
