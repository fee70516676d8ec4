// The client of an agent with hooks: one process that starts the agent's `hive mcp` and each of its hooks, so that all of
// them descend from it. What to start arrives over IPC; what these processes say goes back the same way.
import { spawn } from 'node:child_process';

const children = new Map();

process.on('message', ({ id, start, input, ends = false, signal }) => {
  if (start !== undefined) open(id, start);
  const child = children.get(id);
  if (input !== undefined) child?.stdin.write(input);
  if (ends) child?.stdin.end();
  if (signal !== undefined) child?.kill(signal);
});
process.once('disconnect', () => {
  for (const child of children.values()) child.kill('SIGKILL');
});

function open(id, { file, words, env, cwd }) {
  const child = spawn(file, words, { env, cwd, stdio: 'pipe' });
  children.set(id, child);
  const say = (message) => {
    if (process.connected) process.send({ id, ...message });
  };
  child.stdin.on('error', () => undefined);
  child.stdout.on('data', (output) => say({ output }));
  child.stderr.on('data', (error) => say({ error }));
  child.once('spawn', () => say({ pid: child.pid }));
  child.once('error', (error) => say({ failure: String(error) }));
  child.once('close', (code) => {
    children.delete(id);
    say({ code });
  });
}
