// The first day of a new user: from a clone to the first answered question of a real Claude Code, with real keys in
// terminals and only what the installer says. The home contains only what a person who uses Claude Code already
// has; the model is scripted. Prints the commands, questions and keys that it took, and the time. Fails if it took
// more than five commands and four questions, if `y` did not answer each, or if more than one key answered the agent.
//
// Plain JavaScript for any Node ≥ 20, which is what the new user has; needs git, Emacs and tmux, and Claude Code and Codex where
// test/clients keeps them (HIVE_CLIENTS_CACHE).
//   node scripts/first-question.mjs [--json]
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { openEmacs, openTerminal } from './demo-terminal.mjs';

const AT_MOST = { commands: 5, questions: 4, keys: 1, seconds: 90 };
const PATIENT_S = 300;
const root = join(import.meta.dirname, '..');

const home = mkdtempSync(join(tmpdir(), 'hive-first-'));
const project = join(home, 'shop');
const inProject = (folder) => folder.endsWith(join('node_modules', '.bin'));
const env = {
  // Only the npm registry and the trusted certificates are taken from the machine.
  ...pick(/^npm_config_(?:registry|cache|userconfig)$|_proxy$|^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i),
  HOME: home,
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  SHELL: '/bin/bash',
  PS1: '$ ',
  TMPDIR: tmpdir(),
  PATH: [
    join(home, 'programs'),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => !inProject(folder)),
  ].join(delimiter),
};

const commands = [];
const questions = [];
const keys = [];
const rows = [];
const terminals = [];
let model;

try {
  prepare();
  const shell = terminal('shell', openTerminal, {
    name: 'The shell',
    command: ['/bin/sh', '-i'],
    cwd: home,
    columns: 200,
  });
  const said = await step('from the clone to the last line of the installer', () => install(shell));
  // The last sentence contains everything else.
  const [, agent, sentence, prefix] =
    /start (\w+) in a project, type "([^"]+)", and press (.+) n in Emacs to answer it/.exec(said) ?? [];
  if (agent !== 'claude') throw new Error(`The installer did not end with what to try:\n${said}`);
  const emacs = await step('Emacs starts', async () => {
    commands.push('emacs');
    const opened = terminal('emacs', openEmacs, { cwd: home });
    await opened.shows(/\*scratch\*|GNU Emacs/, PATIENT_S);
    return opened;
  });
  await step('Claude Code starts, asks, and its question is shown', async () => {
    model = await startModel();
    commands.push('claude');
    const claude = terminal('claude', openTerminal, {
      name: 'Claude Code',
      command: ['claude'],
      cwd: project,
      env: { ...env, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'fake' },
      columns: 120,
      rows: 40,
    });
    await claude.shows(/❯/, PATIENT_S);
    claude.type(sentence);
    // While it starts, a key that arrives together with the text would be part of the text.
    await claude.shows(new RegExp(sentence), PATIENT_S);
    claude.press('Enter');
    // No dialog had to be answered for that, in Claude Code or in Emacs.
    await emacs.shows(/hive 1(?![‖\d])/, PATIENT_S);
  });
  await step('one key answers it', async () => {
    for (const key of [...prefix.split(' '), 'n']) emacs.press(key);
    await emacs.shows(/Which colour do you like\?[\s\S]*1.*Blue/, PATIENT_S);
    // A key counts only after its question has been on the screen for a moment.
    for (let asked = Date.now(); answers() === 0; ) {
      if (Date.now() - asked > PATIENT_S * 1_000) throw new Error(`No answer is stored.\n${emacs.screen()}`);
      if (/1.*Blue/.test(emacs.screen())) {
        await moment(1_000);
        keys.push('1');
        emacs.press('1');
      }
      await moment(500);
    }
  });
  await step('the agent has the answer', () => model.told(/decision[^a-zA-Z]{1,10}Blue/));
  report();
} catch (error) {
  process.exitCode = 1;
  console.error(error.message);
  for (const each of terminals) console.error(`\n${each.screen()}`);
} finally {
  for (const each of terminals) each.close();
  model?.close();
  await removeHome();
}

/** The programs of the closed terminals may still write their last lines. */
async function removeHome() {
  for (let tries = 0; ; tries += 1) {
    try {
      rmSync(home, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await moment(100);
    }
  }
}

/** Prepares what the person has before they install Hive: a project, and agents that they have used. */
function prepare() {
  for (const name of ['programs', 'shop']) mkdirSync(join(home, name));
  const modules = join(
    process.env.HIVE_CLIENTS_CACHE ?? join(homedir(), '.cache/hive-clients'),
    'node_modules',
  );
  const claude = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`;
  const programs = { claude: join(modules, claude), codex: join(modules, '.bin/codex') };
  for (const [name, path] of Object.entries(programs)) {
    if (!existsSync(path)) throw new Error(`There is no ${path}. npm run test:clients installs it.`);
    symlinkSync(path, join(home, 'programs', name));
  }
  const used = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['fake'], rejected: [] },
      projects: { [project]: used },
    }),
  );
}

/** Types what the README says, and answers each question with y. Returns the screen when the installer has ended. */
async function install(shell) {
  await shell.shows(/^\$/m);
  for (const line of [`git clone --quiet ${root} hive`, 'cd hive', 'npm run install-hive']) {
    commands.push(line);
    shell.type(line);
    // Until the command is echoed, the screen still shows the previous prompt.
    await shell.shows(new RegExp(`^\\$ ${line.slice(0, 15)}`, 'm'));
    shell.press('Enter');
    for (;;) {
      await shell.shows(/(?:\n\$|\[Y\/n[^\]]*\])\s*$/, PATIENT_S);
      const screen = shell.screen().trimEnd();
      if (screen.endsWith('$')) break;
      questions.push(screen.split('\n\n').at(-1).replaceAll('\n', ' '));
      shell.type('y');
      shell.press('Enter');
      await shell.shows(/\] y/);
    }
  }
  return shell.screen().replace(/\s+/g, ' ');
}

function terminal(name, open, { env: own = env, ...options }) {
  const folder = join(home, `terminal-${name}`);
  mkdirSync(folder);
  const opened = open({ folder, env: own, ...options });
  terminals.push(opened);
  return opened;
}

/** How many questions are answered, according to the installed program. */
function answers() {
  const args = ['list', '--status', 'responded', '--json'];
  const { stdout } = spawnSync(join(home, '.local/bin/hive'), args, { cwd: project, env, encoding: 'utf8' });
  return JSON.parse(stdout).prompts.length;
}

// ---- The model ----
// The scripted model of the client tests, on the Node that runs the installed Hive.

async function startModel() {
  const from = (name) => JSON.stringify(join(root, 'test/clients/support', name));
  const program = `
    import { hive, MESSAGES_API } from ${from('messages-api.ts')};
    import { serveModel } from ${from('model-server.ts')};
    const ask = hive('hivemind_ask_async', {
      question: 'Which colour do you like?',
      options: ['Blue', 'Green'],
    });
    // The model does what Hive tells it: it asks, continues, and fetches the answer when one is waiting.
    const server = await serveModel(MESSAGES_API, ({ messages }, step) => {
      const told = JSON.stringify(messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1));
      console.log(told);
      if (step === 1) return { calls: [ask] };
      const ask_id = /call hivemind_poll [^}]*?(ask-[a-z0-9]+)/.exec(told)?.[1];
      return ask_id === undefined ? { text: 'I go on.' } : { calls: [hive('hivemind_poll', { ask_id })] };
    });
    console.log(server.url);`;
  const node = join(home, '.local/share/hive/current/bin/node');
  const child = spawn(node, ['--no-warnings', '--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    told += text;
  });
  const shows = async (pattern) => {
    for (const deadline = Date.now() + PATIENT_S * 1_000; !pattern.test(told); await moment(100)) {
      if (Date.now() > deadline) throw new Error(`The model was not told ${pattern}:\n${told.slice(-4_000)}`);
    }
    return pattern.exec(told)?.[0];
  };
  return {
    url: await shows(/http:\/\/127\.0\.0\.1:\d+/),
    told: shows,
    close: () => child.kill(),
  };
}

// ---- The result ----

async function step(what, work) {
  const began = performance.now();
  const result = await work();
  rows.push({ what, seconds: (performance.now() - began) / 1_000 });
  return result;
}

function report() {
  const seconds = rows.reduce((sum, row) => sum + row.seconds, 0);
  const took = { commands: commands.length, questions: questions.length, keys: keys.length };
  const tooMany = Object.keys(took).filter((name) => took[name] > AT_MOST[name]);
  if (tooMany.length > 0) process.exitCode = 1;
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ commands, questions, keys, rows, seconds, at_most: AT_MOST }));
    return;
  }
  const list = (title, all) => {
    console.log(`${title} (${all.length}, at most ${AT_MOST[title]}):`);
    for (const each of all) console.log(`  ${each}`);
  };
  list('commands', commands);
  list(
    'questions',
    questions.map((question) => `${question}  → y`),
  );
  list('keys', keys);
  for (const row of rows) console.log(`${row.seconds.toFixed(1).padStart(6)} s  ${row.what}`);
  console.log(
    `${seconds.toFixed(1).padStart(6)} s  in all (at most ${AT_MOST.seconds} s on a machine that is not busy)`,
  );
}

function moment(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function pick(pattern) {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => pattern.test(name)));
}
