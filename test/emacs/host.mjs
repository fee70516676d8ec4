/**
 * The process that has the agents and the sidecars of the ERT tests, real and fake: starting one for each was half of what they cost.
 * It listens on the socket that its argument names; the first line of a connection is JSON:
 * {run, env}, what to run and its environment, a list of NAME=VALUE. Started as the bundle that test/support/run.ts makes.
 */
import { createServer } from 'node:net';
import { serveEmacs } from '../../src/adapters/emacs/connection.ts';
import { emacsExtensions } from '../../src/cli/extensions.ts';
import { humanName, thisSeat } from '../../src/infrastructure/platform/paths.ts';
import { openHive } from '../../src/open-hive.ts';
import { serveAgents } from './agents.mjs';
import { startFake } from './fake-sidecar.mjs';

const runs = { agents: serveAgents, fake: startFake, sidecar: serveSidecar };

const LOG = {
  info: () => undefined,
  // No desktop can be reached from a test, and each sidecar says so.
  warn: () => undefined,
  error: (message, fields) => process.stderr.write(`${message} ${JSON.stringify(fields ?? {})}\n`),
};

/** The work of `hive sidecar` for one Emacs, but for what depends on its own process: signals, and who started it. */
async function serveSidecar({ env, input, output, end }) {
  const hive = await openHive({ env, log: LOG });
  hive.startExpiry();
  const stop = new AbortController();
  output.once('close', () => stop.abort());
  const here = { seat: thisSeat(), human: humanName(env), pid: process.pid, check: async () => undefined };
  try {
    const options = { ...here, input, output, stop: stop.signal, extensions: await emacsExtensions() };
    const served = serveEmacs(hive, { ...options, ending: () => undefined });
    // It was paused until somebody reads it.
    input.resume();
    await served;
  } finally {
    await hive.close();
    end();
  }
}

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  let first = Buffer.alloc(0);
  const receive = (chunk) => {
    first = Buffer.concat([first, chunk]);
    const end = first.indexOf('\n');
    if (end === -1) return;
    socket.off('data', receive).pause();
    const { run, env } = JSON.parse(first.subarray(0, end).toString());
    const rest = first.subarray(end + 1);
    if (rest.length > 0) socket.unshift(rest);
    void start(run, env, socket);
  };
  socket.on('data', receive);
}).listen(process.argv[2], () => process.stdout.write('ready\n'));

/** A connection that cannot start ends alone. */
async function start(run, environment, socket) {
  const end = () => socket.resume().end();
  // As for a process: of two values the first counts.
  const env = Object.fromEntries(
    environment.toReversed().map((entry) => /([^=]*)=?(.*)/s.exec(entry).slice(1)),
  );
  try {
    await runs[run]({ env, input: socket, output: socket, end });
  } catch (error) {
    process.stderr.write(`${run}: ${error.stack}\n`);
    socket.destroy();
  }
}
