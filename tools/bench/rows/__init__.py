"""What can be measured: each module is one row of the table, on a stage of its own."""
