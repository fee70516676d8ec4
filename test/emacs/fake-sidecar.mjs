/**
 * A sidecar without a store, for the tests of the Emacs side: it speaks the same wire, and does what a test
 * tells it to do through requests of its own, `fake/…`. What it must remember after it has ended is in
 * the file FAKE_STATE. It is a program, or one of many in the host of a run (host.mjs).
 */
import { appendFileSync, readFileSync } from 'node:fs';

const now = () => new Date().toISOString();

const RANKS = { critical: 0, normal: 1, low: 2 };
/** As the real sidecar: the place of a prompt among the pending ones. */
function ordered(prompt) {
  const { ask_id, blocked_since, urgency, expires_at, created_at } = prompt;
  const order_key = `${blocked_since ? 0 : 1}${RANKS[urgency]} ${expires_at ?? '9'} ${created_at} ${ask_id}`;
  return { ...prompt, order_key };
}

let started = 0;

/** Starts one; `end` ends it with a status. */
export function startFake({ env, input, output, end }) {
  started += 1;
  const number = started;
  let hasEnded = false;
  const exit = (status) => {
    hasEnded = true;
    end(status);
  };
  const stateFile = env.FAKE_STATE;
  const storeId = env.FAKE_STORE_ID ?? 'store-1';
  const prompts = new Map();
  const answers = new Map();
  /** method → the errors its next requests get, or 'silence' */
  const planned = new Map();

  function remember(entry) {
    if (stateFile) appendFileSync(stateFile, `${JSON.stringify(entry)}\n`);
  }

  if (stateFile) {
    try {
      for (const line of readFileSync(stateFile, 'utf8').split('\n').filter(Boolean)) {
        const { prompt, answer, amendment } = JSON.parse(line);
        if (amendment) answers.set(amendment.response_id, amendment);
        if (prompt) prompts.set(prompt.ask_id, prompt);
        if (answer) {
          answers.set(answer.response_id, answer);
          const answered = prompts.get(answer.ask_id);
          if (answered) Object.assign(answered, { status: 'responded' });
        }
      }
    } catch {}
  }

  function write(message) {
    if (hasEnded) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    output.write(`Content-Length: ${body.length}\r\n\r\n`);
    output.write(body);
  }
  const tell = (method, params) => write({ method, params });

  let made = 0;
  function makePrompt(fields) {
    made += 1;
    return ordered({
      ask_id: `ask-${process.pid}-${number}-${made}`,
      session_id: 's',
      agent: 'Claude-abc12',
      source: 'main',
      project: 'demo',
      project_dir: '/demo',
      turn_id: null,
      kind: 'question',
      header: null,
      question: 'Which?',
      context: null,
      options: [],
      multi_select: false,
      allow_free_text: true,
      urgency: 'normal',
      created_at: now(),
      expires_at: null,
      status: 'pending',
      decision: null,
      selected: [],
      comment: null,
      by: null,
      seen_at: null,
      blocked_since: null,
      ...(fields?.kind === 'permission' && { digest: `digest-${made}`, dialog: true }),
      ...fields,
    });
  }

  function ask(fields) {
    const prompt = makePrompt(fields);
    prompts.set(prompt.ask_id, prompt);
    remember({ prompt });
    tell('hivemind-ask', prompt);
    return prompt;
  }

  /** The methods that claimed a prompt or let it go, in order. */
  const claims = [];

  const methods = {
    initialize: () => ({
      server: { name: 'fake', version: '0' },
      protocol_version: Number(env.FAKE_PROTOCOL ?? 1),
      desk_id: 'desk',
      store_id: storeId,
      head_seq: 0,
    }),
    'prompt/list': ({ status = 'pending', agent, query, limit = 200, cursor }) => {
      const waiting = [...prompts.values()].filter(
        (p) =>
          (status === 'late' ? p.late_response : p.status === status) &&
          (!agent || p.agent === agent) &&
          (!query || p.question.includes(query)),
      );
      const from = Number(cursor ?? 0);
      const next = from + limit < waiting.length ? String(from + limit) : null;
      return { prompts: waiting.slice(from, from + limit), next_cursor: next, total: waiting.length };
    },
    'desk/preferences': () => ({ preferences: {} }),
    'notice/list': () => ({ notices: [], next_cursor: null }),
    'prompt/get': ({ ask_id }) => ({ prompt: prompts.get(ask_id), events: [] }),
    'prompt/seen': ({ ask_id }) => {
      remember({ seen: ask_id });
      return {};
    },
    'prompt/claim': ({ by }) => {
      claims.push('prompt/claim');
      return { accepted: true, claimed_by: by, claimed_at: now() };
    },
    'prompt/release': () => {
      claims.push('prompt/release');
      return { released: true, claimed_by: null, claimed_at: null };
    },
    'fake/claims': () => ({ claims }),
    'prompt/snooze': ({ ask_id, until }) => {
      const prompt = { ...prompts.get(ask_id), snoozed_until: until };
      prompts.set(ask_id, prompt);
      remember({ snoozed: { ask_id, until } });
      tell('prompt/changed', prompt);
      return { prompt };
    },
    'prompt/cancel': ({ ask_id, by }) => {
      const prompt = prompts.get(ask_id);
      const accepted = prompt.status === 'pending';
      if (accepted) Object.assign(prompt, { status: 'cancelled', by });
      tell('prompt/changed', prompt);
      return { accepted, prompt };
    },
    'hivemind-response': (params) => {
      const prompt = prompts.get(params.ask_id);
      if (!prompt)
        throw { code: -32002, message: `prompt_not_found: There is no question ${params.ask_id}.` };
      if (!answers.has(params.response_id)) {
        answers.set(params.response_id, params);
        remember({ answer: params });
        if (prompt.status === 'pending') {
          Object.assign(prompt, {
            status: 'responded',
            decision: params.decision,
            by: params.by,
            response_id: params.response_id,
          });
          tell('prompt/changed', prompt);
        }
      }
      const accepted = prompt.response_id === params.response_id;
      return {
        accepted,
        status: prompt.status,
        late: prompt.status !== 'responded',
        ask_id: prompt.ask_id,
        agent: prompt.agent,
        decision: prompt.decision,
        by: prompt.by,
        via: 'emacs',
        responded_at: now(),
      };
    },
    'prompt/amend': (params) => {
      const prompt = prompts.get(params.ask_id);
      if (prompt.handed_at)
        throw { code: -32002, message: 'prompt_not_amendable: It was handed to its agent.' };
      if (!answers.has(params.response_id)) {
        answers.set(params.response_id, params);
        remember({ amendment: params });
        const { selected, decision, comment = null } = params;
        const standing = prompt.status === 'responded' ? prompt : prompt.late_response;
        Object.assign(standing, { decision: selected?.join(', ') ?? decision, comment });
        tell('prompt/changed', prompt);
      }
      return { accepted: true, prompt };
    },
    'doctor/run': () => ({
      checks: [{ name: 'Fake', state: 'broken', text: 'it is a fake', advice: 'use the real one' }],
    }),
    shutdown: () => null,
    'fake/ask': (fields) => ask(fields),
    'fake/burst': ({ count, size = 0, method = 'hivemind-ask' }) => {
      for (let i = 0; i < count; i += 1) {
        if (method === 'hivemind-ask') ask({ question: `Question ${i} ${'x'.repeat(size)}` });
        else tell(method, { i, text: 'x'.repeat(size) });
      }
      return { count };
    },
    'fake/change': (fields) => {
      const prompt = Object.assign(prompts.get(fields.ask_id), fields);
      Object.assign(prompt, ordered(prompt));
      tell('prompt/changed', prompt);
      return prompt;
    },
    'fake/tell': ({ method, params }) => tell(method, params),
    /** A file of JSON lines, each {method, params}: also what Emacs itself could not read. */
    'fake/tell_file': ({ file }) => {
      for (const line of readFileSync(file, 'utf8').split('\n')) tell(...Object.values(JSON.parse(line)));
      return {};
    },
    'fake/result': ({ method, result }) => {
      methods[method] = (params) => {
        remember({ called: { method, params } });
        return result;
      };
    },
    'fake/plan': ({ method, outcomes }) => planned.set(method, [...outcomes]) && null,
    'fake/echo': (params) => params,
    'fake/bytes': ({ text }) => void output.write(text),
    'fake/environment': () => env,
    'fake/die': ({ status }) => exit(status),
  };

  function receive({ id, method, params }) {
    if (method === 'exit') return exit(0);
    if (id === undefined) return;
    const outcome = planned.get(method)?.shift();
    if (outcome === 'silence') return;
    if (outcome === 'die') return exit(1);
    if (outcome) {
      write({ id, error: outcome });
      return;
    }
    try {
      if (!methods[method]) throw { code: -32601, message: `Unhandled method ${method}` };
      write({ id, result: methods[method](params ?? {}) ?? null });
    } catch (error) {
      write({ id, error: { code: error.code ?? -32603, message: String(error.message) } });
    }
  }

  let unread = Buffer.alloc(0);
  input.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    while (!hasEnded) {
      const header = /^Content-Length: (\d+)\r\n\r\n/.exec(unread.subarray(0, 60).toString('latin1'));
      if (!header) return;
      const length = header[0].length + Number(header[1]);
      if (unread.length < length) return;
      const message = JSON.parse(unread.subarray(header[0].length, length).toString('utf8'));
      unread = unread.subarray(length);
      receive(message);
    }
  });
  input.on('end', () => exit(0));
  input.resume();
}

if (process.argv[1]?.endsWith('fake-sidecar.mjs')) {
  const { env, stdin: input, stdout: output } = process;
  startFake({ env, input, output, end: (status) => process.exit(status) });
  if (process.env.FAKE_LAST_WORDS) {
    process.stderr.write(`${process.env.FAKE_LAST_WORDS}\n`);
    process.exit(Number(process.env.FAKE_STATUS ?? 1));
  }
}
