#!/bin/sh
# Make sure that the browser tests find three engines: Chromium ($CHROMIUM or on the PATH), Firefox, and
# WebKitGTK with a screen that nobody sees. Where this is Debian's root user, packages are installed.
set -eu

has() {
    command -v "$1" >/dev/null 2>&1
}

# Ubuntu's chromium and firefox are snaps, which a container cannot run: Debian only.
can_install() {
    [ "$(id -u)" = 0 ] && has apt-get && grep -qs '^ID=debian' /etc/os-release
}

get() {
    echo "installing for the browser tests: $*"
    apt-get update -qq && apt-get install -y -qq "$@" >/dev/null
}

missing() {
    has "${CHROMIUM:-chromium}" || has chromium-headless-shell || has chromium-browser || has google-chrome \
        || has chrome || echo chromium
    has firefox-esr || has firefox || echo firefox-esr
    has WebKitWebDriver || echo webkit2gtk-driver
    has Xvfb || echo xvfb
}

# The tests take half the time in a Chromium that has no windows. Where it cannot be had, another one will do.
if [ -z "${CHROMIUM:-}" ] && ! has chromium-headless-shell && can_install; then
    get chromium-headless-shell || echo "no chromium-headless-shell here: the browser tests will take longer"
fi

packages=$(missing)
[ -n "$packages" ] || exit 0

# shellcheck disable=SC2086 - several packages
can_install && get $packages && exit 0

echo "the browser tests need more than is here; install" $packages "or set CHROMIUM to the path of a Chromium"
# CI must not pass without them; elsewhere the tests skip and say so.
[ "${CI:-}" != true ]
