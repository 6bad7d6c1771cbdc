"""`make release`: what it builds is equal bit by bit wherever it is built, says what it is, and can be used."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from cyclonedx.schema import SchemaVersion

from support.built_image import unpacked_image
from support.releases import RELEASE_SECONDS, Release
from tools.chart.rendering import NAMESPACE, RELEASE, ROOT, helm
from tools.local.waiting import PATIENCE_SECONDS
from tools.release.layout import read_archive
from tools.release.sums import SUMS, read_sums

# The first one waits for a base and for the release.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]


def contents(release: Release) -> dict[str, tuple[int, str]]:
    """Return mode and digest of each file."""
    return {
        path.name: (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in release.dist.iterdir()
    }


def statement(release: Release) -> dict[str, object]:
    (file,) = release.dist.glob("*-provenance.json")
    found: dict[str, object] = json.loads(file.read_text())
    return found


def test_it_is_equal_bit_by_bit_built_elsewhere_later_and_by_somebody_with_other_habits(
    released: Release, released_elsewhere: Release
) -> None:
    assert released.dist != released_elsewhere.dist
    assert contents(released) == contents(released_elsewhere)


def test_it_holds_each_artifact_under_the_one_version(released: Release) -> None:
    version, platform = released.version, read_archive(released.image).platform.replace("/", "-")
    assert {path.name for path in released.dist.iterdir()} == {
        f"keybearer-{version}-py3-none-any.whl",
        f"keybearer-{version}-py3-none-any.cdx.json",
        f"keybearer-{version}.tar.gz",
        f"keybearer-{version}.tgz",
        f"keybearer-{version}-crds.yaml",
        f"keybearer-{version}-{platform}.oci.tar",
        f"keybearer-{version}-{platform}.cdx.json",
        f"keybearer-{version}-provenance.json",
        SUMS,
    }
    chart = yaml.safe_load(helm("show", "chart", str(released.chart)))
    assert (chart["version"], chart["appVersion"]) == (version, version)
    with zipfile.ZipFile(released.wheel) as wheel:
        metadata = wheel.read(f"keybearer-{version}.dist-info/METADATA").decode()
    assert f"\nVersion: {version}\n" in metadata


def test_all_sums_are_right_and_name_all_files(released: Release) -> None:
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", "--quiet", SUMS],
        cwd=released.dist,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    named = read_sums((released.dist / SUMS).read_text()).keys()
    assert named | {SUMS} == {path.name for path in released.dist.iterdir()}


def test_the_provenance_names_all_artifacts_the_commit_and_each_package_of_the_base(
    released: Release,
) -> None:
    said = statement(released)
    sums = read_sums((released.dist / SUMS).read_text())
    subjects = said["subject"]
    assert isinstance(subjects, list)
    named = {one["name"]: one["digest"]["sha256"] for one in subjects}
    assert named == {name: digest for name, digest in sums.items() if not name.endswith("-provenance.json")}
    predicate = said["predicate"]
    assert isinstance(predicate, dict)
    source, *packages = predicate["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": released.commit.name}
    assert all(re.fullmatch("[0-9a-f]{64}", one["digest"]["sha256"]) for one in packages)
    bill = json.loads(released.bill_of_image.read_text())
    in_image = {f"{one['name']} {one['version']}" for one in bill["components"] if "pkg:deb/" in one["purl"]}
    assert in_image
    assert in_image <= {one["name"] for one in packages}


def test_the_bill_of_the_wheel_names_each_of_its_files(released: Release) -> None:
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415 - it takes seconds to load

    written = released.wheel.with_suffix(".cdx.json").read_text()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(written) is None
    bill = json.loads(written)
    with zipfile.ZipFile(released.wheel) as wheel:
        digests = {name: hashlib.sha256(wheel.read(name)).hexdigest() for name in wheel.namelist()}
    files = {one["name"]: one["hashes"][0]["content"] for one in bill["components"] if one["type"] == "file"}
    assert files == digests
    (digest,) = bill["metadata"]["component"]["hashes"]
    assert digest["content"] == hashlib.sha256(released.wheel.read_bytes()).hexdigest()


def test_the_wheel_is_installed_and_runs(released: Release, tmp_path: Path) -> None:
    venv.create(tmp_path / "environment", symlinks=True)
    python = tmp_path / "environment" / "bin" / "python"
    offline = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    subprocess.run(
        [sys.executable, "-m", "pip", f"--python={python}", "install", *offline, str(released.wheel)],
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    # Its requirements are those that are installed here; what is installed there comes before.
    purelib = Path(sysconfig.get_path("purelib", "venv", {"base": str(tmp_path / "environment")}))
    (purelib / "requirements.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    for command in ("keybearer", "kubectl-keybearer"):
        done = subprocess.run(
            [python.with_name(command), "--version" if command == "keybearer" else "--help"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert done.stdout.strip() == released.version or command != "keybearer"
    where = subprocess.run(
        [python, "-c", "import keybearer; print(keybearer.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(tmp_path)


def test_the_image_runs_what_is_in_the_wheel(released: Release) -> None:
    with zipfile.ZipFile(released.wheel) as wheel:
        modules = {
            name: wheel.read(name)
            for name in wheel.namelist()
            if ".dist-info/" not in name and not name.endswith(".pyi")
        }
    with unpacked_image(released.image, released.bill_of_image) as image:
        (package,) = (image.root / "opt/keybearer/lib").glob("python3.*/site-packages/keybearer")
        site = package.parent
        installed = {
            str(path.relative_to(site)): path.read_bytes()
            for path in package.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        }
    assert installed == modules


def test_the_source_distribution_has_all_that_the_wheel_is_built_of(released: Release) -> None:
    with tarfile.open(released.dist / f"keybearer-{released.version}.tar.gz") as sdist:
        members = {member.name.partition("/")[2]: member for member in sdist}
    assert {(one.uid, one.gid, one.uname, one.mtime) for one in members.values()} == {
        (0, 0, "", released.commit.seconds)
    }
    assert {"LICENSE", "README.md", "PKG-INFO", "pyproject.toml"} <= members.keys()
    with zipfile.ZipFile(released.wheel) as wheel:
        modules = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert {f"operator/{name}" for name in modules} <= members.keys()


def test_the_packaged_chart_is_that_of_the_source(released: Release) -> None:
    with tarfile.open(released.chart) as package:
        packed = {
            member.name.removeprefix("keybearer/"): file.read()
            for member in package
            if (file := package.extractfile(member)) is not None
        }
    chart = ROOT / "charts" / "keybearer"
    files = {str(path.relative_to(chart)): path.read_bytes() for path in chart.rglob("*") if path.is_file()}
    described = "Chart.yaml"  # Helm writes it anew
    assert yaml.safe_load(packed.pop(described)) == yaml.safe_load(files.pop(described))
    assert packed == {name: content for name, content in files.items() if "__pycache__" not in name}


def test_the_packaged_chart_installs_the_image_of_the_release(released: Release) -> None:
    rendered = helm("template", RELEASE, str(released.chart), f"--namespace={NAMESPACE}")
    asked = {
        container["image"]
        for one in yaml.safe_load_all(rendered)
        if one is not None and one["kind"] in {"Deployment", "StatefulSet"}
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    with tarfile.open(released.image) as archive:
        index = archive.extractfile("index.json")
        assert index is not None
        (described,) = json.load(index)["manifests"]
    # A node looks for a name without a registry under this one.
    assert {f"docker.io/library/{image}" for image in asked} == {
        described["annotations"]["io.containerd.image.name"]
    }


def test_the_one_file_of_crds_has_all_of_them(released: Release) -> None:
    text = (released.dist / f"keybearer-{released.version}-crds.yaml").read_text()
    found = [one for one in yaml.safe_load_all(text) if one is not None]
    assert found == [yaml.safe_load(file.read_text()) for file in sorted((ROOT / "crds").glob("*.yaml"))]
