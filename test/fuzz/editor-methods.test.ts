/**
 * Reports of an Emacs about the agents of other packages: sessions, turns and dialogs, in any order and with any mistake in
 * them. Each request gets one reply, an error says what is wrong, and the dialog of another agent is not lost by it.
 *
 * @module-tag untrusted
 * @module-tag one-winner
 * @module-tag emacs
 */
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { serveEmacs } from '../../src/adapters/emacs/connection.ts';
import { RPC_CODES } from '../../src/adapters/errors.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { answerDialog } from '../support/dialogs.ts';
import { INITIALIZE } from '../support/sidecar.ts';
import { eventually } from '../support/wait.ts';
import { fuzz } from './fuzz.ts';
import { anyJson, changed, type Json, oddText } from './inputs.ts';
import { inWorld, type World } from './world.ts';

type Step = { method: string; params: Json };
// biome-ignore lint/suspicious/noExplicitAny: frames as they come over the wire
type Frame = any;

// ---- Requests ----

const session_id = fc.constantFrom('editor-a', 'editor-b');
const key = fc.constantFrom('k1', 'k2', 'k3');
const introduced = (id: string): Step => ({
  method: 'session/introduce',
  params: { session_id: id, client: 'Gemini', directory: '/demo' },
});
const OPTIONS = [
  { id: 'once', label: 'Allow', refuses: false, once: true },
  { id: 'no', label: 'Reject', refuses: true, once: true },
];
const permission = {
  kind: 'execute',
  input: { command: 'make' },
  header: 'Build',
  changes: [{ path: '/demo/a', before: 'one', after: 'two' }],
  rest: { cwd: '/demo/b' },
  options: OPTIONS,
  takes_notes: true,
};
const form = {
  message: 'How?',
  schema: {
    type: 'object',
    required: ['how'],
    properties: {
      how: { type: 'string', oneOf: [{ const: 'x', title: 'Safe' }] },
      often: { type: 'array', items: { enum: ['a', 'b'] } },
      count: { type: 'integer' },
    },
  },
};

/** Requests as this Emacs sends them, by method. */
const GOOD: Readonly<Record<string, fc.Arbitrary<Json>>> = {
  'session/introduce': fc.record({
    session_id,
    client: fc.constant('Gemini'),
    directory: fc.constant('/demo'),
    client_session_id: fc.constantFrom(null, 'c1', 'editor-kept'),
    pid: fc.constantFrom(null, 1, process.pid),
  }),
  'session/end': fc.record({ session_id }),
  'turn/begin': fc.record({ session_id, client_turn_id: fc.constantFrom(null, 't1', 't2') }),
  'turn/end': fc.record({ session_id, stop_reason: fc.constantFrom(null, 'cancelled', 'end_turn') }),
  'dialog/open': fc.oneof(
    fc.record({ session_id, key }).map((which): Json => ({ ...which, ...permission })),
    fc.record({ session_id, key }).map((which): Json => ({ ...which, form })),
  ),
  'dialog/close': fc.record({
    key,
    reason: fc.constantFrom('answered_elsewhere', 'withdrawn', 'interrupted'),
    decision: fc.constantFrom(null, 'Allow'),
  }),
  'dialog/handed': fc.record({ key }),
};

const step: fc.Arbitrary<Step> = fc.constantFrom(...Object.entries(GOOD)).chain(([method, params]) =>
  fc.record({
    method: fc.constant(method),
    params: fc.oneof(
      { weight: 4, arbitrary: params },
      { weight: 4, arbitrary: changed(params) },
      // A text in the place of another one.
      { weight: 2, arbitrary: fc.tuple(params, oddText).map(([good, text]) => withText(good, text)) },
      { weight: 1, arbitrary: anyJson },
    ),
  }),
);

function withText(value: Json, text: string): Json {
  return JSON.parse(JSON.stringify(value), (_, item) => (typeof item === 'string' ? text : item));
}

// ---- The connection ----

interface Emacs {
  frames: Frame[];
  send(id: string, step: Step): void;
  /** The reply to the request with this id. */
  reply(id: string): Promise<Frame>;
  close(): Promise<void>;
}

const extensions = await emacsExtensions();

function connect({ hive }: World): Emacs {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const here = { seat: 'ada@test', human: 'ada', pid: process.pid, check: async () => undefined };
  const options = { ...here, input, output, stop: stop.signal, extensions };
  const served = serveEmacs(hive, { ...options, ending: () => undefined });
  const frames: Frame[] = [];
  let rest = Buffer.alloc(0);
  output.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const header = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1'));
      if (header === null) return;
      const end = header[0].length + Number(header[1]);
      if (rest.length < end) return;
      frames.push(JSON.parse(rest.subarray(header[0].length, end).toString()));
      rest = rest.subarray(end);
    }
  });
  return {
    frames,
    send(id, { method, params }) {
      const text = JSON.stringify({ jsonrpc: '2.0', id, method, params }).toWellFormed();
      input.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    },
    async reply(id) {
      await eventually(() => frames.some((frame) => frame.id === id));
      return frames.find((frame) => frame.id === id);
    },
    async close() {
      stop.abort();
      await served;
    },
  };
}

const KEPT: Step = {
  method: 'dialog/open',
  params: { session_id: 'editor-kept', key: 'kept', ...permission },
};

fuzz('editor methods: one reply each, clear errors, and nothing of another agent is lost', 40, () =>
  fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 16 }), (steps) =>
    inWorld(async (world) => {
      const emacs = connect(world);
      try {
        emacs.send('hello', { method: 'initialize', params: INITIALIZE as unknown as Json });
        for (const id of ['editor-kept', 'editor-a', 'editor-b']) emacs.send(id, introduced(id));
        emacs.send('kept', KEPT);
        for (const [n, one] of steps.entries()) emacs.send(`step ${n}`, one);
        emacs.send('again', KEPT);
        const [kept, again] = [await emacs.reply('kept'), await emacs.reply('again')];
        for (const [n, { method }] of steps.entries()) checkReply(await emacs.reply(`step ${n}`), method);
        const ids = emacs.frames.flatMap(({ id }) => id ?? []);
        if (ids.length !== new Set(ids).size) throw new Error(`Two replies: ${ids.join(', ')}`);
        const [prompt] = again.result.prompts;
        if (prompt?.ask_id !== kept.result.prompts[0].ask_id || prompt.status !== 'pending')
          throw new Error(`Lost: ${JSON.stringify(again)}`);

        await answerDialog(world.hive, prompt.ask_id, 'Reject');
        const answers = (): Frame[] =>
          emacs.frames.filter(({ method, params }) => method === 'dialog/answered' && params.key === 'kept');
        await eventually(() => answers().length > 0);
        emacs.send('handed', { method: 'dialog/handed', params: { key: 'kept' } });
        await emacs.reply('handed');
        if (answers().length !== 1 || answers()[0].params.answer.option_id !== 'no')
          throw new Error(`Answered: ${JSON.stringify(answers())}`);
      } finally {
        await emacs.close();
      }
      // The dialogs that this Emacs has opened fall with it.
      const left = (await world.hive.prompts.list({ status: 'pending', limit: 50 })).items;
      if (left.length > 0) throw new Error(`Left: ${JSON.stringify(left)}`);
      if (world.log.lines.some((line) => line.includes('A request from Emacs failed')))
        throw new Error(`A fault of ours: ${world.log.lines.join('\n')}`);
    }),
  ),
);

/** A result, or an error of ours that says what is wrong. */
function checkReply({ error, result }: Frame, method: string): void {
  if (error === undefined && result !== undefined) return;
  const isClear =
    /^[a-z_]+: \S.{9}/.test(error?.message ?? '') &&
    error.message.length < 2_000 &&
    error.code !== RPC_CODES.internal;
  if (!isClear) throw new Error(`${method}: ${JSON.stringify(error)}`);
}
