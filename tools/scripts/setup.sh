# Shared by tools/quickstart and tools/test: finds the source root, installs packages, configures and builds.
# Sourced, not run. Needs bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1

build_packages=(g++ cmake make libsqlite3-dev libeigen3-dev libboost-program-options-dev libfmt-dev nlohmann-json3-dev
    zlib1g-dev liblzma-dev)

say() { printf '== %s\n' "$*" >&2; }

# Packages of a list that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s\n' "$package"
    done
}

# Installs what is missing with apt-get where that is possible, else prints the exact line and stops.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "no apt-get here: install the equivalents of: $*"
        return 0
    fi
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -eq 0 ] && return 0
    local line="apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            say "packages are missing and this user may not install them. Run this line, then this script again:"
            printf 'sudo sh -c %q\n' "$line" >&2
            exit 1
        fi
    fi
    say "installing: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    if ! DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
        say "apt-get failed; the line was: $line"
        exit 1
    fi
}

# Whether this machine can compile for a GPU and run on it. Else why_no_gpu says what is missing.
gpu_is_usable() {
    why_no_gpu=
    if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}/bin/nvcc" ]; then
        why_no_gpu="nvcc was not found on PATH, in CUDA_HOME or in /usr/local/cuda"
    elif ! nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
        why_no_gpu="nvidia-smi lists no GPU"
    fi
    [ -z "$why_no_gpu" ]
}

# configure BUILD_DIR CMAKE_OPTION...
configure() {
    local build=$1
    shift
    # A build folder that was configured for another source tree (a copied checkout) cannot be used: start its cache anew.
    if [ -f "$build/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build/CMakeCache.txt" "$build/CMakeFiles"
    fi
    if ! cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release "$@" >"$build.configure.log" 2>&1; then
        cat "$build.configure.log" >&2
        say "cmake could not configure; the messages above say why"
        exit 1
    fi
    rm -f "$build.configure.log"
    grep -h '^GNNTUNE_NVCC:' "$build/CMakeCache.txt" | sed 's/^GNNTUNE_NVCC:[A-Z]*=/nvcc: /; s/nvcc: GNNTUNE_NVCC-NOTFOUND/nvcc: not found, building for the CPU only/' >&2 || true
}

# build BUILD_DIR TARGET...
build() {
    local folder=$1
    shift
    cmake --build "$folder" --parallel "$(nproc)" --target "$@" >&2 || {
        say "the build failed; the first error above says why"
        exit 1
    }
}
