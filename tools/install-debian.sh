#!/usr/bin/env bash
# Tools that the export tests use (cross targets, sanitizers, a browser), where that is possible without asking: as root, with
# apt-get. Elsewhere the tests that need a missing tool are skipped, and `make test` ends with the list of them.
set -u
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive

install() {
  local missing=() package
  for package; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    echo "not installed (needs root and apt-get): ${missing[*]}"
    return
  fi
  echo "installing ${missing[*]}"
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    echo "could not install ${missing[*]}"
}

mapfile -t packages < <(grep -v '^#' apt-packages.txt)
install "${packages[@]}"
# clang's sanitizers are a package of their own, named after clang's version, and only recommended by clang.
version=$(clang --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
[ -z "$version" ] || install "libclang-rt-$version-dev"
exit 0
