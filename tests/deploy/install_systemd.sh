#!/bin/sh
# Puts into .deploy-tools/ a small Debian with systemd and a user manager, for the test of `computer service`, and installs
# systemd-nspawn to boot it. Two minutes, as root, on Debian or Ubuntu. Idempotent. Where that is not possible it says so
# and exits 0: the test then skips itself and says why.
set -u

tools=$(cd "$(dirname "$0")/../.." && pwd)/.deploy-tools
tar=$tools/systemd.tar
packages=systemd,systemd-sysv,libpam-systemd,dbus,dbus-user-session,libnss-systemd,ca-certificates

[ -f "$tar" ] && command -v systemd-nspawn >/dev/null 2>&1 && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "deploy: skipped, a container with systemd needs root and apt-get"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() {
  apt-get install -y -qq --no-install-recommends mmdebstrap systemd-container >/dev/null 2>&1
}
if { install || { apt-get update -qq >/dev/null 2>&1 && install; }; } && mkdir -p "$tools" &&
  mmdebstrap --quiet --format=tar --variant=minbase --include="$packages" bookworm "$tar.part" >/dev/null 2>&1; then
  mv "$tar.part" "$tar"
  echo "deploy: a container with systemd is in .deploy-tools/"
else
  rm -f "$tar.part"
  echo "deploy: skipped, a container with systemd could not be made from Debian's packages"
fi
