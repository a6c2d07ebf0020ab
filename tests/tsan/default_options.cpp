// What a program under ThreadSanitizer needs to know of its libraries. libomp, libstdc++ and SQLite are not compiled
// with the sanitizer, so what they do inside is not judged. What OpenMP's barriers order comes from libarcher, which
// libomp loads by itself.
extern "C" const char* __tsan_default_options() {
    return "ignore_noninstrumented_modules=1:exitcode=66";
}
