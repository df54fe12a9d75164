#!/bin/sh
# Puts into .deploy-tools/ a small Debian as the base of the container images, since no registry of images may be reachable,
# and installs Podman, which builds as buildah does. Three minutes, as root, on Debian or Ubuntu. Idempotent. Where that is
# not possible it says so and exits 0: the test then skips itself and says why.
set -u

tools=$(cd "$(dirname "$0")/../.." && pwd)/.deploy-tools
tar=$tools/base.tar

[ -f "$tar" ] && command -v podman >/dev/null 2>&1 && exit 0
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "deploy: skipped, images need root and apt-get"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
install() {
  apt-get install -y -qq --no-install-recommends mmdebstrap podman buildah runc >/dev/null 2>&1
}
if { install || { apt-get update -qq >/dev/null 2>&1 && install; }; } && mkdir -p "$tools" &&
  mmdebstrap --quiet --format=tar --variant=minbase bookworm "$tar.part" >/dev/null 2>&1; then
  mv "$tar.part" "$tar"
  echo "deploy: a base of container images is in .deploy-tools/"
else
  rm -f "$tar.part"
  echo "deploy: skipped, a base of container images could not be made from Debian's packages"
fi
