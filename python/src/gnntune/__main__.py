"""`python -m gnntune`: the program."""

from gnntune._program import main

main()
