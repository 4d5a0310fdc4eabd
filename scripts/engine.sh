#!/bin/sh
# Make sure that a Docker engine answers, and as root on Debian or Ubuntu that it and our host tools are installed.
#
# Silent and quick when everything is there. Otherwise one line per step, or one sentence and exit 2.
# DOCKER_HOST (unix://...) names another socket; FINCOSMOS_DOCKERD_ARGS adds options for starting one.
set -eu

address=${DOCKER_HOST:-unix:///var/run/docker.sock}
socket=${address#unix://}
run=$(dirname "$socket")
cache=${FINCOSMOS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fincosmos}
log=$cache/dockerd.log
start_limit_s=60

stop() {
    echo "engine: $1" >&2
    exit 2
}

say() {
    echo "engine: $1" >&2
}

# 0: an engine answers; 13: the socket refuses this user; 1: nobody there.
ping() {
    python3 - "$socket" <<'PYTHON'
import socket
import sys

with socket.socket(socket.AF_UNIX) as link:
    link.settimeout(5)
    try:
        link.connect(sys.argv[1])
        link.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
        sys.exit(0 if b" 200 " in link.recv(64) else 1)
    except PermissionError:
        sys.exit(13)
    except OSError:
        sys.exit(1)
PYTHON
}

is_debian() {
    [ -r /etc/os-release ] && (. /etc/os-release && case " ${ID:-} ${ID_LIKE:-} " in *" debian "* | *" ubuntu "*) ;; *) exit 1 ;; esac)
}

# Packages whose program is missing; the engine itself only when none answers.
lacking() {
    for pair in debootstrap:debootstrap mkfs.ext4:e2fsprogs losetup:mount unshare:util-linux "$@"; do
        PATH=$PATH:/usr/sbin:/sbin command -v "${pair%%:*}" >/dev/null || printf '%s ' "${pair#*:}"
    done
    [ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || printf 'debian-archive-keyring '
    [ -e /etc/ssl/certs/ca-certificates.crt ] || printf 'ca-certificates '
}

install() {
    [ -n "$1" ] || return 0
    say "installing $1"
    mkdir -p "$cache"
    # shellcheck disable=SC2086  # a list of package names
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends $1; } \
        >"$cache/apt.log" 2>&1 \
        || stop "apt-get could not install $1($(tail -n 1 "$cache/apt.log")); mend it, then run: apt-get install $1"
}

# Whether the process that a pid file names is an engine; a zombie, or another program with its number, is not.
lives() {
    pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] || return 1
    case $(sed -n 's/^Name:[[:space:]]*//p; s/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$pid/status" 2>/dev/null | tr '\n' ' ') in
        *" Z " | *" X ") return 1 ;;
        "dockerd "* | "containerd "*) return 0 ;;
    esac
    return 1
}

# A pid file outlives a killed engine, and dockerd refuses to start while anything has that number.
clear_stale() {
    for file in "$run/docker.pid" "$run/docker/containerd/containerd.pid" "$run/containerd/containerd.pid"; do
        if [ -f "$file" ] && ! lives "$file"; then
            rm -f "$file"
            say "removed stale $file"
        fi
    done
}

# An engine that is starting or ending is given its time; one that neither answers nor ends is for the user to judge.
settle() {
    waited=0
    while lives "$run/docker.pid"; do
        if ping; then return 0; fi
        [ "$waited" -lt "$start_limit_s" ] \
            || stop "dockerd ($(cat "$run/docker.pid")) runs but does not answer at $address; end it, then run: $0"
        waited=$((waited + 1))
        sleep 1
    done
    return 1
}

launch() {
    options="--host=$address --pidfile=$run/docker.pid --exec-root=$run/docker"
    # A new session with no terminal and none of our descriptors: it outlives make and keeps no pipe open.
    # shellcheck disable=SC2086  # lists of options
    setsid dockerd $options ${FINCOSMOS_DOCKERD_ARGS:-} "$@" </dev/null >"$log" 2>&1 &
    daemon=$!
    waited=0
    until ping; do
        kill -0 "$daemon" 2>/dev/null || return 1
        [ "$waited" -lt $((start_limit_s * 5)) ] || stop "dockerd did not answer at $address in $start_limit_s s; see $log"
        waited=$((waited + 1))
        sleep 0.2
    done
}

start() {
    if [ -d /run/systemd/system ] && [ -z "${DOCKER_HOST:-}" ]; then
        say "starting docker.service"
        systemctl start docker && return 0
        stop "systemctl could not start docker; look with: journalctl -u docker"
    fi
    if settle; then return 0; fi
    clear_stale
    if ! mountpoint -q /sys/fs/cgroup; then
        install cgroupfs-mount
        cgroupfs-mount
    fi
    say "starting dockerd, log in $log"
    mkdir -p "$run" "$cache"
    launch && return 0
    # Sandboxes and builds need no bridge, so an engine on a kernel without packet filter is good enough.
    grep -qi iptables "$log" || stop "dockerd ended at once: $(tail -n 1 "$log"); see $log"
    say "no usable iptables, starting dockerd without"
    launch --iptables=false --ip6tables=false || stop "dockerd ended at once: $(tail -n 1 "$log"); see $log"
}

can_mend=false
if [ "$(id -u)" = 0 ] && is_debian; then can_mend=true; fi
if ! command -v python3 >/dev/null; then
    $can_mend || stop "python3 is missing; install Python 3.11 or newer, then run: $0"
    install python3
fi
status=0
ping || status=$?

if [ "$status" = 0 ]; then
    if $can_mend; then install "$(lacking)"; fi
    exit 0
fi
case $address in unix://*) ;; *) stop "DOCKER_HOST is $address, a local engine is needed; run: unset DOCKER_HOST" ;; esac
[ "$status" != 13 ] || stop "$(id -un) may not use $socket; run: sudo usermod -aG docker $(id -un), and log in again"
is_debian || stop "no Docker engine answers at $address and this is no Debian or Ubuntu; install Docker Engine 20.10 or newer and start it"
$can_mend || stop "no Docker engine answers at $address; run: sudo $0"

mkdir -p "$cache"
exec 9>"$cache/engine.lock"
flock 9
if ping; then exit 0; fi
install "$(lacking dockerd:docker.io iptables:iptables)"
ping 9>&- || start 9>&-
say "Docker engine answers at $address"
