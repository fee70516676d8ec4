/** Runs of the real Claude Code and the real Codex whose models say the same. */
import * as anthropic from './anthropic.ts';
import { runClaude } from './claude.ts';
import { runCodex } from './codex.ts';
import * as responses from './responses.ts';
import type { World } from './world.ts';

/** Words, or calls of our tools and of the client's shell. */
type Reply = { text: string } | { calls: readonly ({ hive: string; input?: object } | { shell: string })[] };

export interface Ran {
  session_id: string;
  /** Everything that the model received since its last reply, before each step. */
  told: string[];
  /** Everything in its last request. */
  everything: string;
}

export interface EitherClient {
  name: 'Claude Code' | 'Codex';
  /** Runs it to its end; `script` says what the model replies at each step, from 1. */
  run(world: World, script: (step: number) => Reply | Promise<Reply>): Promise<Ran>;
}

function replyOf<Call>(
  reply: Reply,
  { hive, shell }: { hive(tool: string, input?: object): Call; shell(command: string): Call },
): { text: string } | { calls: readonly Call[] } {
  if ('text' in reply) return reply;
  return {
    calls: reply.calls.map((call) => ('shell' in call ? shell(call.shell) : hive(call.hive, call.input))),
  };
}

export const CLIENTS: readonly EitherClient[] = [
  {
    name: 'Claude Code',
    async run(world, script) {
      const told: string[] = [];
      const model = await anthropic.startModel(async (_request, step) => {
        told.push(model.told().replaceAll('\\', ''));
        return replyOf(await script(step), { hive: anthropic.hive, shell: anthropic.bash });
      });
      const { session_id, is_error, result } = await runClaude({ ...world, model }, 'go');
      if (is_error) throw new Error(result);
      return { session_id, told, everything: model.everything() };
    },
  },
  {
    name: 'Codex',
    async run(world, script) {
      const told: string[] = [];
      const model = await responses.startResponses(async (_request, step) => {
        told.push(model.told().replaceAll('\\', ''));
        return replyOf(await script(step), responses);
      });
      const { thread_id } = await runCodex({ ...world, model }, 'go');
      return { session_id: thread_id, told, everything: model.everything() };
    },
  },
];
