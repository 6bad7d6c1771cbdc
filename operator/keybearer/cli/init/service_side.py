"""What `keybearer init` makes in the service: project, environment, folder, identity, its role and its login."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from keybearer.base.folder_paths import parent_and_name
from keybearer.cli.connecting import has_folder, new_client
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.identity_finding import organization_id_of
from keybearer.cli.init.answers import Answers

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.client import Identity, Keybearer, KubernetesAuthSettings, Project

__all__ = ["KubernetesTerms", "MadeLogin", "ServiceSide"]

_ROLE: Final = "viewer"
"""The least role with which the operator reads secrets and listens to changes."""


_FIRST_ENVIRONMENTS: Final = frozenset({"dev", "staging", "prod"})
"""Environments of each new project."""


@dataclass(frozen=True, slots=True)
class KubernetesTerms:
    """How ServiceAccounts of this cluster are judged; both sides of the audience come from the same answer."""

    host: str
    ca_pem: str

    def differences(self, auth: KubernetesAuthSettings, answers: Answers) -> Iterator[str]:
        """Yield what is set otherwise."""
        for what, found, wanted in (
            ("host", auth.kubernetes_host, self.host),
            ("certificates", auth.ca_cert.strip(), self.ca_pem.strip()),
            ("allowed namespaces", auth.allowed_namespaces, answers.namespace),
            ("allowed ServiceAccounts", auth.allowed_names, answers.service_account),
            ("audience", auth.allowed_audience, answers.audience),
        ):
            if found != wanted:
                yield what if what == "certificates" else f"{what} {found or '(any)'} -> {wanted}"


@dataclass(frozen=True, slots=True)
class MadeLogin:
    """What the identity Secret must hold, and the client secret that was made for it."""

    data: Mapping[str, str]
    identity_id: str = ""
    client_secret_id: str | None = None

    def __repr__(self) -> str:
        return f"MadeLogin({sorted(self.data)})"


class ServiceSide:
    """The state of the service, as far as it concerns one set-up, and the changes to it.

    Args:
        client: somebody who may make what is missing; borrowed.
        login: where and as whom.
        answers: what is to be set up.
        terms: of Kubernetes auth; None for a client secret.
        secret: the data of the identity Secret that exists; None if there is none.

    Raises:
        CommandError: several identities have the name, another cluster uses the identity, or it is locked.
        ClientError: the service refuses, or can't be asked.
    """

    def __init__(
        self,
        client: Keybearer,
        login: CurrentLogin,
        answers: Answers,
        terms: KubernetesTerms | None,
        secret: Mapping[str, str] | None,
    ) -> None:
        from keybearer.client import NotFound

        self._client = client
        self._login = login
        self._answers = answers
        self._terms = terms
        try:
            self._project: Project | None = client.projects.get_by_slug(answers.project)
        except NotFound:
            self._project = None
        self._lacks_environment = self._project is not None and answers.environment not in {
            one.slug for one in self._project.environments
        }
        self._lacks_folder = answers.path != "/" and not self._has_folder()
        self._secrets = self._secret_names()
        self.first_secret = answers.first_secret
        self._identity = self._found_identity()
        self._lacks_role = not self._has_role()
        self._client_id = self._found_client_id()
        self._kubernetes = self._found_kubernetes()
        self._login_is_right = secret is not None and self._logs_in(secret)

    @property
    def login_is_right(self) -> bool:
        """Return whether the identity Secret that exists holds what it must, and the service accepts it."""
        return self._login_is_right

    @property
    def needs_reviewer(self) -> bool:
        """Return whether Kubernetes auth must be attached, which needs somebody who reviews tokens."""
        return self._terms is not None and self._kubernetes is None

    @property
    def is_empty(self) -> bool:
        """Return whether the folder holds no secret, so that there is nothing to sync."""
        return not self._secrets

    def changes(self) -> Iterator[str]:
        """Yield what is missing or set otherwise, in words."""
        answers = self._answers
        if self._project is None:
            yield f"make the project {answers.project}"
        if self._makes_environment():
            yield f"make the environment {answers.environment} in it"
        if self._lacks_folder:
            yield f"make the folder {answers.path} in {answers.environment}"
        if self._lacks_first_secret():
            yield "store a first secret in the folder"
        if self._identity is None:
            yield f"make the machine identity {answers.identity}"
        if self._lacks_role:
            yield f"give it the role {_ROLE} in the project"
        if self._terms is not None:
            yield from self._kubernetes_changes(self._terms)
        elif not self._login_is_right:
            yield f"make a client secret for it{self._warning()}"

    def _kubernetes_changes(self, terms: KubernetesTerms) -> Iterator[str]:
        answers = self._answers
        if self._kubernetes is None:
            account = f"{answers.namespace}/{answers.service_account}"
            tokens = f"with tokens for the audience {answers.audience}"
            yield f"let ServiceAccount {account} log in as it, {tokens}{self._warning()}"
            return
        for one in terms.differences(self._kubernetes, answers):
            yield f"change its Kubernetes auth: {one}"
        if answers.reviewer_token is not None:
            yield "replace the token that reviews tokens"

    def _warning(self) -> str:
        is_admin = self._identity is not None and self._identity.role == "admin"
        return ", although it is an administrator of the whole organization" if is_admin else ""

    def carry_out(self) -> MadeLogin:
        """Make what is missing, and return what the identity Secret must hold.

        Raises:
            ClientError: the service refuses, or can't be asked; what was made before stays, and is found again.
        """
        client, answers = self._client, self._answers
        project = self._project or client.projects.create(answers.project, slug=answers.project)
        if answers.environment not in {one.slug for one in project.environments}:
            client.environments.create(answers.environment, answers.environment, project_id=project.id)
        if self._lacks_folder:
            parent, name = parent_and_name(answers.path)
            client.folders.create(name, project_id=project.id, environment=answers.environment, path=parent)
        if self.first_secret is not None and self._lacks_first_secret():
            client.secrets.create(
                self.first_secret.name,
                self.first_secret.value,
                project_id=project.id,
                environment=answers.environment,
                secret_path=answers.path,
            )
        identity = self._identity or client.identities.create(
            answers.identity, organization_id=project.org_id or organization_id_of(client)
        )
        if self._lacks_role:
            client.memberships.put_identity(identity.id, project_id=project.id, roles=(_ROLE,))
        if self._terms is not None:
            self._set_kubernetes(identity.id, self._terms)
            return MadeLogin(self._kubernetes_data(identity.id), identity.id)
        return self._new_client_secret(identity.id)

    def take_back(self, made: MadeLogin) -> None:
        """Revoke a client secret that could not be put into the cluster."""
        if made.client_secret_id is not None:
            self._client.identities.client_secrets.revoke(made.identity_id, made.client_secret_id)

    def _new_client_secret(self, identity_id: str) -> MadeLogin:
        if self._login_is_right:
            return MadeLogin({}, identity_id)
        client_id = self._client_id or self._client.identities.universal_auth.attach(identity_id).client_id
        made = self._client.identities.client_secrets.create(
            identity_id, description=f"keybearer init, namespace {self._answers.namespace}"
        )
        data = {"clientId": client_id, "clientSecret": made.client_secret}
        return MadeLogin(data, identity_id, made.client_secret_data.id)

    def _kubernetes_data(self, identity_id: str) -> dict[str, str]:
        answers = self._answers
        return {
            "identityId": identity_id,
            "serviceAccountName": answers.service_account,
            "audience": answers.audience,
        }

    def _set_kubernetes(self, identity_id: str, terms: KubernetesTerms) -> None:
        answers, settings = self._answers, self._client.identities.kubernetes_auth
        if self._kubernetes is None:
            settings.attach(
                identity_id,
                kubernetes_host=terms.host,
                ca_cert=terms.ca_pem,
                token_reviewer_jwt=answers.reviewer_token,
                allowed_namespaces=answers.namespace,
                allowed_names=answers.service_account,
                allowed_audience=answers.audience,
            )
        elif answers.reviewer_token is not None or any(terms.differences(self._kubernetes, answers)):
            settings.update(
                identity_id,
                ca_cert=terms.ca_pem,
                token_reviewer_jwt=answers.reviewer_token,
                allowed_namespaces=answers.namespace,
                allowed_names=answers.service_account,
                allowed_audience=answers.audience,
            )

    def _lacks_first_secret(self) -> bool:
        return self.first_secret is not None and self.first_secret.name not in self._secrets

    def _secret_names(self) -> frozenset[str]:
        if self._project is None or self._lacks_environment or self._lacks_folder:
            return frozenset()
        listed = self._client.secrets.list(
            project_id=self._project.id,
            environment=self._answers.environment,
            secret_path=self._answers.path,
            view_secret_value=False,
        )
        return frozenset(secret.secret_key for secret in listed)

    def _makes_environment(self) -> bool:
        if self._project is None:
            return self._answers.environment not in _FIRST_ENVIRONMENTS
        return self._lacks_environment

    def _has_folder(self) -> bool:
        if self._project is None or self._lacks_environment:
            return False
        from keybearer.client import NotFound

        try:
            return has_folder(self._client, self._project.id, self._answers.environment, self._answers.path)
        except NotFound:
            return False

    def _found_identity(self) -> Identity | None:
        named = [one for one in self._client.identities.list() if one.name == self._answers.identity]
        if len(named) > 1:
            raise CommandError(
                f"the service has {len(named)} identities of the name {self._answers.identity}",
                ExitStatus.USAGE,
                "Give another name: --identity NAME",
            )
        return named[0] if named else None

    def _has_role(self) -> bool:
        if self._project is None or self._identity is None:
            return False
        members = self._client.memberships.list_identities(project_id=self._project.id)
        own = [one for one in members if one.identity_id == self._identity.id]
        return any(role.role != "no-access" for one in own for role in one.roles)

    def _found_client_id(self) -> str | None:
        from keybearer.client import NotFound

        if self._identity is None or self._terms is not None:
            return None
        try:
            return self._client.identities.universal_auth.get(self._identity.id).client_id
        except NotFound:
            return None

    def _found_kubernetes(self) -> KubernetesAuthSettings | None:
        from keybearer.client import NotFound

        if self._identity is None or self._terms is None:
            return None
        try:
            found = self._client.identities.kubernetes_auth.get(self._identity.id)
        except NotFound:
            return None
        if found.kubernetes_host != self._terms.host:
            raise CommandError(
                f"identity {self._identity.name} already logs in from another cluster, {found.kubernetes_host}",
                ExitStatus.USAGE,
                "Give another identity (--identity NAME), or the same address (--kubernetes-host).",
            )
        return found

    def _logs_in(self, secret: Mapping[str, str]) -> bool:
        """Return whether the Secret holds the login of this identity; a client secret is tried at the service."""
        from keybearer.client import Unauthenticated

        if self._terms is not None:
            wanted = self._kubernetes_data(self._identity.id) if self._identity is not None else None
            return wanted is not None and all(secret.get(key) == text for key, text in wanted.items())
        client_id, client_secret = secret.get("clientId"), secret.get("clientSecret")
        if not client_secret or client_id is None or client_id != self._client_id:
            return False
        login = self._login
        with new_client(
            login.url, None, ca_file=login.ca_file, allow_insecure_http=login.allow_insecure_http
        ) as visitor:
            try:
                visitor.auth.universal_auth.login(client_id, client_secret)
            except Unauthenticated as error:
                if self._is_live(client_secret):
                    raise self._refused_for_now(error) from error
                return False
        return True

    def _is_live(self, client_secret: str) -> bool:
        """Return whether the service still has a client secret of the identity that begins so."""
        if self._identity is None:
            return False
        known = self._client.identities.client_secrets.list(self._identity.id)
        return any(
            bool(one.client_secret_prefix)
            and client_secret.startswith(one.client_secret_prefix)
            and not one.is_client_secret_revoked
            for one in known
        )

    def _refused_for_now(self, error: Exception) -> CommandError:
        """Return why nothing is made: another client secret would be refused as well, and the old one would stay."""
        return CommandError(
            f"the service has the client secret of Secret {self._answers.namespace}/{self._answers.identity_secret}, "
            f"but refuses it now: {error}",
            ExitStatus.REFUSED,
            "After three failed logins, an identity is locked for some minutes. Wait, then run keybearer init again.",
        )
