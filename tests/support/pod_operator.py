"""`keybearer` with the ServiceAccount of a pod: `pod_operator.py DIRECTORY HOST:PORT ARGUMENTS...`.

The directory holds what kubelet mounts: `token`, `ca.crt` and `namespace`. The place where pods find it is fixed and
nobody else's to write, so the two modules that name it are told another one; all else is the command as it ships.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kubernetes.aio.config import incluster_config

from keybearer.cli.main import app
from keybearer.kube import access

if __name__ == "__main__":
    directory, (host, _, port) = Path(sys.argv[1]), sys.argv[2].rpartition(":")
    incluster_config.SERVICE_TOKEN_FILENAME = str(directory / "token")
    incluster_config.SERVICE_CERT_FILENAME = str(directory / "ca.crt")
    access._POD_NAMESPACE = directory / "namespace"
    os.environ.pop("KUBECONFIG", None)  # noqa: TID251 - of this process, which is all the operator's
    os.environ |= {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}  # noqa: TID251
    sys.argv[1:] = sys.argv[3:]
    app()
