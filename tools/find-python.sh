#!/bin/sh
# Prints the Pythons that can hold bandstop, one a line, the best tested version first; $PYTHON, if set, is the only candidate.
# A program on the path proves nothing (pyenv leaves one for versions that it does not run), so each is run.
probe='import os, sys; assert (3, 11) <= sys.version_info[:2] <= (3, 13)
import ensurepip, venv; print(os.path.realpath(sys.executable))'
if [ -n "${PYTHON:-}" ]; then
  set -- "$PYTHON"
else
  set -- python3.11 python3.12 python3.13 python3 python
fi
found=
for candidate; do
  place=$(command -v "$candidate") && real=$("$place" -c "$probe" 2>/dev/null) || continue
  case $found in *"<$real>"*) continue ;; esac # the same under another name
  found="$found<$real>"
  printf '%s\n' "$place"
done
[ -n "$found" ] && exit 0
if [ -n "${PYTHON:-}" ]; then
  echo "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13 with the modules venv and ensurepip." >&2
else
  echo "No Python 3.11, 3.12 or 3.13 with the module venv was found: install one" \
    "(on Debian: apt-get install python3 python3-venv) or name it: make PYTHON=/path/to/python." >&2
fi
exit 1
