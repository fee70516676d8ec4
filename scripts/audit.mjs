// `npm run audit`: asks the registry for known vulnerabilities of the packages installed with Hive (docs/internals/dependencies.md).
// Fails on one that is high or critical. A registry that offers no audits is not a finding, and is reported as such.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const words = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=30000'];
const { stdout, stderr, error } = spawnSync('npm', words, { cwd: root, encoding: 'utf8' });
if (error !== undefined) throw error;

const report = read(stdout);
const counts = report?.metadata?.vulnerabilities;
if (counts !== undefined) {
  const bad = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => isBad(severity));
  for (const { name, severity, range } of bad) console.log(`${severity}: ${name} ${range}`);
  const milder = counts.total - bad.length;
  console.log(
    `Audit: ${bad.length} high or critical, ${milder} milder, in what is installed with Hive.${counts.total > 0 ? ' `npm audit --omit=dev` tells more.' : ''}`,
  );
  process.exitCode = bad.length > 0 ? 1 : 0;
} else if (report?.message !== undefined || report?.error !== undefined) {
  console.log(
    `NOT AUDITED: the registry gave no answer. It said: ${report.message ?? report.error.summary ?? report.error.code}`,
  );
} else {
  console.error(`The output of npm audit has an unknown shape:\n${stdout}${stderr}`);
  process.exitCode = 1;
}

function isBad(severity) {
  return severity === 'high' || severity === 'critical';
}

/** Null for text that is not JSON. */
function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
