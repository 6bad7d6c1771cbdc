"""`make demo`: the whole of Keybearer on one machine, watched as it works."""
