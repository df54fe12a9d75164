#!/bin/sh
# Makes .venv-interop/ at the repository root with the reference Python SDK, for tests/interop.
# Idempotent, and instant when nothing changed. Without a suitable Python it says what is missing
# and exits 0: the tests then skip themselves and say why.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=$(cd "$here/../.." && pwd)/.venv-interop
requirements=$here/requirements.txt
stamp=$venv/installed-requirements.txt

venv_python() {
  for candidate in "$venv/bin/python" "$venv/Scripts/python.exe"; do
    if [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  return 1
}

if cmp -s "$requirements" "$stamp" && python=$(venv_python) && "$python" -c 'import a2c_smcp' 2>/dev/null >&2; then
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
cp "$requirements" "$stamp"
echo "interop: installed with $("$python" --version)"
