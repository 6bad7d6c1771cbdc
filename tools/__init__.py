"""What developers of Keybearer run: README.md in each folder says what it is for."""
