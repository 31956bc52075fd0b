#!/bin/sh
# Make sure that the browser tests find three engines: Chromium ($CHROMIUM or on the PATH), Firefox, and
# WebKitGTK with a screen that nobody sees. Where this is Debian's root user, packages are installed.
set -eu

has() {
    command -v "$1" >/dev/null 2>&1
}

missing() {
    has "${CHROMIUM:-chromium}" || has chromium-browser || has google-chrome || has chrome || echo chromium
    has firefox-esr || has firefox || echo firefox-esr
    has WebKitWebDriver || echo webkit2gtk-driver
    has Xvfb || echo xvfb
}

packages=$(missing)
[ -n "$packages" ] || exit 0

# Ubuntu's chromium and firefox are snaps, which a container cannot run: Debian only.
if [ "$(id -u)" = 0 ] && has apt-get && grep -qs '^ID=debian' /etc/os-release; then
    echo "installing for the browser tests:" $packages
    # shellcheck disable=SC2086 - several packages
    apt-get update -qq && apt-get install -y -qq $packages >/dev/null && exit 0
fi

echo "the browser tests need more than is here; install" $packages "or set CHROMIUM to the path of a Chromium"
# CI must not pass without them; elsewhere the tests skip and say so.
[ "${CI:-}" != true ]
