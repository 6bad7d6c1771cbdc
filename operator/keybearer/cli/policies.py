"""`keybearer policies`: what may be asked for of certificates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import (
    BoundBy,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SubjectField,
    WildcardRule,
)
from keybearer.base.errors import ConfigurationError
from keybearer.cli.certificate_finding import (
    POLICY,
    CertificateProject,
    all_of,
    authority_of,
    in_certificate_project,
    policy_of,
)
from keybearer.cli.failures import CommandError, ExitStatus, misused, nothing_to_change
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, note, print_fields, require_confirmed

if TYPE_CHECKING:
    from keybearer.client import CertificatePolicy, Keybearer, NameRule, PolicyBinding, UsageRule

__all__ = ["name_rules", "policies"]

policies = new_group("Say what certificates may be asked for.")

Which = Annotated[str, typer.Argument(help="Name or id of the policy.", metavar="POLICY")]
_Rules = list[str] | None
Allow = Annotated[
    _Rules,
    typer.Option(
        help="May be asked for, such as dns_name=*.example.com; repeatable.", metavar="TYPE=PATTERN"
    ),
]
Require = Annotated[_Rules, typer.Option(help="Must be asked for; as --allow.", metavar="TYPE=PATTERN")]
Deny = Annotated[_Rules, typer.Option(help="Must not be asked for; as --allow.", metavar="TYPE=PATTERN")]
KeyUsages = Annotated[
    list[KeyUsage] | None,
    typer.Option(
        "--key-usage", help="May be asked for, such as digital_signature; repeatable.", metavar="USAGE"
    ),
]
Usages = Annotated[
    list[ExtendedKeyUsage] | None,
    typer.Option("--usage", help="May be asked for, such as server_auth; repeatable.", metavar="USAGE"),
]
KeyAlgorithms = Annotated[
    list[KeyAlgorithm] | None,
    typer.Option(
        "--key-algorithm", help="May be used, such as EC_prime256v1; repeatable.", metavar="ALGORITHM"
    ),
]
MaxTtl = Annotated[str | None, typer.Option(help="Longest validity, such as 90d or 12h.")]
MaxBackdate = Annotated[
    str | None, typer.Option(help="How long before now it may begin, such as 2d; never less than 5 minutes.")
]
MaxPostdate = Annotated[
    str | None, typer.Option(help="How long after now it may begin, such as 2d; never less than an hour.")
]
Wildcards = Annotated[
    WildcardRule | None,
    typer.Option(
        help="Certificates for wildcards; without it, only where no --allow or --require is given for names."
    ),
]


@policies.command("list")
def list_policies(
    search: Annotated[str | None, typer.Option(help="Only those with this text.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the policies of a project."""
    with in_certificate_project(project) as (client, project_id):
        ask = partial(client.certificate_policies.list, project_id=project_id, search=search)
        POLICY.print_list(output, all_of(ask, lambda page: page.certificate_policies))


@policies.command("show")
def show(policy: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """Show a policy: what may, must and must not be asked for."""
    with in_certificate_project(project) as (client, project_id):
        found = policy_of(client, policy, project_id)
        binding = _binding_of(client, found)
    print_fields(output, found, [*_fields_of(found), *_rows_of(binding)])


@policies.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    allow: Allow = None,
    require: Require = None,
    deny: Deny = None,
    key_usage: KeyUsages = None,
    usage: Usages = None,
    key_algorithm: KeyAlgorithms = None,
    max_ttl: MaxTtl = None,
    max_backdate: MaxBackdate = None,
    max_postdate: MaxPostdate = None,
    wildcards: Wildcards = None,
    profiles_by: Annotated[
        BoundBy | None, typer.Option(help="Who may make profiles with it. Default: admins of the project.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a policy.

    The policy allows everything that no rule names, with two exceptions: certificates of authorities, and the usages
    any_purpose, code_signing, ocsp_signing, time_stamping unless you name them. Types are common_name, organization,
    organizational_unit, country, state, locality, domain_component in subjects, and dns_name, ip_address, email, uri,
    upn of other names.

    In host names, * matches within one label, and ** matches any text: *.example.com allows www.example.com,
    **.example.com allows a.b.example.com as well. A common name must be a host that the rules of dns_name allow,
    unless common_name=PATTERN allows it.
    """
    from keybearer.client import AlgorithmRule, ConstraintRule, ValidityRule

    subject, others = name_rules(allow, require, deny)
    validity = ValidityRule(max=max_ttl, max_backdate=max_backdate, max_postdate=max_postdate)
    with in_certificate_project(project) as (client, project_id):
        # The service would make a second one under another name, which no profile means.
        if client.certificate_policies.find(name, project_id=project_id) is not None:
            raise CommandError(
                f"there is a policy {name} already",
                ExitStatus.REFUSED,
                f"keybearer policies show {name} shows it.",
            )
        made = client.certificate_policies.create(
            name,
            project_id=project_id,
            description=description,
            subject=subject or None,
            sans=others or None,
            wildcards=wildcards,
            key_usages=_allowed(key_usage),
            extended_key_usages=_allowed(usage),
            algorithms=AlgorithmRule(key_algorithm=[one.policy_spelling for one in key_algorithm])
            if key_algorithm
            else None,
            validity=None if validity == ValidityRule() else validity,
            basic_constraints=ConstraintRule(is_ca="denied"),
        )
        if profiles_by is not None:
            client.certificate_policies.change_binding(made.id, profiles_bound_by=profiles_by.value)
    POLICY.print_made(output, made)


@policies.command("update")
def update(
    policy: Which,
    name: Annotated[str | None, typer.Option(help="Another name.")] = None,
    allow: Allow = None,
    require: Require = None,
    deny: Deny = None,
    key_usage: KeyUsages = None,
    usage: Usages = None,
    key_algorithm: KeyAlgorithms = None,
    max_ttl: MaxTtl = None,
    max_backdate: MaxBackdate = None,
    max_postdate: MaxPostdate = None,
    wildcards: Wildcards = None,
    description: Annotated[str | None, typer.Option(help="What it is for; '' for nothing.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change a policy.

    Options that aren't given change nothing. --allow, --require and --deny replace everything that the policy says of
    the same TYPE, and the command prints that. The rules apply to requests from now on; certificates that were issued
    before stay valid.
    """
    from keybearer.client import AlgorithmRule, ValidityRule

    subject, others = name_rules(allow, require, deny)
    usages = (key_usage, usage, key_algorithm)
    plain = (name, max_ttl, max_backdate, max_postdate, wildcards, description)
    if not (subject or others or any(usages)) and all(given is None for given in plain):
        raise nothing_to_change("keybearer policies update --help lists what can be.")
    with in_certificate_project(project) as (client, project_id):
        found = policy_of(client, policy, project_id)
        present = found.validity or ValidityRule()
        validity = ValidityRule(
            max=max_ttl or present.max,
            max_backdate=max_backdate or present.max_backdate,
            max_postdate=max_postdate or present.max_postdate,
        )
        algorithms = [one.policy_spelling for one in key_algorithm or ()]
        changed = client.certificate_policies.update(
            found.id,
            name=name,
            description=description,
            subject=_replaced(found.subject, subject),
            sans=_replaced(found.sans, others),
            wildcards=wildcards,
            key_usages=_allowed(key_usage or None, found.key_usages),
            extended_key_usages=_allowed(usage or None, found.extended_key_usages),
            algorithms=replace(found.algorithms or AlgorithmRule(), key_algorithm=algorithms)
            if algorithms
            else None,
            validity=None if (max_ttl, max_backdate, max_postdate) == (None, None, None) else validity,
        )
    POLICY.print_done(output, changed, "is changed")
    now = _fields_of(changed)
    for row in _fields_of(found):
        if row not in now:
            note(f"Before: {' '.join(row)}")


@policies.command("bind")
def bind(
    policy: Which,
    profiles_by: Annotated[
        BoundBy | None,
        typer.Option(
            help="Who may make profiles with the policy: only admins of the project, or also its members."
        ),
    ] = None,
    authority: Annotated[
        list[str] | None,
        typer.Option(
            help="Name or id of an authority that signs by profiles of this policy alone; repeatable. Others are "
            "released.",
            metavar="AUTHORITY",
        ),
    ] = None,
    no_authorities: Annotated[
        bool, typer.Option("--no-authorities", help="Release all authorities that are bound to the policy.")
    ] = False,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Set who may make profiles with a policy, and its authorities.

    Profiles keep the policy that they have. Certificates that a bound authority signed before stay valid.
    """
    if authority and no_authorities:
        raise misused("--authority and --no-authorities exclude each other")
    if profiles_by is None and not authority and not no_authorities:
        raise nothing_to_change("Say --profiles-by, --authority or --no-authorities.")
    with in_certificate_project(project) as (client, project_id):
        found = policy_of(client, policy, project_id)
        ca_ids = None
        if authority or no_authorities:
            ca_ids = [authority_of(client, one, project_id).id for one in authority or ()]
        changed = client.certificate_policies.change_binding(
            found.id, profiles_bound_by=None if profiles_by is None else profiles_by.value, ca_ids=ca_ids
        )
    print_fields(output, changed, _rows_of(changed))


@policies.command("delete")
def delete(
    policy: Which,
    project: CertificateProject = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a policy."""
    require_confirmed(f"Delete policy {policy}?", yes=yes)
    with in_certificate_project(project) as (client, project_id):
        deleted = client.certificate_policies.delete(policy_of(client, policy, project_id).id)
    POLICY.print_done(output, deleted, "is deleted")


def name_rules(
    allow: Iterable[str] | None, require: Iterable[str] | None, deny: Iterable[str] | None
) -> tuple[list[NameRule], list[NameRule]]:
    """Return the rules that are given as TYPE=PATTERN: those of subjects, and those of other names.

    Raises:
        ConfigurationError: one is not.
    """
    from keybearer.client import NameRule

    sorts: dict[str, dict[str, list[str]]] = {}
    for option, given in (("allowed", allow), ("required", require), ("denied", deny)):
        for word in given or ():
            kind, _, pattern = word.partition("=")
            if not pattern or kind not in (*SubjectField, *NameType):
                raise ConfigurationError(
                    f"{word!r} is no TYPE=PATTERN; the types are {', '.join((*SubjectField, *NameType))}"
                )
            sorts.setdefault(kind, {}).setdefault(option, []).append(pattern)
    rules = [NameRule(type=kind, **lists) for kind, lists in sorts.items()]
    of_subjects = [rule for rule in rules if rule.type in tuple(SubjectField)]
    return of_subjects, [rule for rule in rules if rule not in of_subjects]


def _replaced(present: Sequence[NameRule] | None, given: Sequence[NameRule]) -> list[NameRule] | None:
    """Return all rules of names, with those given in place of the present ones of their type; None for no change."""
    if not given:
        return None
    types = {rule.type for rule in given}
    return [*(rule for rule in present or () if rule.type not in types), *given]


def _allowed(given: Sequence[str] | None, present: UsageRule | None = None) -> UsageRule | None:
    from keybearer.client import UsageRule

    return None if given is None else replace(present or UsageRule(), allowed=given)


def _fields_of(found: CertificatePolicy) -> list[tuple[str, str]]:
    from keybearer.client import AlgorithmRule, ConstraintRule, UsageRule, ValidityRule

    algorithms, validity = found.algorithms or AlgorithmRule(), found.validity or ValidityRule()
    return [
        ("name", found.name),
        *((rule.type, _told(rule)) for rule in (*(found.subject or ()), *(found.sans or ()))),
        ("key usages", _told(found.key_usages)),
        ("extended key usages", _told(found.extended_key_usages)),
        ("keys", _told(UsageRule(allowed=algorithms.key_algorithm))),
        ("signatures", _told(UsageRule(allowed=algorithms.signature))),
        ("wildcards", found.wildcards or "where no rule lists names"),
        ("valid at most", validity.max or "any"),
        ("begins before now", validity.max_backdate or "5 minutes"),
        ("begins after now", validity.max_postdate or "an hour"),
        ("authorities", (found.basic_constraints or ConstraintRule()).is_ca or "denied"),
        ("description", found.description),
        ("created", found.created_at),
        ("id", found.id),
    ]


def _told(rule: NameRule | UsageRule | None) -> str:
    if rule is None:
        return "any"
    parts = ["any" if rule.allowed is None else ", ".join(rule.allowed) or "none"]
    parts += [f"must: {', '.join(rule.required)}"] if rule.required else []
    parts += [f"not: {', '.join(rule.denied)}"] if rule.denied else []
    return "; ".join(parts)


def _binding_of(client: Keybearer, policy: CertificatePolicy) -> PolicyBinding | None:
    """Return the binding; None of a service that isn't Keybearer."""
    from keybearer.client import NotFound

    try:
        return client.certificate_policies.get_binding(policy.id)
    except NotFound:
        return None


def _rows_of(binding: PolicyBinding | None) -> list[tuple[str, str]]:
    if binding is None:
        return []
    return [
        ("profiles bound by", binding.profiles_bound_by),
        ("authorities of it alone", ", ".join(binding.ca_ids) or "none"),
    ]
