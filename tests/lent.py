"""What an environment of its own is given: packages of this one, lent, and a copy of the checkout."""

from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement


def needed_by(name, found=()):
    """A package of this environment and all that it needs, by name."""
    if name in found:
        return found
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return found  # one for another system
    found = (*found, name)
    for text in requirements:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            found = needed_by(requirement.name, found)
    return found


def lend(site, *names):
    """Put links to packages of this environment, and to what they need, beside another's packages.

    Nothing is fetched, and a gigabyte is not copied. pip sees them in that folder, and takes nothing
    away outside the environment that it works on.
    """
    folder = site / "lent"
    folder.mkdir()
    (site / "lent.pth").write_text(str(folder))
    needed = ()
    for name in names:
        needed = needed_by(name, needed)
    for each in needed:
        if (site / each).exists():
            continue  # setuptools, where the environment came with one
        found = distribution(each)
        for top in {file.parts[0] for file in found.files if ".." not in file.parts}:
            if not (folder / top).exists():
                (folder / top).symlink_to(found.locate_file(top))
