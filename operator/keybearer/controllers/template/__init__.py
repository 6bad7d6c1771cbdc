"""Templates of tenants, rendered where they can do no harm: in a child process that holds nothing else."""
