#!/bin/sh
# Installs one version of the Python SDK with its own tests: install.sh VERSION FOLDER. Makes FOLDER/venv and
# FOLDER/source. Does nothing when both are there and up to date. Ends with 3 when there is no suitable Python.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
version=$1
folder=$2
stamp=$folder/constraints.txt

if cmp -s "$here/constraints.txt" "$stamp"; then exit 0; fi

python=
for candidate in python3.11 python3.12 python3.13 python3 python; do
  if "$candidate" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info[:2] < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "Python 3.11 or later with venv is needed (on Debian: python3 and python3-venv)"
  exit 3
fi

rm -rf "$folder"
mkdir -p "$folder/sdist"
"$python" -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip --quiet --disable-pip-version-check"
$pip download --no-deps --no-binary a2c-smcp "a2c-smcp==$version" --dest "$folder/sdist"
"$python" -m tarfile -e "$folder/sdist/a2c_smcp-$version.tar.gz" "$folder"
mv "$folder/a2c_smcp-$version" "$folder/source"
$pip install --constraint "$here/constraints.txt" "a2c-smcp[cli]==$version" \
  uvicorn werkzeug aiohttp pyyaml requests websocket-client polyfactory inline-snapshot pexpect \
  pytest pytest-asyncio pytest-mock pytest-dotenv pytest-cov pytest-timeout pytest-rerunfailures pytest-xdist
cp "$here/constraints.txt" "$stamp"
