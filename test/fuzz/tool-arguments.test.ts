/**
 * The arguments of every MCP tool: a result or a refusal with a sentence, never an internal error.
 *
 * @module-tag untrusted
 * @module-tag mcp
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import fc from 'fast-check';
import { createMcpServer } from '../../src/adapters/mcp/server.ts';
import { ROOT } from '../support/children.ts';
import { letCoordinate } from '../support/coordinators.ts';
import type { RecordedLog } from '../support/hive.ts';
import { agentConnection } from '../support/mcp-in-process.ts';
import { fuzz } from './fuzz.ts';
import { anyJson, changed, type Json, oddText } from './inputs.ts';
import { inWorld } from './world.ts';

interface Schema {
  type?: string;
  enum?: Json[];
  const?: Json;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
}

/** Always short: a call that waits for an answer would wait until its time limit. */
const LONGEST_WAIT_MS = 20;

/** Values that a schema allows, mostly. */
function of(schema: Schema, name = ''): fc.Arbitrary<Json> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => of(one, name)));
  if (schema.type === 'array') return fc.array(of(schema.items ?? {}), { maxLength: 5 });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer' || schema.type === 'number')
    return /_ms$/.test(name)
      ? fc.integer({ min: 0, max: LONGEST_WAIT_MS })
      : fc.integer({ min: Math.max(schema.minimum ?? 0, -1), max: Math.min(schema.maximum ?? 50, 50) });
  if (schema.type === 'object') {
    const required = new Set(schema.required ?? []);
    const parts = Object.entries(schema.properties ?? {}).map(([key, inner]) => {
      const value = of(inner, key);
      return [key, required.has(key) ? value : fc.option(value, { nil: undefined })] as const;
    });
    return fc.record(Object.fromEntries(parts)).map((object) => JSON.parse(JSON.stringify(object)) as Json);
  }
  if (schema.type === 'string')
    return fc.oneof(fc.constantFrom('ask-0000000000000000', 'agent-1', 'All', 'yes', 'demo'), oddText);
  return anyJson;
}

const tools = ['agent', 'coordinator'].flatMap(
  (role) =>
    JSON.parse(readFileSync(join(ROOT, `test/wire/golden/mcp/tools-${role}.json`), 'utf8')) as {
      name: string;
      inputSchema: Schema;
    }[],
);

const call: fc.Arbitrary<{ name: string; args: Json }> = fc.oneof(
  ...tools.map(({ name, inputSchema }) =>
    fc.record({ name: fc.constant(name), args: fc.oneof(of(inputSchema), changed(of(inputSchema))) }),
  ),
);

/** Waits are cut short: only the arguments are tested. */
function shortened(value: Json): Json {
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      /^(?:wait_ms|timeout_ms)$/.test(key) && typeof item === 'number' && item > LONGEST_WAIT_MS
        ? LONGEST_WAIT_MS
        : item,
    ]),
  );
}

/** A coordinator's client, for one input. */
function withClient(work: (client: Client, log: RecordedLog) => Promise<void>): Promise<void> {
  return inWorld(async ({ hive, log }) => {
    const stopping = new AbortController();
    const client = new Client({ name: 'fuzz', version: '1' });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await createMcpServer(
      hive,
      { ...agentConnection(stopping.signal), parent_pid: process.pid },
      'coordinator',
    ).connect(there);
    await client.connect(here);
    await letCoordinate(hive, client);
    try {
      await work(client, log);
    } finally {
      stopping.abort();
      await client.close();
    }
  });
}

/** The argument that limits the wait of tools that wait by default. */
const WAITS: Readonly<Record<string, string>> = {
  hivemind_ask: 'timeout_ms',
  hivemind_await_ask: 'timeout_ms',
  hivemind_interrupt: 'wait_ms',
};

/** Gives tools that wait the shortest time that is allowed, also where a call has no arguments: null is none. */
function brief({ name, args }: { name: string; args: Json }): Record<string, unknown> {
  const short = shortened(args) as Record<string, unknown>;
  const waits = WAITS[name];
  if (waits === undefined || (args !== null && !isObject(args))) return short;
  return { ...short, [waits]: short?.[waits] ?? LONGEST_WAIT_MS };
}

fuzz('tool arguments: any tool, any arguments', 40, () =>
  fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 6 }), (calls) =>
    withClient(async (client, log) => {
      for (const { name, args } of calls) {
        const result = await client
          .callTool({ name, arguments: brief({ name, args }) }, undefined, { timeout: 120_000 })
          .catch((error: unknown) => error as Error);
        if (result instanceof Error) {
          // Arguments that are no object never come to us: the SDK refuses the request.
          if (isObject(args)) throw result;
          continue;
        }
        const text = JSON.stringify(result.content);
        if (result.isError === true && /internal: /.test(text)) throw new Error(log.lines.join('\n'));
        if (result.isError === true && !/[.!?"'\])]/.test(text)) throw new Error(`No sentence: ${text}`);
      }
      await client.callTool({ name: 'hivemind_status', arguments: {} });
    }),
  ),
);

/** Every name in a call respelled, each in its own way: the names in `fields` and `options` too. */
function respelled(value: Json, ways: readonly number[]): Json {
  let next = 0;
  const respell = (name: string): string => {
    const way = WAYS[(ways[next++ % ways.length] ?? 0) % WAYS.length] ?? ((same: string) => same);
    return way(name);
  };
  const walk = (here: Json): Json => {
    if (Array.isArray(here)) return here.map(walk);
    if (!isObject(here)) return here;
    return Object.fromEntries(Object.entries(here).map(([name, item]) => [respell(name), walk(item)]));
  };
  return walk(value);
}

const WAYS: readonly ((name: string) => string)[] = [
  (name) => name.replaceAll('_', '-'),
  (name) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => name.toUpperCase(),
  (name) => name.replaceAll('_', ''),
  (name) => `:${name.replaceAll('_', '-')}`,
];

const goodCall: fc.Arbitrary<{ name: string; args: Json }> = fc.oneof(
  ...tools.map(({ name, inputSchema }) => fc.record({ name: fc.constant(name), args: of(inputSchema) })),
);

fuzz('tool arguments: any spelling of any argument of any tool is that argument', 60, () =>
  fc.asyncProperty(goodCall, fc.array(fc.nat(100), { minLength: 1, maxLength: 8 }), (one, ways) =>
    withClient(async (client) => {
      const given = brief(one);
      const said = async (args: Json) => {
        const { isError, content, structuredContent } = await client.callTool(
          { name: one.name, arguments: args as Record<string, unknown> },
          undefined,
          { timeout: 120_000 },
        );
        return { isError, refusal: isError === true ? content : null, structuredContent };
      };
      const [plain, other] = [await said(given as Json), await said(respelled(given as Json, ways))];
      const differs = JSON.stringify(plain.refusal) !== JSON.stringify(other.refusal);
      // A second call may be refused because of the first: pings are rationed, keys are used up.
      const used = /outreach_refused|idempotency_conflict/.test(JSON.stringify(other.refusal));
      if (differs && !used) throw new Error(JSON.stringify([given, plain, other]));
      if (JSON.stringify(other).includes('ignored_arguments')) throw new Error(JSON.stringify(other));
    }),
  ),
);

function isObject(value: Json): value is { [key: string]: Json } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
