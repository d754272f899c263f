#!/bin/sh
# tools/setup.sh EXTRAS: makes the virtual environment $VENV and installs this folder with its EXTRAS (such as app,fast) into
# it, in the versions of constraints.txt. Does nothing where that was done since constraints.txt and pyproject.toml changed.
set -eu
cd "$(dirname "$0")/.."
venv=${VENV:-.venv}
extras=$1
stamp=$venv/.installed-$extras
wanted="$PWD $(cat constraints.txt pyproject.toml | cksum)"
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

install() {
  log=$venv/install.log
  "$venv/bin/python" -m pip install --disable-pip-version-check -c constraints.txt "$@" >"$log" 2>&1 && return
  tail -n 20 "$log" >&2
  return 1
}

fill() {
  echo "installing bandstop[$extras] into $venv"
  install "$(grep '^torch==' constraints.txt)" hatchling editables &&
    install --no-build-isolation -e ".[$extras]" &&
    printf '%s\n' "$wanted" >"$stamp"
}

if "$venv/bin/python" -c "" 2>/dev/null; then
  fill
  exit
fi
pythons=$(tools/find-python.sh)
# Not every package is built for every Python: where one cannot be installed, the next Python is tried.
while IFS= read -r python; do
  echo "making $venv with $python"
  "$python" -m venv --clear "$venv" && fill </dev/null && exit 0
done <<END
$pythons
END
rm -rf "$venv"
echo "The packages of constraints.txt could not be installed; pip says why above." >&2
exit 1
