// Installs what the other scripts need: node_modules, and with --system the Debian packages.
//   node scripts/setup.mjs                          node_modules only
//   node scripts/setup.mjs --system                 … and every program of setup-debian.mjs
//   node scripts/setup.mjs --system=emacs,tmux      … and these programs
// Plain JavaScript for any Node >= 20: it runs before the project's own Node is there.
import { setUpDebian } from './setup-debian.mjs';
import { setUpModules } from './setup-modules.mjs';

const system = process.argv.slice(2).find((argument) => /^--system(=|$)/.test(argument));

try {
  setUpModules();
  if (system !== undefined) setUpDebian(system.split('=')[1]?.split(','));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
