"""``python -m separatrix``: the command line, where its script is not on the path."""

from separatrix.app.cli import main

if __name__ == "__main__":
    main()
