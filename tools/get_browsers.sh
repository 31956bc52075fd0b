#!/bin/sh
# Make sure that the browser tests find a browser: $CHROMIUM, one on the PATH,
# or, where this is Debian's or Ubuntu's root user, a package.
set -eu

for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome chrome; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then
        exit 0
    fi
done

# Ubuntu's chromium package is a snap, which a container cannot run: Debian only.
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && grep -qs '^ID=debian' /etc/os-release; then
    echo "installing Debian's chromium for the browser tests"
    apt-get update -qq && apt-get install -y -qq chromium >/dev/null && exit 0
fi

echo "no browser found: the browser tests need one; install chromium or set CHROMIUM to its path"
# CI must not pass without them; elsewhere the tests skip and say so.
[ "${CI:-}" != true ]
