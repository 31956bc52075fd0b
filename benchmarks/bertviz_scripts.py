"""The scripts that BertViz's pages ask a CDN for, fetched once from npm and then kept."""

import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterable
from pathlib import Path

from transformer_lab.data.corpora import user_cache_folder

CDN = "https://cdnjs.cloudflare.com/ajax/libs/"
# npm has no jQuery 2.0.0: 2.1.0 is the nearest. Its RequireJS comes without a minified file.
PACKAGES = {
    "require.js/2.3.6/require.min.js": ("requirejs@2.3.6", "require.js"),
    "d3/5.7.0/d3.min.js": ("d3@5.7.0", "dist/d3.min.js"),
    "jquery/2.0.0/jquery.min.js": ("jquery@2.1.0", "dist/jquery.min.js"),
}


def load_bertviz_scripts() -> dict[str, bytes]:
    """Return the content of each script by its address.

    Raises:
        RuntimeError: If npm is missing, or cannot fetch a package.
    """
    folder = user_cache_folder() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    return {CDN + place: read_from_npm(*package, folder) for place, package in PACKAGES.items()}


def read_from_npm(package: str, file: str, folder: Path) -> bytes:
    """Return one file of an npm package such as `d3@5.7.0`."""
    archive = folder / f"{package.replace('@', '-')}.tgz"
    if not archive.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise RuntimeError(
                f"npm is missing: BertViz cannot draw without {package}; apt-get install npm"
            )
        command = [npm, "pack", "--silent", "--pack-destination", str(folder), package]
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
        if done.returncode:
            raise RuntimeError(f"npm could not fetch {package}: {done.stderr.strip()[-500:]}")
    with tarfile.open(archive) as packed:
        content = packed.extractfile(f"package/{file}")
        assert content is not None  # it is a file
        return content.read()


def check_addresses(page: str, served: Iterable[str]) -> None:
    """Raise a RuntimeError if a page asks for anything else: there is a new version of BertViz."""
    known = {address for s in served for address in (s, s.removesuffix(".js"))}
    unknown = set(re.findall(rf"{CDN}[^'\"]+", page)) - known
    if unknown:
        raise RuntimeError(f"BertViz asks for {sorted(unknown)}; expected only {sorted(known)}")
