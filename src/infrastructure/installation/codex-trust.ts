/** Whether Codex runs our hooks: it skips without a word what nobody has trusted, or what has changed since. */
import type { Check } from '../../application/ports.ts';
import { readHookCommand } from '../../domain/installation.ts';
import { trustIn, trustOf } from './codex.ts';
import { readText } from './files.ts';
import { codexPlaces, type Environment } from './places.ts';
import { converse } from './try-out.ts';

const NAME = 'Codex trust';
const ADVICE = 'run hive init codex in a terminal, or look at /hooks in Codex';

/** Codex itself is asked where it is installed; else what stands in its files has to do. */
export async function examineTrust(env: Environment, hooksText: string): Promise<Check> {
  const asked = await askCodex(env);
  if (asked === null) {
    const { config, hooks } = codexPlaces(env);
    const wanted = trustOf(hooks, hooksText);
    const missing = wanted.length - trustIn(readText(config) ?? '', wanted).length;
    return missing === 0
      ? { name: NAME, ok: true, text: 'written in config.toml (there is no codex here to ask)', advice: null }
      : { name: NAME, ok: false, text: `${missing} hooks are not trusted: Codex skips them`, advice: ADVICE };
  }
  const { skipped, problems } = asked;
  if (problems.length > 0)
    return { name: NAME, ok: false, text: `Codex says: ${problems.join('; ')}`, advice: ADVICE };
  if (skipped.length > 0) {
    const text = `Codex skips ${skipped.join(', ')}: not trusted, or turned off`;
    return { name: NAME, ok: false, text, advice: ADVICE };
  }
  return { name: NAME, ok: true, text: 'Codex runs all of them', advice: null };
}

interface ListedHook {
  eventName: string;
  command?: string;
  enabled: boolean;
  trustStatus: string;
}

interface Listing {
  hooks: ListedHook[];
  errors: unknown[];
}

/** `hooks/list` of its app server (0.169); null where there is none that answers. */
async function askCodex(env: Environment): Promise<{ skipped: string[]; problems: string[] } | null> {
  const send = (message: object): string => `${JSON.stringify(message)}\n`;
  const clientInfo = { name: 'hive', title: 'Hive', version: '1' };
  let listings: Listing[] | null = null;
  await converse(['codex', 'app-server'], env, {
    input: send({ id: 1, method: 'initialize', params: { clientInfo } }),
    reply(line) {
      const message = parse(line);
      if (message.id === 1) {
        const list = { id: 2, method: 'hooks/list', params: { cwds: [process.cwd()] } };
        return send({ method: 'initialized' }) + send(list);
      }
      if (message.id !== 2) return undefined;
      listings = message.result?.data ?? null;
      return 'done';
    },
  });
  const found = listings as Listing[] | null;
  if (found === null) return null;
  const ours = found
    .flatMap(({ hooks }) => hooks)
    .filter(({ command }) => readHookCommand(command)?.client === 'codex');
  const skipped = ours.filter(({ enabled, trustStatus }) => !enabled || trustStatus !== 'trusted');
  const problems = found.flatMap(({ errors }) => errors.map((error) => JSON.stringify(error)));
  if (ours.length === 0) problems.push('it does not see our hooks');
  return { skipped: skipped.map(({ eventName }) => eventName), problems };
}

function parse(line: string): { id?: unknown; result?: { data?: Listing[] } } {
  try {
    return JSON.parse(line) as ReturnType<typeof parse>;
  } catch {
    return {};
  }
}
