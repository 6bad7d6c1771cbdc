from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keybearer.base.ids import EnvironmentSlug, FolderPath, new_uuid
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.questions import ListSecrets, SecretListing
from support.service_domain import at, service_domain


async def test_recursive_lists_leave_out_reserved_folders(tmp_path: Path) -> None:
    async with service_domain(tmp_path) as domain:
        project = await domain.project("project")
        await domain.folder(project, "/plain")
        async with domain.database.writing() as unit:
            plain = await unit.folders.at(project.id, EnvironmentSlug("dev"), FolderPath("/plain"))
            assert plain is not None
            hidden = replace(
                plain, id=new_uuid(), name="hidden", path=FolderPath("/hidden"), is_reserved=True
            )
            await unit.folders.add(project.id, hidden)
        for path, key in (("/plain", "P"), ("/hidden", "H")):
            await domain.writing.create(domain.admin, at(project, path), [NewSecret(key, "cnry-v")])
        query = ListSecrets(at(project), recursive=True, expand=True, view_value=True, include_imports=True)
        listing = await domain.reading.list(domain.admin, query)
        assert isinstance(listing, SecretListing)
        assert [shown.secret.key for shown in listing.secrets] == ["P"]
