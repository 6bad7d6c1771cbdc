"""`keybearer doctor`: checks of operator, cluster, service and identities, each with its next command."""
