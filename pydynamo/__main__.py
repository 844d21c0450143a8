"""`python -m pydynamo`: the command line."""

from pydynamo.cli import main

if __name__ == "__main__":
    main()
