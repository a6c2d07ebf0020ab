// The program's main(), apart from the program: the Python package has the program in its library.

/// Runs the command line; returns the exit code (tools/main.cpp).
extern "C" int gnntune_program(int argc, char** argv);

int main(int argc, char** argv) {
    return gnntune_program(argc, argv);
}
