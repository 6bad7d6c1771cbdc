"""What every destination must do, written once, and what runs it against each of them."""
