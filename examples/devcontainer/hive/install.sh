#!/bin/sh
# The dev container feature "hive": installs the release file that lies beside this script for all users of the container, and
# two commands for its agents, hive-mcp and hive-hook, which go to hive serve. Runs as root while the container is built.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
url=${URL:-http://127.0.0.1:7373}
place=/usr/local/share/hive

fail() {
  echo "hive: $1" >&2
  exit 1
}

case $url in
  *[!A-Za-z0-9:/._~%@-]* | '') fail "The address \"$url\" has characters that an address of hive serve does not have." ;;
esac
release=$(find "$here" -maxdepth 1 -name 'hive-sidecar-*.tgz' | sort | tail -n 1)
[ -n "$release" ] || fail "Put the release file hive-sidecar-VERSION.tgz into $here."
command -v npm >/dev/null || fail "Node 20 or later with npm is missing: add the feature ghcr.io/devcontainers/features/node."
insecure=
[ "${INSECURE:-false}" = true ] && insecure=' --insecure'

# A home of its own: nothing of the installation stays in that of root.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$release" -C "$work"
HOME=$work XDG_STATE_HOME=$work/state node "$work/package/bin/hive" install \
  --to "$place" --bin /usr/local/bin </dev/null
chmod -R a+rX "$place"

for name in mcp hook; do
  cat >"/usr/local/bin/hive-$name" <<END
#!/bin/sh
exec $place/bin/hive $name --url $url$insecure --token-file "\${HIVE_TOKEN_FILE:-\$HOME/.config/hive/token}" "\$@"
END
  chmod 755 "/usr/local/bin/hive-$name"
done
