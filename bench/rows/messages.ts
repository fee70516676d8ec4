/** The shared buffer: how soon another process sees a mention, and how fast a message is parsed for mentions. */
import { parseMentions } from '../../src/domain/mention-parser.ts';
import { openHive } from '../../src/open-hive.ts';
import { introduction } from '../../test/support/introduction.ts';
import { connectHive, storeIn, tempFolder } from '../children.ts';
import { type Family, interleave, type Measurement } from '../harness.ts';

export const messages: Family = {
  name: 'messages',
  rows: ['post → mention seen', 'mention parser'],
  measure: async (effort) => [
    await postToMention(effort === 'full' ? 150 : 20),
    parser(effort === 'full' ? 40 : 8),
  ],
};

/** An agent posts over MCP, and another process, asleep until then, reads the mention. */
async function postToMention(rounds: number): Promise<Measurement> {
  const folder = tempFolder();
  const agent = await connectHive(folder);
  const reader = await openHive({ store: storeIn(folder), env: {} });
  const session_id = 'reader-1';
  const { handle } = await reader.sessions.introduce(
    introduction({ session_id, project: 'bench', project_dir: folder, machine: 'bench' }),
  );
  const samples = await interleave(rounds, {
    async post() {
      const { count } = await reader.mentions.has(session_id);
      const seen = reader.feed.until(
        async () => ((await reader.mentions.has(session_id)).count > count ? true : undefined),
        { wait_ms: 10_000 },
      );
      await new Promise((resolve) => setTimeout(resolve, 10));
      const started = performance.now();
      const posted = agent.call('hivemind_post', { body: `@${handle} the migration is through.` });
      if ((await seen) !== true) throw new Error('The mention was not seen.');
      const elapsed = performance.now() - started;
      await posted;
      return elapsed;
    },
  });
  await reader.close();
  return {
    name: 'post → mention seen',
    unit: 'ms',
    samples: samples.post,
    floor: null,
    target: { of: 'p50', at_most: 5 },
  };
}

const PARAGRAPH = `## What I found

@Claude-abc12 the **migration** of \`users\` is through; see \`src/store/users.ts\` and https://example.org/@docs.
Ask ada@example.org for the dump. @All please rebase; > @Codex-1 said the same.

\`\`\`ts
const handle = '@NotMe';
\`\`\`

- [ ] @reviewer: the *second* index, and übergröße for @Jürgen-ö1
`;

function parser(rounds: number): Measurement {
  const text = PARAGRAPH.repeat(Math.ceil(1e6 / Buffer.byteLength(PARAGRAPH)));
  const bytes = Buffer.byteLength(text);
  const samples = Array.from({ length: rounds + 3 }, () => {
    const started = performance.now();
    parseMentions(text);
    return bytes / 1e6 / ((performance.now() - started) / 1_000);
  });
  return {
    name: 'mention parser',
    unit: 'MB/s',
    // The first rounds are warm-up for the compiler.
    samples: samples.slice(3),
    floor: null,
    target: { of: 'p50', at_least: 20 },
  };
}
