#!/bin/sh
# Makes .venv-interop/ at the repository root with the reference Python SDK 0.2.2, for tests/interop, and beside it
# .venv-interop/a2c-smcp-<version>/ with the package alone for each newer version of the matrix: all versions share the
# pinned libraries, so a folder at the front of PYTHONPATH makes the difference.
# Idempotent, and instant when nothing changed. Without a suitable Python it says what is missing
# and exits 0: the tests then skip themselves and say why.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
# A cold build takes minutes.
if [ "${A2C_TEST_SIZE:-}" = full ]; then sh "$here/install_rust.sh"; fi
venv=$(cd "$here/../.." && pwd)/.venv-interop
requirements=$here/requirements.txt
stamp=$venv/installed-requirements.txt
# The versions of tests/interop/matrix/cells.ts beside the one in requirements.txt.
newer_versions="0.3.3 0.4.2"

venv_python() {
  for candidate in "$venv/bin/python" "$venv/Scripts/python.exe"; do
    if [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

install_newer_versions() {
  for version in $newer_versions; do
    folder=$venv/a2c-smcp-$version
    if [ -d "$folder/a2c_smcp" ]; then continue; fi
    rm -rf "$folder" "$folder.part"
    "$1" -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder.part" "a2c-smcp==$version"
    mv "$folder.part" "$folder"
  done
}

if cmp -s "$requirements" "$stamp" && python=$(venv_python) && "$python" -c 'import a2c_smcp' 2>/dev/null >&2; then
  install_newer_versions "$python"
  echo "interop: already installed"
  exit 0
fi

# The newest reference SDK asks for Python >=3.11,<4.
found=
without_venv=
for candidate in python3.11 python3.12 python3.13 python3 python; do
  if ! "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (4, 0))' 2>/dev/null; then
    continue
  fi
  if ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
    without_venv=${without_venv:-$candidate}
    continue
  fi
  found=$candidate
  break
done

if [ -z "$found" ]; then
  if [ -n "$without_venv" ]; then
    echo "interop: skipped, $without_venv has no venv or ensurepip module (on Debian: the package ${without_venv}-venv)"
  else
    echo "interop: skipped, no Python 3.11 or later found (tried python3.11, python3.12, python3.13, python3, python)"
  fi
  exit 0
fi

rm -rf "$venv"
if ! "$found" -m venv "$venv"; then
  rm -rf "$venv"
  echo "interop: skipped, '$found -m venv' failed (on Debian it needs the package ${found}-venv)"
  exit 0
fi
printf '*\n' >"$venv/.gitignore"

python=$(venv_python)
"$python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
install_newer_versions "$python"
cp "$requirements" "$stamp"
echo "interop: installed with $("$python" --version)"
