#!/bin/sh
# Installs the programs of A2C-SMCP for this user, without root and without npm:
#   curl -fsSL https://github.com/a2c-smcp/typescript-sdk/releases/latest/download/install.sh | sh
# A2C_VERSION chooses a release, A2C_INSTALL a folder in place of ~/.local/share/a2c-smcp, A2C_DOWNLOAD another place of the
# archives. A second run updates; "a2c-smcp uninstall" is: rm -r ~/.local/share/a2c-smcp ~/.local/bin/a2c-smcp
set -eu

fail() {
  echo "Cannot install a2c-smcp: $1" >&2
  exit 1
}

main() {
  releases=https://github.com/a2c-smcp/typescript-sdk/releases
  if [ -n "${A2C_VERSION:-}" ]; then place=$releases/download/v$A2C_VERSION; else place=$releases/latest/download; fi
  place=${A2C_DOWNLOAD:-$place}
  [ -n "${HOME:-}" ] || fail "HOME is not set"
  folder=${A2C_INSTALL:-$HOME/.local/share/a2c-smcp}
  folder=${folder%/}
  case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
  # What is there is removed.
  if [ -e "$folder" ] && [ ! -x "$folder/lib/deno" ]; then
    fail "$folder is no installation of it; remove it, or choose another folder with A2C_INSTALL"
  fi

  case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=macos ;;
    *) fail "no archive for $(uname -s); on Windows use install.ps1" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    arm64 | aarch64) machine=arm64 ;;
    *) fail "no archive for the processor $(uname -m)" ;;
  esac
  if [ "$system" = linux ] && ! getconf GNU_LIBC_VERSION >/dev/null 2>&1; then
    fail "this system has no GNU C library (Alpine?), which Deno needs; use an image of Debian"
  fi

  mkdir -p "$HOME/.local/bin"
  # Of a program, whatever the umask of the shell: a service may run as another user.
  umask 022
  # On the same disk, so that the new folder takes the place of the old one at once.
  mkdir -p "$(dirname "$folder")"
  work=$(mktemp -d "$(dirname "$folder")/.a2c-smcp.XXXXXX")
  trap finish EXIT
  trap 'exit 130' HUP INT TERM
  fetch "$place/SHA256SUMS" "$work/SHA256SUMS"
  # Another place may have another release.
  version=${A2C_VERSION:-[0-9][^ ]*}
  line=$(grep -E "  a2c-smcp-$version-$system-$machine\.tar\.gz$" "$work/SHA256SUMS") ||
    fail "$place has no archive ${A2C_VERSION:+of $A2C_VERSION }for $system-$machine"
  archive=${line#*  }
  echo "Downloading $archive"
  fetch "$place/$archive" "$work/$archive"
  echo "$line" >"$work/expected"
  (cd "$work" && if command -v sha256sum >/dev/null; then sha256sum -c expected; else shasum -a 256 -c expected; fi) >/dev/null 2>&1 ||
    fail "$archive does not have the checksum of the release; nothing was changed"

  mkdir "$work/new"
  tar -xzf "$work/$archive" -C "$work/new" --strip-components=1
  "$work/new/a2c-smcp" --version >/dev/null || fail "the program does not start on this system; nothing was changed"
  [ ! -e "$folder" ] || mv "$folder" "$work/old"
  mv "$work/new" "$folder" || fail "cannot write $folder"
  ln -sfn "$folder/a2c-smcp" "$HOME/.local/bin/a2c-smcp"
  echo "Installed $("$folder/a2c-smcp" --version) in $folder"
  case :$PATH: in
    *:"$HOME/.local/bin":*) echo 'Next: a2c-smcp demo' ;;
    *)
      echo 'Next: run the line below, open a new terminal, and run: a2c-smcp demo'
      add_to_path "$system"
      ;;
  esac
}

# Puts the old program back where the new one did not take its place.
finish() {
  if [ -e "$work/old" ] && [ ! -e "$folder" ] && ! mv "$work/old" "$folder"; then
    echo "The program of before is in $work/old" >&2
    return
  fi
  rm -rf "$work"
}

# The line for the user's shell, in a file that each new terminal reads.
add_to_path() {
  case ${SHELL:-}:$1 in
    */fish:*) echo '  fish_add_path ~/.local/bin' && return ;;
    */zsh:*) file=.zshrc ;;
    */bash:linux) file=.bashrc ;;
    */bash:macos) file=.bash_profile ;;
    *) file=.profile ;;
  esac
  echo "  echo 'export PATH=\"\$HOME/.local/bin:\$PATH\"' >> ~/$file"
}

fetch() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "cannot download $1"
  else
    fail "neither curl nor wget is installed"
  fi
}

# The last line, so that half of a script does nothing.
main
