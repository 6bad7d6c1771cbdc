"""What references mean: the environment that had the name when they were written, whatever has it now.

Names are labels. A text keeps them as they are typed; beside it stand the ids of what they meant. Where a name means
something else by now, references follow the ids: to the new name, or nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from keybearer.base.ids import EnvironmentSlug
from keybearer.domain.secrets.references import Named, Redirects
from keybearer.store.records import Project, Secret
from keybearer.store.reference_bindings import ANY_NAME, Binding, Loose, NamedEnvironment
from keybearer.store.secret_places import ReferenceTarget
from keybearer.store.unit import UnitOfWork

__all__ = ["bind", "redirects_of"]


async def bind(
    unit: UnitOfWork,
    project: Project,
    named: Sequence[tuple[Secret, Named]],
    *,
    rewritten: Collection[str],
    renamed: Mapping[EnvironmentSlug, str],
) -> None:
    """Keep what the names in these secrets' texts mean.

    Args:
        unit: of the change.
        project: of the secrets.
        named: each secret with what its text names.
        rewritten: ids of the secrets whose texts somebody writes now; names of others keep their meaning.
        renamed: ids of environments by the slugs that they are about to get.
    """
    names = {secret.id: _names(secret, of_text.targets) for secret, of_text in named}
    known: dict[str, dict[NamedEnvironment, Binding]] = {}
    # What is written for the first time has none so far: most writes create.
    stored = await unit.bindings.of_secrets(
        [secret.id for secret, _ in named if secret.version > 1 or secret.id not in rewritten]
    )
    for one in stored:
        if one.secret_id not in rewritten:
            known.setdefault(one.secret_id, {})[one.project_slug, one.environment] = one
    asked = set().union(*names.values()) if names else set()
    meant = await unit.bindings.meant(project, asked) if asked else {}
    meant.update({("", slug): (project.id, environment_id) for slug, environment_id in renamed.items()})
    bindings: list[Binding] = []
    for secret, of_text in named:
        present = known.get(secret.id, {})
        there = _all_names(of_text.targets) if present else ()
        kept = {name: one for name, one in present.items() if name == ANY_NAME or name in there}
        bindings += kept.values()
        for slug, environment in sorted(names[secret.id] - kept.keys()):
            project_id, environment_id = meant.get((slug, environment), (None, None))
            bindings.append(
                Binding(secret.id, slug, environment, project_id, environment_id, environment_id is None)
            )
    await unit.bindings.put({one.secret_id for one in stored}, bindings)


def redirects_of(loose: Iterable[Loose], slug: str, *, only_bound: bool) -> Redirects:
    """Return where names lead that don't stand for what they did.

    Args:
        loose: of one project.
        slug: how its secrets are named as places; empty for the project that is read.
        only_bound: whether names that never stood for anything lead nowhere, though they stand for something now.
    """
    redirects: dict[ReferenceTarget, dict[NamedEnvironment, NamedEnvironment | None]] = {}
    for one in loose:
        if one.is_bound or only_bound:
            redirects.setdefault(ReferenceTarget(slug, one.holder), {})[one.named] = one.leads_to
    return redirects


def _all_names(targets: Iterable[ReferenceTarget]) -> set[NamedEnvironment]:
    return {(target.project_slug, target.location.environment) for target in targets}


def _names(secret: Secret, targets: Iterable[ReferenceTarget]) -> set[NamedEnvironment]:
    """Return what the text names beside its own environment, which is where the text is."""
    return _all_names(targets) - {("", secret.environment)}
