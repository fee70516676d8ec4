// The main use, real and unattended: an agent asks over MCP, a person answers in Emacs' minibuffer, and the
// agent's poll returns the answer. With --interactive you are that person.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { openEmacs } from './demo-terminal.mjs';

const root = join(import.meta.dirname, '..');
const hive = join(root, 'bin/hive');
const interactive = process.argv.includes('--interactive');
const folder = mkdtempSync(join(tmpdir(), 'hive-demo-'));

// A clean environment: an agent's variable from the shell that runs the demo would change who is asking.
const env = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  HOME: folder,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  HIVE_STORE: join(folder, 'store', 'hive.db'),
  // Otherwise a program that ends would create the removed folder again, to keep its compiled code.
  NODE_DISABLE_COMPILE_CACHE: '1',
};

const began = performance.now();
function say(who, what) {
  const seconds = ((performance.now() - began) / 1000).toFixed(2).padStart(6);
  process.stdout.write(`${seconds} s  ${who.padEnd(6)} ${what}\n`);
}

function check(truth, sentence) {
  if (!truth) throw new Error(sentence);
}

// In an early init file: Emacs loads the library of the terminal before it evaluates an option, and in a new home it would
// compile that to native code, which takes two seconds.
const emacsFolder = join(folder, '.emacs.d');
mkdirSync(emacsFolder);
writeFileSync(join(emacsFolder, 'early-init.el'), '(setq native-comp-deferred-compilation nil)\n');
writeFileSync(
  join(emacsFolder, 'init.el'),
  `(setq inhibit-startup-screen t
         hive-user-name "Ada"
         hive-sidecar-command '(${JSON.stringify(process.execPath)} ${JSON.stringify(hive)} "sidecar"))
   (add-to-list 'load-path ${JSON.stringify(join(root, 'elisp'))})
   (require 'hive-mode)
   (hive-mode 1)`,
);

const emacs = openEmacs({ folder, env, options: ['--no-site-file', '--no-site-lisp'] });
// So that closing the terminal leaves no Emacs behind.
for (const signal of ['SIGHUP', 'SIGTERM', 'SIGINT'])
  process.once(signal, async () => {
    await emacs.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    process.exit(1);
  });

const agent = new Client({ name: 'claude-code', version: 'demo' });
const call = async (name, args) => (await agent.callTool({ name, arguments: args })).structuredContent;

try {
  await emacs.shows(/\*scratch\*/);
  say('emacs', 'started, hive-mode on, its sidecar starting');
  await agent.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [hive, 'mcp'],
      // On the terminal it would overwrite the screen of Emacs.
      stderr: 'ignore',
      env: { ...env, CLAUDE_CODE_SESSION_ID: 'd3m0a9e4-demo', CLAUDE_PROJECT_DIR: root },
    }),
  );
  say('agent', 'connected to `hive mcp` over stdio');
  await deskOpened();

  const asked = await call('hivemind_ask_async', {
    question: 'Drop the old sessions table after the migration?',
    options: ['yes', 'keep it a week', 'no'],
    urgency: 'critical',
  });
  say('agent', `asked; got ${asked.ask_id}, ${asked.status}, at once, and works on`);
  await emacs.shows(/hive 1\b/);
  say('emacs', 'mode line shows "hive 1"; nothing else moved');

  if (interactive) {
    say('you', 'answer with M-x hive-respond; leave with C-x C-c');
    await emacs.attach();
  } else {
    emacs.press('M-x');
    emacs.type('hive-respond');
    emacs.press('Enter');
    await emacs.shows(/Drop the old sessions table.*\?/);
    say('human', 'M-x hive-respond, in the minibuffer:');
    emacs.type('keep it a week');
    await emacs.shows(/keep it a week/);
    emacs.press('Enter');
    await emacs.shows(/Answered/);
    say('human', 'typed "keep it a week" RET; the echo area says it is stored');
  }

  const answer = await call('hivemind_poll', { ask_id: asked.ask_id, wait_ms: 5_000 });
  const { status, decision, by, via } = answer;
  const isOpen = status === 'pending';
  const result = isOpen ? '; nobody has answered' : `, decision "${decision}", by ${by}, via ${via}`;
  say('agent', `polled: ${status}${result}`);
  if (!interactive) {
    check(
      answer.status === 'responded' && answer.decision === 'keep it a week',
      `The poll returned ${JSON.stringify(answer)}`,
    );
    check(answer.via === 'emacs' && answer.by === 'Ada', `The answer names ${answer.by} via ${answer.via}`);
    say('demo', 'the question went out, the answer came back, both are on disk');
  }
} catch (error) {
  process.exitCode = 1;
  process.stdout.write(`demo failed: ${error instanceof Error ? error.message : error}\n`);
} finally {
  await agent.close();
  await emacs.close();
  // The sidecar ends after its Emacs and writes to its store until then.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

async function deskOpened() {
  for (const deadline = Date.now() + 20_000; ; ) {
    if ((await call('hivemind_status', {})).desks_online > 0) break;
    check(
      Date.now() < deadline,
      `The sidecar opened no desk within 20 s. The screen of Emacs:\n${emacs.screen()}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  say('emacs', 'its sidecar has opened a desk');
}
