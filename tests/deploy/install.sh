#!/bin/sh
# Puts into .deploy-tools/ at the repository root what the tests in tests/deploy need: the Deno of Deno Deploy, two reverse
# proxies, and linters for the container files. Nothing is installed on the machine, and no root is needed. Idempotent.
# What cannot be had is named, and the exit code is 0 all the same: its tests then skip themselves and say why.
set -u

here=$(cd "$(dirname "$0")" && pwd)
tools=$(cd "$here/../.." && pwd)/.deploy-tools
# The version that Deno Deploy documents.
deno_version=2.5.0

mkdir -p "$tools"
printf '*\n' >"$tools/.gitignore"

skipped() {
  echo "deploy: skipped, $1"
}

install_deno() {
  "$tools/deno/node_modules/deno/deno" --version 2>/dev/null | grep -q "^deno $deno_version " && return
  mkdir -p "$tools/deno" &&
    npm install --prefix "$tools/deno" --no-audit --no-fund --no-save --loglevel=error "deno@$deno_version" >/dev/null 2>&1 &&
    # Puts the program itself in place of a script, so that signals reach it.
    (cd "$tools/deno/node_modules/deno" && node install.cjs >/dev/null 2>&1)
}

install_linters() {
  cmp -s "$here/requirements.txt" "$tools/python/requirements.txt" && return
  rm -rf "$tools/python"
  python3 -m venv "$tools/python" 2>/dev/null >&2 &&
    "$tools/python/bin/python" -m pip install --quiet --disable-pip-version-check \
      --requirement "$here/requirements.txt" 2>/dev/null >&2 &&
    cp "$here/requirements.txt" "$tools/python/requirements.txt"
}

# Debian's packages, unpacked beside the project: an installation would start them as services.
install_debian() {
  program=$1
  package=$2
  command -v "$program" >/dev/null 2>&1 && return
  [ -x "$tools/debian/$program" ] && return
  command -v apt-get >/dev/null 2>&1 && command -v dpkg-deb >/dev/null 2>&1 || return 1
  folder=$(mktemp -d "$tools/download.XXXXXX") || return 1
  # The sandbox of apt cannot write to the folder.
  (
    cd "$folder" &&
      { apt-get -o APT::Sandbox::User=root download "$package" >/dev/null 2>&1 ||
        { apt-get update >/dev/null 2>&1 && apt-get -o APT::Sandbox::User=root download "$package" >/dev/null 2>&1; }; } &&
      dpkg-deb --extract "$package"_*.deb unpacked
  ) && mkdir -p "$tools/debian" &&
    mv "$(find "$folder/unpacked" -type f -name "$program" -path '*bin/*' | head -n 1)" "$tools/debian/$program"
  status=$?
  rm -rf "$folder"
  return $status
}

install_deno || skipped "Deno $deno_version could not be installed with npm"
install_linters || skipped "the linters of container files could not be installed with Python's pip"
install_debian nginx nginx || skipped "nginx could not be had from Debian's packages"
install_debian caddy caddy || skipped "Caddy could not be had from Debian's packages"
# Minutes, so at full size alone.
[ "${A2C_TEST_SIZE:-}" = full ] && sh "$here/install_systemd.sh" && sh "$here/install_podman.sh"
echo "deploy: tools are in .deploy-tools/"
