// Installs what the other scripts need: node_modules, and with --system the Debian packages.
//   node scripts/setup.mjs                          node_modules only
//   node scripts/setup.mjs --system                 … and every program of setup-debian.mjs
//   node scripts/setup.mjs --system=emacs,tmux      … and these programs
//   node scripts/setup.mjs --to-run [--system=…]    of node_modules only what builds and runs the program
//   node scripts/setup.mjs --to-build               … only what builds it, on the machine's Node
//   node scripts/setup.mjs --only-system=emacs      these programs and no node_modules
// Plain JavaScript for any Node >= 20: it runs before the project's own Node is there.
import { spawn } from 'node:child_process';
import { setUpDebian } from './setup-debian.mjs';
import { setUpModules } from './setup-modules.mjs';

const args = process.argv.slice(2);
const level = args.includes('--to-run') ? 'to run' : args.includes('--to-build') ? 'to build' : undefined;
const [wantsSystem, only, list] =
  /^--(only-)?system(?:=(.*))?$/.exec(args.find((each) => !each.startsWith('--to-')) ?? '') ?? [];
const names = list?.split(',');

try {
  if (only !== undefined) setUpDebian(names);
  else if (names === undefined) {
    setUpModules(level);
    // All of them: one is unpacked into node_modules.
    if (wantsSystem !== undefined) setUpDebian();
  } else {
    // npm and apt both wait for the network most of the time, so they do it at the same time.
    const system = spawn(process.execPath, [import.meta.filename, `--only-system=${list}`], {
      stdio: 'inherit',
    });
    const ended = new Promise((resolve) => {
      system.once('error', () => resolve(1));
      system.once('exit', resolve);
    });
    setUpModules(level);
    process.exitCode = (await ended) === 0 ? 0 : 1;
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
