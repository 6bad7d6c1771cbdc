"""`keybearer policies`: what may be asked for of certificates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from keybearer.cli.certificate_finding import CertificateProject, all_of, authority_of, policy_of, project_of
from keybearer.cli.connecting import connected
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_found, require_confirmed

if TYPE_CHECKING:
    from keybearer.client import CertificatePolicy, Keybearer, NameRule, PolicyBinding, UsageRule

__all__ = ["name_rules", "policies"]

policies = typer.Typer(
    help="Say what certificates may be asked for.", no_args_is_help=True, rich_markup_mode=None
)

Which = Annotated[str, typer.Argument(help="Name or id of the policy.", metavar="POLICY")]
Rules = list[str] | None


@policies.command("list")
def list_policies(
    search: Annotated[str | None, typer.Option(help="Only those with this text.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the policies of a project."""
    with connected() as client:
        ask = partial(client.certificate_policies.list, project_id=project_of(client, project), search=search)
        found = all_of(ask, lambda page: page.certificate_policies)
    print_found(
        output,
        found,
        ("NAME", "VALID AT MOST", "DESCRIPTION", "ID"),
        [
            (one.name, (one.validity.max if one.validity else None) or "any", one.description, one.id)
            for one in found
        ],
    )


@policies.command("show")
def show(policy: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """Show a policy: what may, must and must not be asked for."""
    with connected() as client:
        found = policy_of(client, policy, project_of(client, project))
        binding = _binding_of(client, found)
    print_found(output, found, ("FIELD", "CONTENT"), [*_fields_of(found), *_rows_of(binding)])


@policies.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    allow: Annotated[
        Rules,
        typer.Option(
            help="May be asked for, such as dns_name=*.example.com; repeatable.", metavar="TYPE=PATTERN"
        ),
    ] = None,
    require: Annotated[
        Rules, typer.Option(help="Must be asked for; as --allow.", metavar="TYPE=PATTERN")
    ] = None,
    deny: Annotated[
        Rules, typer.Option(help="Must not be asked for; as --allow.", metavar="TYPE=PATTERN")
    ] = None,
    key_usage: Annotated[
        list[KeyUsage] | None,
        typer.Option(help="May be asked for, such as digital_signature; repeatable.", metavar="USAGE"),
    ] = None,
    usage: Annotated[
        list[ExtendedKeyUsage] | None,
        typer.Option(help="May be asked for, such as server_auth; repeatable.", metavar="USAGE"),
    ] = None,
    key_algorithm: Annotated[
        list[KeyAlgorithm] | None,
        typer.Option(help="May be used, such as EC_prime256v1; repeatable.", metavar="ALGORITHM"),
    ] = None,
    max_ttl: Annotated[str | None, typer.Option(help="Valid so long at most, such as 90d or 12h.")] = None,
    max_backdate: Annotated[
        str | None, typer.Option(help="May begin so long before now, such as 2d; 5 minutes in any case.")
    ] = None,
    max_postdate: Annotated[
        str | None, typer.Option(help="May begin so long after now, such as 2d; an hour in any case.")
    ] = None,
    wildcards: Annotated[
        WildcardRule | None,
        typer.Option(
            help="Certificates for wildcards; without it, only where no --allow or --require is given for names."
        ),
    ] = None,
    profiles_by: Annotated[
        BoundBy | None, typer.Option(help="Who has profiles issue by it; admins of the project by default.")
    ] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a policy.

    What nothing is said of may be anything; of authorities it allows none, and the usages any_purpose, code_signing,
    ocsp_signing, time_stamping must be named. Types are common_name, organization, organizational_unit, country,
    state, locality, domain_component in subjects, and dns_name, ip_address, email, uri, upn of other names.

    In names of hosts, * stands for what belongs to one label, and ** for any text: *.example.com allows
    www.example.com, **.example.com allows a.b.example.com as well. A common name must be a host that the rules of
    dns_name allow, unless common_name=PATTERN allows it.
    """
    from keybearer.client import AlgorithmRule, ConstraintRule, UsageRule, ValidityRule

    subject, others = name_rules(allow, require, deny)
    with connected() as client:
        project_id = project_of(client, project)
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
            wildcards=None if wildcards is None else wildcards.value,
            key_usages=None if key_usage is None else UsageRule(allowed=_words(key_usage)),
            extended_key_usages=None if usage is None else UsageRule(allowed=_words(usage)),
            algorithms=None
            if key_algorithm is None
            else AlgorithmRule(key_algorithm=_spelled(key_algorithm)),
            validity=None
            if max_ttl is None and max_backdate is None and max_postdate is None
            else ValidityRule(max=max_ttl, max_backdate=max_backdate, max_postdate=max_postdate),
            basic_constraints=ConstraintRule(is_ca="denied"),
        )
        if profiles_by is not None:
            client.certificate_policies.change_binding(made.id, profiles_bound_by=profiles_by.value)
    print_done(output, made, f"Policy {made.name} is made; its id is {made.id}.")


@policies.command("bind")
def bind(
    policy: Which,
    profiles_by: Annotated[
        BoundBy | None,
        typer.Option(
            help="Who has profiles issue by the policy: admins of the project, or its members as well."
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
    """Say who binds profiles, and which authorities it has.

    Profiles keep the policy that they have. What a bound authority signed before stays as it is.
    """
    if authority and no_authorities:
        raise CommandError("--authority and --no-authorities exclude each other", ExitStatus.USAGE)
    if profiles_by is None and not authority and not no_authorities:
        raise CommandError(
            "nothing to change was given",
            ExitStatus.USAGE,
            "Say --profiles-by, --authority or --no-authorities.",
        )
    with connected() as client:
        project_id = project_of(client, project)
        found = policy_of(client, policy, project_id)
        ca_ids = None
        if authority or no_authorities:
            ca_ids = [authority_of(client, one, project_id).id for one in authority or ()]
        changed = client.certificate_policies.change_binding(
            found.id, profiles_bound_by=None if profiles_by is None else profiles_by.value, ca_ids=ca_ids
        )
    print_found(output, changed, ("FIELD", "CONTENT"), _rows_of(changed))


@policies.command("delete")
def delete(
    policy: Which,
    project: CertificateProject = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a policy."""
    require_confirmed(f"Delete policy {policy}?", yes=yes)
    with connected() as client:
        found = policy_of(client, policy, project_of(client, project))
        deleted = client.certificate_policies.delete(found.id)
    print_done(output, deleted, f"Policy {deleted.name} is deleted.")


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
            kind, equals, pattern = word.partition("=")
            if not (equals and pattern) or kind not in (*SubjectField, *NameType):
                raise ConfigurationError(
                    f"{word!r} is no TYPE=PATTERN; the types are {', '.join((*SubjectField, *NameType))}"
                )
            sorts.setdefault(kind, {}).setdefault(option, []).append(pattern)
    rules = [
        NameRule(
            type=kind,
            allowed=lists.get("allowed"),
            required=lists.get("required"),
            denied=lists.get("denied"),
        )
        for kind, lists in sorts.items()
    ]
    of_subjects = [rule for rule in rules if rule.type in tuple(SubjectField)]
    return of_subjects, [rule for rule in rules if rule not in of_subjects]


def _words(given: Iterable[KeyUsage | ExtendedKeyUsage]) -> list[str]:
    return [one.value for one in given]


def _spelled(given: Iterable[KeyAlgorithm]) -> list[str]:
    return [one.policy_spelling for one in given]


def _fields_of(found: CertificatePolicy) -> list[tuple[str, str]]:
    named = [
        (rule.type, _told(rule.allowed, rule.required, rule.denied))
        for rule in (*(found.subject or ()), *(found.sans or ()))
    ]
    algorithms, constraints = found.algorithms, found.basic_constraints
    return [
        ("name", found.name),
        *named,
        ("key usages", _told_usages(found.key_usages)),
        ("extended key usages", _told_usages(found.extended_key_usages)),
        ("keys", _told(algorithms.key_algorithm if algorithms else None, None, None)),
        ("signatures", _told(algorithms.signature if algorithms else None, None, None)),
        ("wildcards", found.wildcards or "where no rule lists names"),
        ("valid at most", (found.validity.max if found.validity else None) or "any"),
        ("begins before now", (found.validity.max_backdate if found.validity else None) or "5 minutes"),
        ("begins after now", (found.validity.max_postdate if found.validity else None) or "an hour"),
        ("authorities", (constraints.is_ca if constraints else None) or "denied"),
        ("description", found.description),
        ("created", found.created_at),
        ("id", found.id),
    ]


def _told_usages(rule: UsageRule | None) -> str:
    return "any" if rule is None else _told(rule.allowed, rule.required, rule.denied)


def _told(allowed: Sequence[str] | None, required: Sequence[str] | None, denied: Sequence[str] | None) -> str:
    parts = ["any" if allowed is None else ", ".join(allowed) or "none"]
    parts += [f"must: {', '.join(required)}"] if required else []
    parts += [f"not: {', '.join(denied)}"] if denied else []
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
