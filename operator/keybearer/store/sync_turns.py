"""Whose job is begun next, so that nobody's pushes wait for all those of somebody else."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

__all__ = ["Tenant", "Turns"]

_SPARING = 5
"""Workers from which on some are left for who comes next; of fewer each is worth more at work."""
_REMEMBERED_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Tenant:
    """Whose a job is."""

    organization_id: str
    project_id: str


class Turns:
    """The turns of one process's workers.

    While others wait an organization has half of the workers at most, and so has a project. Alone it may have more,
    but of five workers or more an organization leaves one and a project two: a run may take an hour, and whoever
    comes meanwhile is not to wait for its end. Who has the fewest running is next, and of those who had no turn for
    longest.
    """

    def __init__(self, workers: int) -> None:
        spares = workers >= _SPARING
        self._half = (workers + 1) // 2
        self._organization_most = workers - 1 if spares else workers
        self._project_most = workers - 2 if spares else workers
        self._last: OrderedDict[str, int] = OrderedDict()
        self._count = 0

    def next(self, waiting: Collection[Tenant], running: Mapping[Tenant, int]) -> Tenant | None:
        """Return who has the next turn; None where nobody may have more than what runs.

        Args:
            waiting: who has a job that could begin; the longest waiting first.
            running: jobs of this process.
        """
        of_organizations: Counter[str] = Counter()
        for tenant, number in running.items():
            of_organizations[tenant.organization_id] += number
        is_shared = len({tenant.organization_id for tenant in waiting}) > 1
        organization_most = self._half if is_shared else self._organization_most
        project_most = self._half if len(waiting) > 1 else self._project_most

        def rank(tenant: Tenant) -> tuple[int, int, int, int]:
            return (
                of_organizations[tenant.organization_id],
                self._last.get(tenant.organization_id, 0),
                running.get(tenant, 0),
                self._last.get(tenant.project_id, 0),
            )

        admitted = (
            tenant
            for tenant in waiting
            if of_organizations[tenant.organization_id] < organization_most
            and running.get(tenant, 0) < project_most
        )
        return min(admitted, key=rank, default=None)

    def took(self, tenant: Tenant) -> None:
        """Note that it had its turn."""
        self._count += 1
        for name in (tenant.organization_id, tenant.project_id):
            self._last[name] = self._count
            self._last.move_to_end(name)
        while len(self._last) > _REMEMBERED_MAX:
            self._last.popitem(last=False)
