/**
 * A client of a coding agent as the process tree shows it: it starts its MCP server and each of its hooks and shells.
 * `node fake-client.mjs SOCKET [PROGRAM ARGS…]` runs PROGRAM, if given, with its own stdio and ends with it. At SOCKET
 * it takes one JSON line a connection, {program, args, env, input}, runs that, and answers {code, out, err}.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const [socket, program, ...args] = process.argv.slice(2);
const running = new Set();

/** Nothing that a client started outlives it here: a test leaves no process behind. */
function end(code) {
  for (const child of running) child.kill('SIGKILL');
  process.exit(code);
}

createServer((connection) => {
  let said = '';
  connection.setEncoding('utf8').on('data', (text) => {
    said += text;
    if (!said.includes('\n')) return;
    const order = JSON.parse(said);
    said = '';
    const child = spawn(order.program, order.args, { env: order.env, cwd: order.env.HOME });
    running.add(child);
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (more) => {
      out += more;
    });
    child.stderr.setEncoding('utf8').on('data', (more) => {
      err += more;
    });
    child.stdin.on('error', () => undefined).end(order.input);
    child.once('close', (code) => {
      running.delete(child);
      connection.end(`${JSON.stringify({ code, out, err })}\n`);
    });
  });
}).listen(socket, () => process.stderr.write('client ready\n'));

process.once('SIGTERM', () => end(0));
if (program === undefined) process.stdin.resume().once('end', () => end(0));
else {
  const server = spawn(program, args, { stdio: 'inherit' });
  running.add(server);
  server.once('exit', (code) => end(code ?? 1));
}
