"""Opens sessions with services: the client of an identity, over connections shared by trust."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from importlib.util import find_spec

from keybearer import __version__
from keybearer.base.calls import Call
from keybearer.base.clock import Clock
from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    AsyncPools,
    ClientError,
    ClientOptions,
    InvalidArgument,
    KubernetesAuth,
    LdapAuth,
    SuppliedToken,
    UniversalAuth,
)
from keybearer.controllers.body_turns import BodyTurns
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.identity import IdentityMethod, ServiceIdentity
from keybearer.controllers.instant import STREAMS_MAX
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.refused_logins import LoginTerms, with_identity
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.service_failures import describe_refusal
from keybearer.controllers.service_session import ANSWER_MAX_BYTES, ServiceSession
from keybearer.controllers.sources.session import SourceFailure
from keybearer.kube.errors import ForbiddenError, InvalidError, KubeError, NotFoundError
from keybearer.kube.gateway import Gateway

__all__ = ["REJECTED_LOGINS", "TIMEOUT", "SessionOpener", "refusal_of_login", "remedy_of_rejection"]

TIMEOUT = timedelta(seconds=10)
_READS_MAX = 100
_TOKEN_LIFETIME = timedelta(minutes=10)
REJECTED_LOGINS: Mapping[IdentityMethod, Remedy] = {
    "UniversalAuth": Remedy(
        "Put a fresh client secret into Secret {identity}.",
        "keybearer identities client-secret create CLIENT_ID_OR_NAME --manifest {identity} "
        "| kubectl -n {namespace} apply --server-side --force-conflicts -f -",
        about="Secret {identity}, key clientSecret",
    ),
    "Ldap": Remedy(
        "Correct identityId, username and password in Secret {identity}, or the LDAP auth of the identity.",
        "keybearer identities ldap-auth show IDENTITY_ID",
        about="Secret {identity}",
    ),
    "Kubernetes": Remedy(
        "Compare the namespaces, ServiceAccounts and audience that the identity allows with Secret {identity}.",
        "keybearer identities kubernetes-auth show IDENTITY_ID",
        turn=Turn.SERVICE_ADMINISTRATOR,
        about="Secret {identity}",
    ),
    "AccessToken": Remedy(
        "Put an access token that is still valid into Secret {identity}.",
        about="Secret {identity}, key accessToken",
    ),
}
"""What is to be done where the service refuses the credentials."""
_UNATTACHED: Mapping[IdentityMethod, Remedy] = {
    "Ldap": Remedy(
        "Attach LDAP auth to the identity, or correct identityId in Secret {identity}: the id of the identity, not "
        "its client id.",
        "keybearer identities ldap-auth attach --help",
        turn=Turn.SERVICE_ADMINISTRATOR,
        about="Secret {identity}, key identityId",
    ),
    "Kubernetes": Remedy(
        "Attach Kubernetes auth to the identity, or correct identityId in Secret {identity}: the id of the "
        "identity, not its client id.",
        "keybearer identities kubernetes-auth attach IDENTITY_ID --host HOST --namespace {namespace} "
        "--service-account SERVICE_ACCOUNT --audience AUDIENCE",
        turn=Turn.SERVICE_ADMINISTRATOR,
        about="Secret {identity}, key identityId",
    ),
}
"""What is to be done where the identity has no such method."""


_LOCKING: frozenset[IdentityMethod] = frozenset({"UniversalAuth", "Ldap"})
"""Methods whose refused logins are counted, and lock an identity out (wire.md section 1.2)."""


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
        return ServiceSession(
            session_id,
            identity.url,
            client,
            self._clock,
            self._rng,
            _terms_of(identity),
        )

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


def refusal_of_login(identity: ServiceIdentity, error: ClientError) -> SourceFailure:
    """Return what a session says if a login of the identity fails so, with its id in the command."""
    return _terms_of(identity).with_remedy(describe_refusal(identity.url, "log in", error), error)


def remedy_of_rejection(identity: ServiceIdentity) -> Remedy:
    """Return what is to be done where the service refuses an identity's credentials, with its id in the command."""
    return with_identity(REJECTED_LOGINS[identity.method], _name_of(identity))


def _terms_of(identity: ServiceIdentity) -> LoginTerms:
    return LoginTerms(
        rejected=REJECTED_LOGINS[identity.method],
        unattached=_UNATTACHED.get(identity.method),
        locks=identity.method in _LOCKING,
        identity=_name_of(identity),
    )


def _name_of(identity: ServiceIdentity) -> str:
    return identity.credentials.get("clientId") or identity.credentials.get("identityId") or ""


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
                "IdentityInvalid",
                f"{what} can't be had: create the ServiceAccount",
                remedy=Remedy(
                    "Create the ServiceAccount, or correct serviceAccountName in Secret {identity}.",
                    f"kubectl -n {namespace} create serviceaccount {name}",
                    about="Secret {identity}, key serviceAccountName",
                ),
            ) from error
        except ForbiddenError as error:
            raise StalledError(
                "IdentityInvalid",
                f"{what} can't be had: the operator may not mint tokens; ask its administrator for "
                "operator.allowServiceAccountTokens",
                remedy=Remedy(
                    "Set operator.allowServiceAccountTokens in the values of the chart.",
                    turn=Turn.CLUSTER_ADMINISTRATOR,
                ),
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
