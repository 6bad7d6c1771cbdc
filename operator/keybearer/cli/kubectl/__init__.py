"""`kubectl keybearer`: our kinds at a glance, beside kubectl. It has the user's own rights, and shows no value."""
