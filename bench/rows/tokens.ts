/**
 * The tokens that a model pays for being able to ask: the tools in its every request, and its words and ours for one question
 * and its answer. Counted by a public tokenizer (o200k), because Claude's own is not public. Exact figures, so one sample.
 */
import { sentToModel, tokensOf } from '../../test/support/tokens.ts';
import { connect, environment, tempFolder } from '../children.ts';
import type { Family, Measurement, Target } from '../harness.ts';
import { startBlocking } from '../peers/blocking-peer.ts';
import { startHive } from '../peers/hive-peer.ts';
import { installPeer, VIBE } from '../peers/install.ts';
import type { ListedTool, Peer } from '../peers/peer.ts';

const QUESTION = 'Drop the old sessions table after the migration?';
const MOST_IN_EVERY_REQUEST = 1_000;
const MOST_FOR_AN_ANSWER = 180;

export const tokens: Family = {
  name: 'tokens',
  rows: ['tool list', 'an ask and its answer'],
  async measure() {
    const hive = await startHive(tempFolder());
    const blocking = await startBlocking(tempFolder());
    const always = (await hive.tools()).filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true);
    const rows = [
      row('tool list, Hive in Claude Code', costOf(always), MOST_IN_EVERY_REQUEST),
      ...(await tokensWith(hive)),
      ...(await tokensWith(blocking)),
    ];
    await Promise.all([hive.close(), blocking.close()]);
    return rows;
  },
};

/** The rows of one system. */
export async function tokensWith(peer: Peer): Promise<Measurement[]> {
  const { name } = peer;
  const before = peer.spoken.length;
  const asked = await peer.ask(QUESTION);
  await asked.shown;
  await asked.answer('yes');
  await asked.answered;
  const spoken = peer.spoken.slice(before).map(tokensOf);
  const exchange = spoken.reduce((sum, count) => sum + count, 0);
  return [
    row(`tool list, ${name}`, costOf(await peer.tools())),
    row(`an ask and its answer, ${name}`, exchange, name === 'Hive' ? MOST_FOR_AN_ANSWER : undefined),
  ];
}

/** A peer of which only the tools are compared, because its questions need a browser. */
export async function toolsOfVibe(): Promise<Measurement> {
  const server = await connect([installPeer(VIBE)], environment(tempFolder()));
  const list = row(`tool list, ${VIBE.name} ${VIBE.version}`, costOf(await server.tools()));
  await server.close();
  return list;
}

function costOf(tools: readonly ListedTool[]): number {
  return tools.reduce((sum, tool) => sum + tokensOf(sentToModel(tool)), 0);
}

function row(name: string, count: number, at_most?: number): Measurement {
  const target: Target | null = at_most === undefined ? null : { of: 'p50', at_most };
  return { name, unit: 'tokens', samples: [count], floor: null, target };
}
