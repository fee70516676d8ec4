/**
 * Hooks: the call of a hook at the server that the client is connected to, and `hive hook`, which starts for each event
 * where no connection can be used.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEvent } from '../../src/adapters/hooks/hook.ts';
import { dialogFingerprint, dialogOf, promptsOf } from '../../src/domain/dialogs.ts';
import { excessOf } from '../../src/domain/json.ts';
import { humanAuthor } from '../../src/domain/messages.ts';
import { permissionDigest } from '../../src/domain/permissions.ts';
import { checkRequest } from '../../src/domain/prompts.ts';
import { seatKeyFrom } from '../../src/domain/seats.ts';
import { openHive } from '../../src/open-hive.ts';
import { introduction } from '../../test/support/introduction.ts';
import { connectHive, environment, HIVE, storeIn, tempFolder, wallTime } from '../children.ts';
import { type Family, interleave, type Measurement, timed } from '../harness.ts';

/** As recorded from Claude Code. */
const recorded = readFileSync(join(import.meta.dirname, '../pre-tool-use.json'), 'utf8');
const event = JSON.parse(recorded) as { session_id: string; cwd: string };
const busy = { ...event, session_id: '5e551000-0000-4000-8000-000000000002' };
const MENTIONS = 100;
/** The event that the client sends when it is about to ask its person; `npm test` is allowed by a rule, `npm install` is not. */
const permission = (command: string): string =>
  JSON.stringify({ ...event, hook_event_name: 'PermissionRequest', tool_input: { command } });
const SEAT_SECRET = '5e'.repeat(32);

const PROMPT_ROW = 'prompt of a call with 1 MB of any text';

export const hook: Family = {
  name: 'hook',
  rows: [
    'hook call at the server',
    PROMPT_ROW,
    'hive hook, nothing to say',
    `hive hook, ${MENTIONS} mentions`,
    'hive hook, a permission that a rule allows',
    'hive hook, a permission that is allowed at a desk',
  ],
  async measure(effort) {
    const folder = tempFolder();
    const env = environment(folder, { XDG_CONFIG_HOME: trusting(folder) });
    await mention(folder);
    // The question is shown only where a desk is open.
    const apart = tempFolder();
    const asking = environment(apart, { XDG_CONFIG_HOME: trusting(apart) });
    const desk = await openDesk(apart);
    const run = (given: unknown): Promise<number> => wallTime([HIVE, 'hook'], env, JSON.stringify(given));
    const samples = await interleave(effort === 'full' ? 60 : 12, {
      node: () => wallTime(['-e', '0'], env, recorded),
      quiet: () => run(event),
      busy: () => run(busy),
      ruled: () => wallTime([HIVE, 'hook'], env, permission('npm test src')),
      asked: () => desk.allow(wallTime([HIVE, 'hook'], asking, permission('npm install'))),
    });
    await desk.close();
    return [
      ...(await callsAtServer(effort === 'full' ? 1_000 : 200)),
      promptOfMegabyte(effort === 'full' ? 20 : 4),
      {
        name: 'hive hook, nothing to say',
        unit: 'ms',
        samples: samples.quiet,
        floor: samples.node,
        target: { of: 'ratio', at_most: 1.6 },
      },
      {
        name: `hive hook, ${MENTIONS} mentions`,
        unit: 'ms',
        samples: samples.busy,
        floor: samples.node,
        target: { of: 'ratio', at_most: 1.6 },
      },
      {
        name: 'hive hook, a permission that a rule allows',
        unit: 'ms',
        samples: samples.ruled,
        floor: samples.node,
        target: { of: 'ratio', at_most: 1.8 },
      },
      {
        name: 'hive hook, a permission that is allowed at a desk',
        unit: 'ms',
        samples: samples.asked,
        floor: samples.node,
        target: { of: 'ratio', at_most: 2.5 },
      },
    ];
  },
};

/** A tool is called and has returned, again and again, in one session: call → result of each of the two hooks. */
async function callsAtServer(tools: number): Promise<Measurement[]> {
  const server = await connectHive(tempFolder(), { CLAUDE_CODE_ENTRYPOINT: 'cli' });
  const { tool_name, tool_input, session_id, cwd, transcript_path, prompt_id } = JSON.parse(recorded);
  const fields = { tool_name, tool_input: JSON.stringify(tool_input), agent_id: '' };
  const common = { client: 'claude-code', protocol: '1', session_id, cwd, transcript_path, prompt_id };
  const fire = (hook_event_name: string, more: Record<string, unknown>): Promise<number> =>
    timed(() => server.call('hook_event', { ...common, hook_event_name, ...more }));
  await fire('UserPromptSubmit', { prompt: 'go' });
  const samples: number[] = [];
  for (let n = 0; n < tools; n++) {
    const tool_use_id = `toolu_${n}`;
    samples.push(await fire('PreToolUse', { ...fields, tool_use_id }));
    samples.push(await fire('PostToolUse', { ...fields, tool_use_id, tool_response: recorded }));
  }
  await server.close();
  const row = { unit: 'ms', samples, floor: null };
  return [
    { ...row, name: 'hook call at the server', target: { of: 'p50', at_most: 2 } },
    { ...row, name: 'hook call at the server, p99', target: { of: 'p99', at_most: 10 } },
  ];
}

/** A folder for the configuration, in which the human allows `npm test`, and trusts the seat of the bench. */
function trusting(folder: string): string {
  mkdirSync(join(folder, 'config/hive'), { recursive: true, mode: 0o700 });
  const content = {
    permission_rules: [{ decision: 'allow', tool: 'Bash', input: 'npm test*' }],
    seats: [{ name: 'ada@bench', key: seatKeyFrom(SEAT_SECRET).key }],
  };
  writeFileSync(join(folder, 'config/hive/trust.json'), JSON.stringify(content), { mode: 0o600 });
  return join(folder, 'config');
}

const LOOK_MS = 2;

/** A desk at which somebody allows every request at once. */
async function openDesk(
  folder: string,
): Promise<{ allow(hook: Promise<number>): Promise<number>; close(): Promise<void> }> {
  const hive = await openHive({ store: storeIn(folder), env: {} });
  hive.seats.useKey(SEAT_SECRET);
  const desk = await hive.desks.open({ seat: 'ada@bench', pid: process.pid, client: 'bench' });
  return {
    async allow(hook) {
      for (;;) {
        const [prompt] = (await hive.prompts.list({ status: 'pending', limit: 1 })).items;
        if (prompt !== undefined) {
          await hive.prompts.respond({
            ask_id: prompt.ask_id,
            decision: 'Allow',
            actor: { kind: 'human', by: 'ada', via: 'emacs', confirmed: true },
            displayed_digest: permissionDigest(prompt),
          });
          return hook;
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    async close() {
      await desk.close();
      await hive.close();
    },
  };
}

/** The human mentions the busy session a hundred times. */
async function mention(folder: string): Promise<void> {
  const hive = await openHive({ store: storeIn(folder), env: {} });
  const session = await hive.sessions.introduce(
    introduction({
      session_id: busy.session_id,
      project: 'project',
      project_dir: event.cwd,
      machine: 'bench',
    }),
  );
  for (let count = 1; count <= MENTIONS; count++) {
    await hive.messages.post({
      body: `@${session.handle} look at number ${count} before you go on.`,
      author: humanAuthor('emacs', { project: 'project', project_dir: event.cwd }),
    });
  }
  await hive.close();
}

/** Letters of other scripts, hidden characters, marks, blanks, quotes, lines: each fills a megabyte. */
const UNITS = [
  'npm test; ',
  '\u0430',
  '\u0430a',
  '\u1161',
  '\u6f22',
  'a\u0301',
  '\u200b',
  '\u00a0',
  '"',
  '\n',
  '\uff41',
];

/** Reads a permission of each kind of tool whose text is a megabyte, and makes its prompt: in processor time, the slowest text counts. */
function promptOfMegabyte(rounds: number): Measurement {
  const calls = UNITS.flatMap((unit) => {
    const text = unit.repeat(Math.floor(1e6 / Buffer.byteLength(JSON.stringify(unit).slice(1, -1))));
    return [
      { tool_name: 'Bash', tool_input: { command: text } },
      { tool_name: 'apply_patch', tool_input: { command: text } },
      { tool_name: 'Write', tool_input: { file_path: 'a.ts', content: text } },
      { tool_name: 'mcp__shop__buy', tool_input: { item: text } },
    ].map((call) => JSON.stringify({ ...event, hook_event_name: 'PermissionRequest', ...call }));
  });
  for (const list of [Array(9_999).fill('1.0'), Array(250_000).fill('1.0')])
    calls.push(
      JSON.stringify({ ...event, hook_event_name: 'PermissionRequest', tool_name: 'mcp__shop__buy' }).replace(
        /}$/,
        `,"tool_input":[${list.join()}]}`,
      ),
    );
  const make = (given: string): number => {
    const before = process.cpuUsage();
    // As hive serve does.
    if (excessOf(given) === null) {
      const read = parseEvent(given, {}, 'claude-code');
      const dialog = dialogOf(read);
      if (dialog === null) throw new Error('This is no permission.');
      promptsOf(dialog, read).map(checkRequest);
      dialogFingerprint(dialog);
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  for (const call of calls) make(call);
  const medianOf = (times: number[]): number =>
    times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
  const samples = calls.map((call) => medianOf(Array.from({ length: rounds }, () => make(call))));
  return {
    name: PROMPT_ROW,
    unit: 'ms of processor time',
    samples,
    floor: null,
    target: { of: 'p99', at_most: 20 },
  };
}
