/**
 * Any output of a library goes to stderr: a stray line on stdout would break the protocol for the client.
 *
 * @module-tag untrusted
 * @module-tag mcp
 * @module-tag emacs
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Child, childEnvironment, readOutput, spawnHive } from '../support/children.ts';
import { INITIALIZE } from '../support/sidecar.ts';
import { tempFolder, tempStore } from '../support/temp.ts';
import { eventually } from '../support/wait.ts';

/** A stand-in for a library that prints on request, with every console function that writes to stdout. */
const LIBRARY = `process.on('SIGUSR2', () => {
  for (const print of ['log', 'info', 'debug', 'table', 'dir']) console[print]('stray ' + print);
});`;
const PRINTED = ['stray log', 'stray info', 'stray debug', 'stray table', 'stray dir'];

/** A child with that library loaded before anything of Hive's, and what it has written to its wire. */
function spawnPrinter(command: string): { child: Child; wire: () => string } {
  const library = join(tempFolder(), 'library.cjs');
  writeFileSync(library, LIBRARY);
  const agent = command === 'mcp' ? { HIVE_AGENT: 'agent-1' } : {};
  const env = childEnvironment(tempStore(), { NODE_OPTIONS: `--require=${library}`, ...agent });
  const child = spawnHive([command], env);
  const written = readOutput(child);
  return { child, wire: written };
}

function request(id: number, method: string, params: unknown = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

async function print(child: Child): Promise<void> {
  child.process.kill('SIGUSR2');
  await eventually(() => PRINTED.every((line) => child.stderr().includes(line)));
}

/** The replies among the frames of a text. @throws if the text contains anything but frames. */
function framesOf(text: string): object[] {
  const frames: object[] = [];
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1'));
    if (head === null) throw new Error(`No frame begins here: ${rest.toString()}`);
    const end = head[0].length + Number(head[1]);
    frames.push(JSON.parse(rest.subarray(head[0].length, end).toString()) as object);
    rest = rest.subarray(end);
  }
  return frames.filter((frame) => 'id' in frame);
}

test('hive mcp', async () => {
  const { child, wire } = spawnPrinter('mcp');
  const send = (line: string): boolean => child.process.stdin.write(`${line}\n`);
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  send(request(1, 'initialize', hello));
  await eventually(() => wire().includes('"id":1'));
  await print(child);
  send(request(2, 'ping'));
  await eventually(() => wire().includes('"id":2'));
  const lines = wire().trim().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ id: 1 }, { id: 2, result: {} }]);
});

test('hive sidecar', async () => {
  const { child, wire } = spawnPrinter('sidecar');
  const send = (content: string): boolean =>
    child.process.stdin.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  send(request(1, 'initialize', INITIALIZE));
  await eventually(() => wire().includes('"id":1'));
  await print(child);
  send(request(2, 'prompt/list'));
  await eventually(() => wire().includes('"id":2'));
  expect(framesOf(wire())).toMatchObject([{ id: 1 }, { id: 2, result: { prompts: [] } }]);
});

test('a sidecar whose messages nobody reads any more goes on', async () => {
  const child = spawnHive(['sidecar'], childEnvironment(tempStore()));
  const written = readOutput(child);
  child.process.stderr.destroy();
  const send = (body: string): void => {
    child.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  // An unknown parameter is worth a warning.
  send(request(1, 'initialize', { ...INITIALIZE, unknown: 1 }));
  send(request(2, 'prompt/list', { unknown: 1 }));
  await eventually(() => written().includes('"id":2'));
  send(request(3, 'prompt/list'));
  await eventually(() => written().includes('"id":3'));
});
