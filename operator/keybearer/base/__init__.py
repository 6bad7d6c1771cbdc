"""What every part stands on: errors, clock, ids, durations, backoff and logs."""
