"""The command line: each command parses, calls the library and prints. Needs the extra ``strands-ctx[cli]``."""
