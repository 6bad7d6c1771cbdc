"""A local Kubernetes control plane: etcd, API server and three controllers, on loopback, without containers.

`controlplane.ControlPlane` starts and stops one. The programs come from `KUBEBUILDER_ASSETS`, from the
cache of an earlier build, or are built from the Go module in this folder.
"""
