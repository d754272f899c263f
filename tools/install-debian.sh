#!/usr/bin/env bash
# Tools that the export tests use (cross targets, sanitizers, a browser). Installed where that is possible without asking;
# elsewhere the tests that need a missing tool say so and are skipped.
set -u
cd "$(dirname "$0")"
missing=()
while read -r package; do
  [ -n "$package" ] || continue
  dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done < apt-packages.txt
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "not installed (needs root and apt-get): ${missing[*]}; the tests that use them are skipped"
  exit 0
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
  echo "could not install ${missing[*]}; the tests that use them are skipped"
exit 0
