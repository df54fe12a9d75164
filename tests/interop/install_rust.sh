#!/bin/sh
# Makes .interop-rust/ at the repository root with the driver of the official Rust SDK (tests/interop/rust). A cold build
# takes minutes, so .ci/full runs this and .ci/run does not; a driver that is there is used by both.
# Without what the build needs it says what is missing and exits 0: the tests then skip themselves and say why.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# As rust/Cargo.toml has it.
least=1.88

if ! command -v cargo >/dev/null 2>&1 || ! command -v rustc >/dev/null 2>&1; then
  echo "interop: skipped, no Rust: its SDK needs rustc $least or later"
  exit 0
fi
version=$(rustc --version | sed -n 's/^rustc \([0-9.]*\).*/\1/p')
if [ "$(printf '%s\n' "$least" "$version" | sort -V | head -n 1)" != "$least" ]; then
  echo "interop: skipped, rustc $version is too old: the Rust SDK needs $least or later"
  exit 0
fi
# The SDK's Computer keeps secrets in the keyring of the desktop.
if [ "$(uname)" = Linux ] && ! pkg-config --exists dbus-1 2>/dev/null; then
  if [ "$(id -u)" != 0 ] || ! apt-get install -y -qq libdbus-1-dev pkg-config >/dev/null 2>&1; then
    echo "interop: skipped, the Rust SDK needs libdbus (on Debian: the packages libdbus-1-dev and pkg-config)"
    exit 0
  fi
fi
CARGO_TARGET_DIR=$root/.interop-rust cargo build --quiet --locked --manifest-path "$here/rust/Cargo.toml"
echo "interop: built the driver of the Rust SDK with rustc $version"
