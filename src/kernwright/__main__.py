"""`python -m kernwright`."""

from kernwright.cli.main import main

if __name__ == "__main__":
    main()
