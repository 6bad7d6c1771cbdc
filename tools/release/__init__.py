"""`python -m tools.release`: builds what is released into `dist/`, equal bit by bit wherever it is built."""
