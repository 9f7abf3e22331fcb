"""The command line behind ./lab."""
