#!/bin/sh
# Run each of the make targets that are named, also after one has failed, so that a failing test does
# not hide what the others would have said. Which Python ran them, and which failed, is said at the end.
set -u

failed=
for part in "$@"; do
    echo "== $part"
    "${MAKE:-make}" --no-print-directory "$part" || failed="$failed $part"
done

version=$(.venv/bin/python -c 'import sys; print(sys.version.split()[0], "from", sys.base_prefix)')
echo
echo "Python $version"
if [ -n "$failed" ]; then
    echo "failed:$failed"
    exit 1
fi
echo "passed: $*"
