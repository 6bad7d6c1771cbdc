"""Opens sessions with services: the client of an identity, over connections shared by trust."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from datetime import timedelta
from importlib.util import find_spec

from keybearer import __version__
from keybearer.base.calls import Call
from keybearer.base.clock import Clock
from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    AsyncPools,
    ClientOptions,
    InvalidArgument,
    KubernetesAuth,
    LdapAuth,
    SuppliedToken,
    UniversalAuth,
)
from keybearer.controllers.body_turns import BodyTurns
from keybearer.controllers.identity import ServiceIdentity
from keybearer.controllers.instant import STREAMS_MAX
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.service_session import ANSWER_MAX_BYTES, ServiceSession
from keybearer.kube.errors import ForbiddenError, InvalidError, KubeError, NotFoundError
from keybearer.kube.gateway import Gateway

__all__ = ["TIMEOUT", "SessionOpener"]

TIMEOUT = timedelta(seconds=10)
_READS_MAX = 100
_TOKEN_LIFETIME = timedelta(minutes=10)


class SessionOpener:
    """Makes sessions; keeps one pool of connections for each set of trusted certificates."""

    def __init__(
        self,
        clock: Clock,
        gateway: Gateway,
        rng: random.Random,
        watch: Callable[[str], Call] | None = None,
    ) -> None:
        """Take what sessions need; `watch` is told of each request that they send."""
        self._watch = watch
        self._clock = clock
        self._gateway = gateway
        self._rng = rng
        self._pools = AsyncPools()
        self._turns = BodyTurns()
        _spare_searches()

    def open(self, session_id: str, identity: ServiceIdentity) -> ServiceSession:
        """Return a session; nothing is sent before it is used.

        Raises:
            StalledError: no client can be made of the identity: a token that is none, certificates that are none.
        """
        options = ClientOptions(
            timeout=TIMEOUT,
            retry=NO_RETRIES,  # the source has its own backoff, the session its breaker
            ca_pem=identity.ca_pem,
            max_response_bytes=ANSWER_MAX_BYTES,
            max_connections=_READS_MAX + STREAMS_MAX,
            user_agent=f"keybearer-operator/{__version__}",
            clock=self._clock,
            rng=self._rng,
        )
        try:
            client = AsyncKeybearer(
                identity.url,
                self._credentials(identity),
                options=options,
                http=self._pools.lend(options),
                body_turn=self._turns.for_session(),
                watch=self._watch,
            )
        except InvalidArgument as error:
            message = str(error).replace("ca_pem", "caBundle")
            raise StalledError("IdentityInvalid", f"{message}; correct it") from error
        return ServiceSession(session_id, identity.url, client, self._clock, self._rng)

    async def close(self) -> None:
        """Close all connections."""
        await self._pools.aclose()

    def _credentials(
        self, identity: ServiceIdentity
    ) -> UniversalAuth | LdapAuth | KubernetesAuth | SuppliedToken:
        given = identity.credentials
        match identity.method:
            case "UniversalAuth":
                return UniversalAuth(given["clientId"], given["clientSecret"])
            case "Ldap":
                return LdapAuth(given["identityId"], given["username"], given["password"])
            case "AccessToken":
                return SuppliedToken(given["accessToken"])
            case "Kubernetes":
                return KubernetesAuth(given["identityId"], self._token_source(identity))

    def _token_source(self, identity: ServiceIdentity) -> _TokenSource:
        return _TokenSource(self._gateway, identity)


def _spare_searches() -> None:
    """Have an absent `sniffio` be known as absent.

    httpcore tries to import it for each of its locks and events, ten times a request, and each try goes through the
    whole path: a third of a millisecond of a request's one and a half. None stands for what can't be imported (the
    import system's reference, section 5.3.1).
    """
    if find_spec("sniffio") is None:
        sys.modules["sniffio"] = None  # type: ignore[assignment]


class _TokenSource:
    """Mints a short-lived token of a ServiceAccount at each login."""

    def __init__(self, gateway: Gateway, identity: ServiceIdentity) -> None:
        self._gateway = gateway
        self._identity = identity

    async def __call__(self) -> str:
        given = self._identity.credentials
        name, namespace = given["serviceAccountName"], self._identity.namespace
        what = f"a token of ServiceAccount {namespace}/{name}"
        try:
            minted = await self._gateway.token_request(
                namespace, name, audience=given["audience"], lifetime=_TOKEN_LIFETIME
            )
        except NotFoundError as error:
            raise StalledError(
                "IdentityInvalid", f"{what} can't be had: create the ServiceAccount"
            ) from error
        except ForbiddenError as error:
            raise StalledError(
                "IdentityInvalid",
                f"{what} can't be had: the operator may not mint tokens; ask its administrator for "
                "operator.allowServiceAccountTokens",
            ) from error
        except InvalidError as error:
            raise StalledError(
                "IdentityInvalid",
                f"no token of a ServiceAccount in {namespace} can be had: correct serviceAccountName and audience of "
                "the identity Secret",
            ) from error
        except KubeError as error:
            raise WaitingError("ClusterUnavailable", f"{what} can't be had: {error}") from error
        return minted.token
