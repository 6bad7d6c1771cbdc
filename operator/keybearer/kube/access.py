"""How the API server is reached: read from a kubeconfig, or from the pod that we run in.

`kubernetes.aio` does the reading: certificates, tokens, exec plugins, OIDC, and the ServiceAccount token of a
pod, which its hook reads again each minute.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from kubernetes.aio.client.configuration import Configuration
from kubernetes.aio.client.rest import RESTClientObject
from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

from keybearer.base.errors import ConfigurationError

__all__ = ["Access", "load_access"]

_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True, slots=True)
class Access:
    """A loaded configuration: address, TLS and credentials of one cluster.

    Attributes:
        namespace: the namespace of our pod, or of the kubeconfig's context (`default` when it names none).
    """

    namespace: str
    configuration: Configuration = field(repr=False)
    tls: ssl.SSLContext = field(repr=False)

    @property
    def server(self) -> str:
        """Return the address, such as `https://10.96.0.1:443`."""
        return str(self.configuration.host).rstrip("/")

    @property
    def ca_pem(self) -> str:
        """Return the certificates that are trusted for the server, in PEM; empty for those of the system.

        Raises:
            ConfigurationError: they can't be read.
        """
        file = self.configuration.ssl_ca_cert
        try:
            return "" if not file else Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{file}, the CA of the kubeconfig, can't be read") from error

    @property
    def server_name(self) -> str | None:
        """Return the name to expect in the server's certificate when the kubeconfig sets one."""
        return self.configuration.tls_server_name

    @property
    def proxy(self) -> str | None:
        """Return the kubeconfig's `proxy-url`. The environment's proxies are not asked; see `connection`."""
        return self.configuration.proxy

    async def authorization(self) -> str | None:
        """Return the value of the `Authorization` header, renewed by the hook of the configuration if any.

        While its file can't be read, because it is being replaced say, the last one goes on: it is good for longer
        than that, and whoever is refused reads anew and tells of it.
        """
        try:
            return await self.configuration.get_api_key_with_prefix("BearerToken", alias="authorization")
        except (ConfigException, OSError):
            last = self.configuration.api_key.get("BearerToken")
            return last if isinstance(last, str) else None

    def adopt(self, other: Access) -> None:
        """Take over the credentials of a configuration that was read again; open connections stay."""
        self.configuration.api_key = other.configuration.api_key
        self.configuration.refresh_api_key_hook = other.configuration.refresh_api_key_hook
        if other.configuration.cert_file:
            self.tls.load_cert_chain(other.configuration.cert_file, other.configuration.key_file)


async def load_access(*, kubeconfig: str | None, context: str | None = None) -> Access:
    """Return how the cluster is reached.

    Args:
        kubeconfig: one path, or several joined by `os.pathsep` that are merged as kubectl does; None reads
            the ServiceAccount of the pod that we run in.
        context: a context of the kubeconfig other than its current one.

    Raises:
        ConfigurationError: there is no such configuration, or it can't be used; the text says which.
    """
    configuration = Configuration()
    # Certificates of API servers are the cluster's own, and many lack the identifiers that Python 3.13 began
    # to demand by default; what is verified stays: chain, name and time.
    configuration.disable_strict_ssl_verification = True
    what = f"kubeconfig {kubeconfig}" if kubeconfig else "the ServiceAccount of this pod"
    try:
        if kubeconfig is None:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
            namespace = (await asyncio.to_thread(_POD_NAMESPACE.read_text)).strip()
        else:
            loader = await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=kubeconfig,
                context=context,
                client_configuration=configuration,
                persist_config=False,  # a kubeconfig is its owner's; refreshed tokens stay in memory
            )
            namespace = loader.current_context["context"].get("namespace") or "default"
        tls = RESTClientObject(configuration).ssl_context
    # TypeError and ValueError: the loader indexes and decodes what the file holds without looking at it.
    except (ConfigException, yaml.YAMLError, OSError, ssl.SSLError, TypeError, ValueError, KeyError) as error:
        raise ConfigurationError(
            f"{what} can't be used ({type(error).__name__}); "
            "name a kubeconfig whose current context exists, or run in a pod with a ServiceAccount token"
        ) from error
    return Access(namespace=namespace, configuration=configuration, tls=tls)
