#!/bin/sh
# Tries the dev container feature in a root of scripts/fresh.mjs, as root: installs it, and lets an agent of the user ada ask
# the user eve, who runs hive serve. /srv/hive is a clone with its node_modules, /srv/release has the release.
set -eu

trap 'kill "$server" 2>/dev/null || true' EXIT
server=
rm -rf /tmp/feature && cp -r /srv/hive/examples/devcontainer/hive /tmp/feature
URL=http://127.0.0.1:7399 sh /tmp/feature/install.sh 2>&1 | grep 'Put the release file'
cp /srv/release/hive-sidecar-*.tgz /tmp/feature
URL=http://127.0.0.1:7399 sh /tmp/feature/install.sh

eve() { su eve -c "$1"; }
eve 'mkdir -p -m 700 ~/.config/hive && umask 077 && echo "{\"allow_scripts_to_answer\": true}" >~/.config/hive/trust.json'
secret=$(eve 'hive token list --json' | grep -q '"box"' && eve 'hive token rotate box' || eve 'hive token make box')
install -d -o ada -g ada -m 700 /home/ada/.config /home/ada/.config/hive
(umask 077 && printf '%s\n' "$secret" | grep -oE '[A-Za-z0-9_-]{20,}' | tail -n 1 >/home/ada/.config/hive/token)
chown ada:ada /home/ada/.config/hive/token

su eve -c 'exec hive serve --port 7399' &
server=$!
(
  until id=$(eve 'hive list --json' | grep -oE 'ask-[a-z0-9]{8,}' | head -n 1) && [ -n "$id" ]; do sleep 0.2; done
  eve "hive respond $id yes"
) &

su ada -c 'cd /srv/hive && node_modules/.bin/node --input-type=module' <<'END'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
const agent = new Client({ name: 'agent', version: '1' });
const { HOME, PATH } = process.env;
await agent.connect(new StdioClientTransport({ command: 'hive-mcp', env: { HOME, PATH } }));
const call = async (name, args) => (await agent.callTool({ name, arguments: args })).structuredContent;
const { ask_id } = await call('hivemind_ask_async', { question: 'Rebuild the image?', options: ['yes', 'no'] });
let answer;
do answer = await call('hivemind_poll', { ask_id, wait_ms: 20_000 });
while (answer.status === 'pending');
console.log(`${answer.status}: ${answer.decision}, by ${answer.by}`);
await agent.close();
process.exit(answer.decision === 'yes' ? 0 : 1);
END
