/** A real desktop for one test file: X, a session bus and dunst, with a record of every popup. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { childEnvironment, type Environment } from './children.ts';
import { paddedPid } from './run-folder.ts';
import { eventually } from './wait.ts';

export interface SentPopup {
  app: string;
  title: string;
  body: string;
  /** Keys and labels in turn. */
  actions: string[];
  urgency: number;
  /** Milliseconds; -1: the server decides, 0: for ever. */
  timeout: number;
}

export interface Desktop {
  /** The variables that a child needs to reach it. */
  readonly env: Environment;
  /** The variables that a child needs to open windows on it. */
  readonly screen: Environment;
  /** Everything sent since the last `forget`, in order. */
  readonly sent: readonly SentPopup[];
  forget(): Promise<void>;
  /** How many popups are on the screen now. */
  displayed(): Promise<number>;
  /** A click on the body of the newest popup. */
  clickBody(): Promise<void>;
  /** Presses the first button whose label begins with this text. */
  press(label: string): Promise<void>;
  screenshot(file: string): Promise<void>;
  close(): Promise<void>;
}

const DUNSTRC = `[global]
    idle_threshold = 0
    notification_limit = 20
    markup = full
    font = DejaVu Sans 11
    width = 420
    dmenu = FOLDER/choose
[urgency_low]
    timeout = 60
[urgency_normal]
    timeout = 60
`;

// X first: otherwise the bus would start its own dunst without a display.
const SESSION = `dunst -conf "$1/dunstrc" >/dev/null 2>&1 & dunst=$!
dbus-monitor --session "interface='org.freedesktop.Notifications',member='Notify'" > "$1/monitor" & monitor=$!
echo "SESSION $DBUS_SESSION_BUS_ADDRESS $DISPLAY $XAUTHORITY"
cat >/dev/null
kill $dunst $monitor; wait`;

const DISPLAYED = [
  '--session',
  '--print-reply=literal',
  '--dest=org.freedesktop.Notifications',
  '/org/freedesktop/Notifications',
  'org.freedesktop.DBus.Properties.Get',
  'string:org.dunstproject.cmd0',
  'string:displayedLength',
];

/** One for all tests of a file, cleared of popups before each test; `take` gets it before the first. */
export function useDesktop(take: (desktop: Desktop) => void): void {
  let desktop: Desktop;
  beforeAll(async () => {
    desktop = await startDesktop();
    take(desktop);
  });
  afterAll(() => desktop.close());
  beforeEach(() => desktop.forget());
}

export async function startDesktop(): Promise<Desktop> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${paddedPid()}-desktop-`));
  writeFileSync(join(folder, 'dunstrc'), DUNSTRC.replace('FOLDER', folder));
  // dunst's menu: it gives the actions on stdin and takes back the line that was chosen.
  writeFileSync(join(folder, 'choose'), `#!/bin/sh\ngrep -m1 "^#$(cat ${folder}/choice)"\n`);
  chmodSync(join(folder, 'choose'), 0o755);
  // No service is started by name: each test says which daemon runs.
  const base = childEnvironment(join(folder, 'none'), { HOME: folder, XDG_DATA_DIRS: folder });
  const session = spawn('xvfb-run', ['-a', 'dbus-run-session', '--', 'sh', '-c', SESSION, 'sh', folder], {
    env: base,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [, bus = '', display = '', authority = ''] = await lineOf(session, 'SESSION');
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: bus, DISPLAY: display, XAUTHORITY: authority };
  const run = (program: string, ...args: string[]): Promise<string> => output(program, args, env);
  const owned = ['--session', '--print-reply', '--dest=org.freedesktop.DBus', '/org/freedesktop/DBus'];
  await eventually(async () =>
    (
      await run(
        'dbus-send',
        ...owned,
        'org.freedesktop.DBus.NameHasOwner',
        'string:org.freedesktop.Notifications',
      )
    ).includes('true'),
  );
  let forgotten = 0;
  const monitor = join(folder, 'monitor');
  const read = async (): Promise<SentPopup[]> => parse(await readFile(monitor, 'utf8'));
  const desktop: { sent: SentPopup[] } = { sent: [] };
  let size = 0;
  const watch = setInterval(() => {
    const now = statSync(monitor, { throwIfNoEntry: false })?.size ?? 0;
    if (now === size) return;
    size = now;
    read().then(
      (all) => {
        desktop.sent = all.slice(forgotten);
      },
      () => undefined,
    );
  }, 40);

  return {
    env: { DBUS_SESSION_BUS_ADDRESS: bus },
    screen: { DISPLAY: display, XAUTHORITY: authority },
    get sent() {
      return desktop.sent;
    },
    async forget() {
      await run('dunstctl', 'close-all');
      forgotten = (await read()).length;
      desktop.sent = [];
    },
    // The question of `dunstctl count displayed`: that script would be run many times a second.
    displayed: async () => Number((await run('dbus-send', ...DISPLAYED)).trim().split(/\s+/).at(-1)),
    clickBody: async () => void (await run('dunstctl', 'action', '0')),
    async press(label) {
      writeFileSync(join(folder, 'choice'), label);
      await run('dunstctl', 'context');
    },
    screenshot: async (file) => void (await run('import', '-window', 'root', file)),
    async close() {
      clearInterval(watch);
      const ended = new Promise((resolve) => session.once('close', resolve));
      session.stdin?.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A session bus on which nobody shows notifications. */
export async function startBareBus(): Promise<{ env: Environment; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), `hive-test-${paddedPid()}-bus-`));
  const base = childEnvironment(join(folder, 'none'), { HOME: folder, XDG_DATA_DIRS: folder });
  const script = 'echo "SESSION $DBUS_SESSION_BUS_ADDRESS"; cat >/dev/null';
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env: base,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const [, bus = ''] = await lineOf(session, 'SESSION');
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: bus },
    async close() {
      const ended = new Promise((resolve) => session.once('close', resolve));
      session.stdin?.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function lineOf(child: ChildProcess, first: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let said = '';
    child.once('error', reject);
    child.once('close', () => reject(new Error(`The desktop did not start: ${said}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const line = said.split('\n').find((candidate) => candidate.startsWith(`${first} `));
      if (line !== undefined && said.endsWith('\n')) resolve(line.split(' '));
    });
  });
}

function output(program: string, args: readonly string[], env: Environment): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.once('error', reject);
    child.once('close', () => resolve(said));
  });
}

/** Notify(app, replaces, icon, summary, body, actions, hints, timeout) as dbus-monitor prints it. */
function parse(monitored: string): SentPopup[] {
  return monitored
    .split(/^(?=method call |signal |method return |error )/m)
    .filter((block) => block.startsWith('method call') && /^ {3}int32 -?\d+$/m.test(block))
    .map((block) => {
      const [app = '', , title = '', body = ''] = strings(block, /^ {3}string "([\s\S]*?)"$/gm);
      const actions = strings(block.slice(0, block.indexOf('dict entry')), /^ {6}string "([\s\S]*?)"$/gm);
      const urgency = Number(/string "urgency"\s+variant\s+byte (\d)/.exec(block)?.[1] ?? -1);
      const timeout = Number(/^ {3}int32 (-?\d+)$/m.exec(block)?.[1]);
      return { app, title, body, actions, urgency, timeout };
    });
}

function strings(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, string]) => string ?? '');
}
