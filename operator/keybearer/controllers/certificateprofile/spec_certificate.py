"""One certificate of a CertificateProfile: what is asked for, whose the key is, and where it is kept."""

from __future__ import annotations

import re
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.controllers.custom_resource import ResourceModel, RuledModel, rule
from keybearer.controllers.issuance.timing import is_too_early
from keybearer.controllers.resource_fields import Duration, Instant, ObjectName, reads_as_duration
from keybearer.controllers.secret_key_ref import SecretKeyRef
from keybearer.controllers.target.spec import Target, Workload, named_once

__all__ = [
    "IN_OTHER_WORDS",
    "RENEW_BEFORE_MESSAGE",
    "AltName",
    "Certificate",
    "CertificateAttributes",
    "CsrSource",
    "Keystores",
    "Origin",
    "PrivateKey",
    "RotationPolicy",
    "SecretTemplate",
    "SubjectText",
    "parse_ttl",
    "renew_before_seconds",
]

_TTL_PATTERN = r"^([1-9][0-9]{0,4}h|[1-9][0-9]{0,3}d)$"
_ALIAS_PATTERN = r"^[a-z0-9]([-._a-z0-9]*[a-z0-9])?$"
_CSR_MAX = 4096
_TTL_SECONDS = (
    "int(self.attributes.ttl.substring(0, self.attributes.ttl.size() - 1))"
    " * (self.attributes.ttl.endsWith('d') ? 86400 : 3600)"
)
IN_OTHER_WORDS = (
    "What cert-manager writes with a space, as in server auth, has an underscore here: server_auth."
)
RENEW_BEFORE_MESSAGE = (
    "renewBefore can be at most two thirds of the lifetime: lower it, or raise the lifetime"
)


def renew_before_seconds(certificate: str) -> str:
    """Return the CEL expression of a certificate's renewBefore in seconds; 0 for what another rule refuses."""
    field = f"{certificate}.renewBefore"
    return f"({reads_as_duration(field)} ? duration(string({field})).getSeconds() : 0)"


_CSR = re.compile(r"-----BEGIN (NEW )?CERTIFICATE REQUEST-----")

SubjectText = Annotated[str, Field(max_length=255)]
_Component = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[^,]+$")]


class AltName(ResourceModel):
    """A subject alternative name."""

    type: Annotated[NameType, Field(strict=False, description="The kind of name.")] = NameType.DNS_NAME
    value: Annotated[
        str, Field(min_length=1, max_length=255, description="The name: www.example.com, 10.0.0.1, a URI.")
    ]


class CertificateAttributes(RuledModel):
    """What a certificate says, and for how long (interface.md section 4.5)."""

    common_name: Annotated[
        SubjectText | None,
        Field(description="The common name. An empty text clears the profile's default, here and below."),
    ] = None
    organization: Annotated[SubjectText | None, Field(description="The organization.")] = None
    organizational_unit: Annotated[SubjectText | None, Field(description="The unit of it.")] = None
    country: Annotated[SubjectText | None, Field(description="The country, as two capital letters.")] = None
    state: Annotated[SubjectText | None, Field(description="The state or province.")] = None
    locality: Annotated[SubjectText | None, Field(description="The town.")] = None
    domain_components: Annotated[
        tuple[_Component, ...] | None,
        Field(strict=False, max_length=50, description="Domain components, from the outermost inwards."),
    ] = None
    key_usages: Annotated[
        tuple[Annotated[KeyUsage, Field(strict=False)], ...] | None,
        Field(strict=False, max_length=20, description="What the key may be used for."),
    ] = None
    extended_key_usages: Annotated[
        tuple[Annotated[ExtendedKeyUsage, Field(strict=False)], ...] | None,
        Field(
            strict=False, max_length=20, description=f"What the certificate may be used for. {IN_OTHER_WORDS}"
        ),
    ] = None
    alt_names: Annotated[
        tuple[AltName, ...] | None,
        Field(strict=False, max_length=100, description="Its further names."),
    ] = None
    ttl: Annotated[
        str | None,
        Field(
            max_length=6,
            pattern=_TTL_PATTERN,
            description="How long it is valid: hours or days, as 12h or 90d. Without it, the profile's ttlDays.",
        ),
    ] = None
    not_before: Annotated[
        Instant | None,
        Field(
            description="When it becomes valid; now without it. From five minutes ago to an hour ahead, unless the "
            "policy says more, and never before its issuer."
        ),
    ] = None
    not_after: Annotated[
        Instant | None,
        Field(
            description="When it ends, instead of ttl. Such a certificate is not renewed: its end is fixed."
        ),
    ] = None

    @rule(
        cel="!has(self.ttl) || !(has(self.notBefore) || has(self.notAfter))",
        message="give ttl, or notBefore and notAfter, not both",
    )
    def _ends_in_one_way(self) -> bool:
        return self.ttl is None or (self.not_before is None and self.not_after is None)

    @property
    def has_no_validity(self) -> bool:
        """Whether the profile says how long it is valid."""
        return self.ttl is None and self.not_before is None and self.not_after is None

    @property
    def describes_more_than_validity(self) -> bool:
        """Whether anything is given that a certificate signing request says already."""
        said = self.model_fields_set - {"ttl", "not_before", "not_after"}
        return any(getattr(self, name) is not None for name in said)


class Origin(StrEnum):
    """Who makes the private key."""

    OPERATOR = "Operator"
    SERVICE = "Service"


class RotationPolicy(StrEnum):
    """Whether a renewal brings a new key."""

    ALWAYS = "Always"
    NEVER = "Never"


class PrivateKey(RuledModel):
    """Whose the private key is, and of what kind."""

    generated_by: Annotated[
        Origin,
        Field(
            strict=False,
            description="Operator makes the key in the cluster, and the service never sees it. Service lets the "
            "service make and keep it.",
        ),
    ] = Origin.OPERATOR
    algorithm: Annotated[
        KeyAlgorithm,
        Field(strict=False, description="The kind and size of the key."),
    ] = KeyAlgorithm.EC_P256
    rotation_policy: Annotated[
        RotationPolicy,
        Field(strict=False, description="Always makes a new key for each certificate. Never keeps the key."),
    ] = RotationPolicy.ALWAYS

    @rule(
        cel="!(has(self.generatedBy) && self.generatedBy == 'Service' && has(self.rotationPolicy)"
        " && self.rotationPolicy == 'Never')",
        message="a key that the service makes is new each time: leave out rotationPolicy Never",
    )
    def _rotates_what_the_service_makes(self) -> bool:
        return self.generated_by is Origin.OPERATOR or self.rotation_policy is RotationPolicy.ALWAYS


class CsrSource(RuledModel):
    """A certificate signing request that somebody else made, with a key that stays where it is."""

    value: Annotated[
        str | None,
        Field(min_length=1, max_length=_CSR_MAX, description="The request itself, as PEM."),
    ] = None
    secret_key_ref: Annotated[
        SecretKeyRef | None, Field(description="A key of a Secret in the same namespace that holds it.")
    ] = None

    @rule(
        cel="has(self.value) != has(self.secretKeyRef)", message="give exactly one of value and secretKeyRef"
    )
    def _has_one_form(self) -> bool:
        return (self.value is None) != (self.secret_key_ref is None)

    @rule(
        cel="!has(self.value) || self.value.contains('-----BEGIN CERTIFICATE REQUEST-----')"
        " || self.value.contains('-----BEGIN NEW CERTIFICATE REQUEST-----')",
        message="value must be a certificate signing request as PEM",
    )
    def _is_pem(self) -> bool:
        return self.value is None or _CSR.search(self.value) is not None


class Pkcs12Keystore(ResourceModel):
    """Key and certificates as PKCS#12."""

    password_ref: Annotated[SecretKeyRef, Field(description="The Secret that holds the password.")]
    legacy: Annotated[
        bool,
        Field(description="Uses the old ciphers, for readers such as Java 8 that know no others."),
    ] = False


class JksKeystore(ResourceModel):
    """Key and certificates as a Java key store."""

    password_ref: Annotated[SecretKeyRef, Field(description="The Secret that holds the password.")]
    alias: Annotated[
        str,
        Field(min_length=1, max_length=64, pattern=_ALIAS_PATTERN, description="The name of the entry."),
    ] = "certificate"


class Keystores(RuledModel):
    """Further forms of the same, in the same Secret."""

    pkcs12: Annotated[Pkcs12Keystore | None, Field(description="Adds keystore.p12 and truststore.p12.")] = (
        None
    )
    jks: Annotated[JksKeystore | None, Field(description="Adds keystore.jks and truststore.jks.")] = None


def _labels(given: dict[str, str]) -> dict[str, str]:
    return _as_targets_have("labels", given)


def _annotations(given: dict[str, str]) -> dict[str, str]:
    return _as_targets_have("annotations", given)


def _as_targets_have(name: str, given: dict[str, str]) -> dict[str, str]:
    """Return labels or annotations that the target of a SecretSync could have as well: the rules are written there.

    The API server doesn't check them here, as rules for each of 200 certificates cost more than it allows.
    """
    try:
        Target.model_validate({name: given})
    except ValidationError as error:
        told = error.errors(include_url=False, include_context=False, include_input=False)[0]["msg"]
        raise ValueError(told.removeprefix("Value error, ")) from None
    return given


class SecretTemplate(ResourceModel):
    """What the Secret of a certificate says of itself."""

    labels: Annotated[
        dict[str, Annotated[str, Field(max_length=63)]],
        Field(max_length=64, description="Labels of the Secret; none under keybearer.dev/."),
        AfterValidator(_labels),
    ] = Field(default_factory=dict)
    annotations: Annotated[
        dict[str, Annotated[str, Field(max_length=16_384)]],
        Field(
            max_length=64,
            description="Annotations of the Secret; none under keybearer.dev/ or the domains that Kubernetes "
            "reserves.",
        ),
        AfterValidator(_annotations),
    ] = Field(default_factory=dict)


_DEFAULT_KEY = PrivateKey()
_NO_ATTRIBUTES = CertificateAttributes()


class Certificate(RuledModel):
    """A certificate and the Secret that it is kept in."""

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=63,
            pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
            description="Its name here. It stays the same when the rest changes.",
        ),
    ]
    secret_name: Annotated[
        ObjectName | None, Field(description="The Secret that stores it. Without it, the name of the entry.")
    ] = None
    adopt: Annotated[
        bool,
        Field(
            description=(
                "Lets it take over an existing Secret without an owner, if that has the same type"
                " and is not immutable."
            )
        ),
    ] = False
    attributes: Annotated[
        CertificateAttributes | None,
        Field(description="Its contents. The profile's defaults apply to missing fields."),
    ] = None
    csr: Annotated[
        CsrSource | None,
        Field(
            description=(
                "Signs this request instead of one made here. Its key stays with its owner, so "
                "the Secret has the type Opaque and holds only tls.crt and ca.crt."
            )
        ),
    ] = None
    private_key: Annotated[
        PrivateKey | None, Field(description="The kind of the key, and the side that makes it.")
    ] = None
    renew_before: Annotated[
        Duration | None,
        Field(
            description=(
                "Time before its end when it is renewed, at most two thirds of its lifetime. "
                "Without it, when two thirds of its lifetime have passed. The renewal is a little"
                " earlier in both cases, so that not all are at one instant, but never before a "
                "third of the lifetime."
            )
        ),
    ] = None
    revoke_on_delete: Annotated[
        bool, Field(description="Revokes it when you remove it from this list, or delete this object.")
    ] = False
    secret_template: Annotated[
        SecretTemplate | None, Field(description="Labels and annotations of the Secret.")
    ] = None
    keystores: Annotated[Keystores | None, Field(description="Further forms of it in the same Secret.")] = (
        None
    )
    refresh_mounts: Annotated[
        bool,
        Field(
            description=(
                "Updates mounted files of the Secret in running pods at once, with an annotation "
                "of these pods. Without it, that takes up to two minutes. Needs "
                "operator.refreshMounts.enabled in the chart."
            )
        ),
    ] = False
    rollout_restart: Annotated[
        tuple[Workload, ...],
        Field(
            strict=False,
            max_length=64,
            description="Workloads to restart after the Secret has another certificate.",
            json_schema_extra={
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["kind", "name"],
            },
        ),
        AfterValidator(named_once),
    ] = ()

    @rule(
        cel="!has(self.csr) || !(has(self.privateKey) || has(self.keystores))",
        message="with csr the key is elsewhere: leave out privateKey and keystores",
    )
    def _has_no_key_of_a_csr(self) -> bool:
        return self.csr is None or (self.private_key is None and self.keystores is None)

    @rule(
        cel="!has(self.csr) || !has(self.attributes) || !(has(self.attributes.commonName)"
        " || has(self.attributes.organization) || has(self.attributes.organizationalUnit)"
        " || has(self.attributes.country) || has(self.attributes.state) || has(self.attributes.locality)"
        " || has(self.attributes.domainComponents) || has(self.attributes.keyUsages)"
        " || has(self.attributes.extendedKeyUsages) || has(self.attributes.altNames))",
        message="with csr only ttl, notBefore and notAfter of attributes count: leave out the others",
    )
    def _says_no_more_than_the_csr(self) -> bool:
        return self.csr is None or not self.asked.describes_more_than_validity

    @rule(
        cel="!has(self.renewBefore) || !has(self.attributes) || !has(self.attributes.ttl)"
        f" || {renew_before_seconds('self')} * 3 <= 2 * {_TTL_SECONDS}",
        message=RENEW_BEFORE_MESSAGE,
        when_stored=False,
    )
    def _is_renewed_after_a_third_of_its_lifetime(self) -> bool:
        ttl = self.asked.ttl
        return ttl is None or not is_too_early(self.renew_before, parse_ttl(ttl))

    @property
    def asked(self) -> CertificateAttributes:
        """What it is to say."""
        return self.attributes or _NO_ATTRIBUTES

    @property
    def key(self) -> PrivateKey:
        """Its private key; of use only where there is no csr."""
        return self.private_key or _DEFAULT_KEY

    @property
    def target_name(self) -> str:
        """The name of its Secret."""
        return self.secret_name or self.name


def parse_ttl(text: str) -> timedelta:
    """Return the duration of a ttl such as `12h` or `90d`, which the model has let pass."""
    return timedelta(hours=int(text[:-1]) * (24 if text.endswith("d") else 1))
