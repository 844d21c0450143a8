# Shared by the scripts beside it (sourced, never run): where things are, how Pythons are found, how to speak.
# Owns: messages, locks, the hunt for interpreters. Knows nothing of what is installed where.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venvs=$top/.venvs
cache=${XDG_CACHE_HOME:-$HOME/.cache}/pydynamo
sid=${PYDYNAMO_SID:-$cache/sid}
host_versions="3.11 3.12 3.13"
next_versions="3.14 3.15"

say() { printf '\033[1m» %s\033[0m\n' "$*" >&2; }
die() {
  printf '\033[31merror:\033[0m %s\n' "$*" >&2
  exit 1
}

# The path of a working CPython X.Y on this machine: from PATH, else from pyenv. Fails silently when there is none.
# A candidate is run, not believed: pyenv's shims exist for versions that are not selected.
find_python() {
  local version=$1 candidate
  for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
    candidate=$(command -v "$candidate" 2>/dev/null) || continue
    "$candidate" - "$version" 2>/dev/null <<'PY' && return 0
import sys, sysconfig
if sys.implementation.name == "cpython" and sys.argv[1] == "%d.%d" % sys.version_info[:2] \
        and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(sys._base_executable)
else:
    sys.exit(1)
PY
  done
  return 1
}

need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is not installed. $2"
}

# with_lock FILE COMMAND...: runs the command while no other process of this machine runs one under the same lock.
with_lock() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")"
  (
    flock 9
    "$@" 9>&-
  ) 9>"$file"
}
