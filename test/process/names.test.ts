/** `HIVE_AGENT` in a shell, an MCP client and a hook: the name by which people recognize an agent. */
import { describe, expect, it } from 'vitest';
import { childEnvironment, spawnHive } from '../support/children.ts';
import { shell } from '../support/cli.ts';
import { connectMcp } from '../support/mcp-client.ts';
import { tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

const NAME = { HIVE_AGENT: 'frontend-tests' };

describe('a name', () => {
  it('is the same name however a program writes its letters', async () => {
    const person = shell(tempStore());
    const asked = await person.as({ HIVE_AGENT: 'José'.normalize('NFD') }).hive('ask', 'Deploy?');
    const ask_id = asked.out.trim();
    await person.hive('respond', ask_id, 'yes');
    const polled = await person.as({ HIVE_AGENT: 'José'.normalize('NFC') }).hive('poll', '--json');
    expect(polled.json().prompts).toMatchObject([{ ask_id, agent: 'José', decision: 'yes' }]);
    expect([asked.err, polled.err].join('')).not.toContain('HIVE_AGENT');
  });

  it('names a parent however a program writes its letters', async () => {
    const person = shell(tempStore());
    await person.as({ HIVE_AGENT: 'José'.normalize('NFC') }).hive('post', 'here');
    const env = { HIVE_AGENT: 'child', HIVE_PARENT: 'José'.normalize('NFD') };
    await person.as(env).hive('post', 'here');
    const { sessions } = (await person.hive('sessions', '--json')).json();
    const [child] = sessions.filter(({ session_id }: { session_id: string }) => session_id === 'child');
    expect(child).toMatchObject({ parent_session_id: 'José'.normalize('NFC') });
  });

  it('that cannot be the handle is explained once; no agent can be called the human', async () => {
    const person = shell(tempStore());
    const odd = person.as({ HIVE_AGENT: 'my agent' });
    const first = await odd.hive('ask', 'Deploy?');
    expect(first.err).toContain('HIVE_AGENT is "my agent": the handle is my-agent');
    expect((await odd.hive('poll', first.out.trim())).err).not.toContain('HIVE_AGENT');
    const refused = await person.as({ HIVE_AGENT: 'Human' }).hive('ask', 'Deploy?');
    expect(refused).toMatchObject({ code: 2, out: '' });
    expect(refused.err).toContain('No session may be called "Human"');
  });

  it('is the handle of a Claude Code session, over MCP and in its shell; a second session is notified of its number', async () => {
    const store = tempStore();
    const claude = (id: string) => ({ ...NAME, CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: id });
    const person = shell(store);
    await person.as(claude('abc12-1')).hive('post', 'from its shell');
    const second = await person.as(claude('def34-2')).hive('post', 'me too');
    expect(second.err).toContain('another live session has that name: the handle is frontend-tests-2.');
    const { call } = await connectMcp({ store, env: claude('abc12-1') });
    expect(await call('hivemind_has_unprocessed_mentions')).toMatchObject({ you: 'frontend-tests' });
    const { messages } = (await person.hive('messages', '--json')).json();
    expect(messages.map((one: { from_handle: string }) => one.from_handle)).toEqual([
      'frontend-tests',
      'frontend-tests-2',
    ]);
  });

  it('is explained in the log of hive mcp', async () => {
    const env = childEnvironment(tempStore(), { HIVE_AGENT: 'my agent' });
    const server = spawnHive(['mcp'], env);
    const send = (message: object): void =>
      void server.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    const client = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    send({ id: 1, method: 'initialize', params: client });
    send({ method: 'notifications/initialized' });
    send({ id: 2, method: 'tools/call', params: { name: 'hivemind_sessions', arguments: {} } });
    await eventually(() =>
      server.stderr().includes('hive mcp: HIVE_AGENT is "my agent": the handle is my-agent'),
    );
    server.process.stdin.end();
    expect((await server.exited).code).toBe(0);
  });
});

describe('hive sessions set', () => {
  it('lets a person change anything, and says what changed', async () => {
    const person = shell(tempStore());
    await person.as(NAME).hive('post', 'here');
    const ada = person.as({ HIVE_USER: 'Ada' });
    const set = (...words: string[]) => ada.hive('sessions', 'set', ...words);
    const all = [
      'shared=off',
      'roles=reviewer,tester',
      'gate=remind',
      'room=text',
      'source=bg',
      'ping=off',
      'reports=always',
    ];
    const { code, out } = await set('front', ...all);
    expect({ code, out }).toEqual({ code: 0, out: `Set for frontend-tests: ${all.join(' ')}\n` });
    expect((await person.hive('sessions')).out).toMatch(/^frontend-tests .* bg +off +reviewer, tester/m);
    const session = async () => (await person.hive('sessions', '--json')).json().sessions[0];
    expect(await session()).toMatchObject({
      shared: false,
      roles: ['reviewer', 'tester'],
      gate: 'remind',
      room: 'text',
      source: 'bg',
      source_fixed: true,
      outreach: { allow_ping: false, report_policy: 'always' },
    });
    const back = [
      'shared=on',
      'roles=',
      'gate=default',
      'room=default',
      'source=default',
      'ping=default',
      'reports=default',
    ];
    expect((await set('frontend-tests', ...back, '--json')).json().session).toMatchObject({
      shared: true,
      roles: [],
      gate: null,
      room: null,
      source_fixed: false,
      outreach: {},
    });
    const log = (await person.hive('store', 'log')).out;
    expect(log).toContain('"gate":"remind"');
    expect(log).toContain('"by":"Ada","via":"cli","by_kind":"human"');
  });

  it('lets an agent change its own harmless settings, and says why it may not change others', async () => {
    const person = shell(tempStore());
    await person.as({ HIVE_AGENT: 'other' }).hive('post', 'here');
    const set = (...words: string[]) => person.as(NAME).hive('sessions', 'set', ...words);
    expect((await set('shared=off', 'roles=tester')).out).toBe(
      'Set for frontend-tests: shared=off roles=tester\n',
    );
    expect((await set('frontend-tests', 'shared=on')).code).toBe(0);
    for (const [words, why] of [
      [['name=boss'], 'Only a human may change "name": it is how your human tells you from other sessions'],
      [['gate=off'], 'Only a human may change "gate": the gate holds an agent until'],
      [['source=main'], 'Only a human may change "source": the source decides how much'],
      [['ping=on'], 'Only a human may change "allow_ping": it limits what an agent may send'],
      [['other', 'shared=off'], 'An agent changes only its own settings, and other is another session.'],
    ] as const) {
      const { code, err } = await set(...words);
      expect(err).toContain(why);
      expect(code).toBe(7);
    }
  });

  it('refuses invalid settings, and lists the valid settings and values', async () => {
    const person = shell(tempStore());
    await person.as(NAME).hive('post', 'here');
    for (const [words, said] of [
      [['shared=off'], 'Name a session, for example: hive sessions set Claude-abc12 shared=off'],
      [['front'], 'Name a setting: name, shared, roles, gate, room, source, ping, reports.'],
      [['front', 'sharde=off'], 'There is no setting "sharde". Did you mean shared?'],
      [['front', 'toString=1'], 'There is no setting "toString".'],
      [['front', 'gate=open'], '"gate=open" is not valid. Write gate=strict|block|remind|off|default.'],
      [['front', 'shared'], '"shared" is not valid. Write shared=on|off.'],
      [['front', 'roles=All'], '"All" is not a role'],
      [['front', 'gate=off', 'gate=strict'], 'Give gate only once. Nothing was changed.'],
    ] as const) {
      const { code, err } = await person.hive('sessions', 'set', ...words);
      expect(err).toContain(said);
      expect(code).toBe(2);
    }
    const { code, err } = await person.hive('sessions', 'set', 'nobody', 'shared=off');
    expect(err).toContain('There is no session "nobody"');
    expect(code).toBe(1);
  });
});
