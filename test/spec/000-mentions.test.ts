/** Mention-Driven Task Interruption, requirement by requirement. */
import { expect } from 'vitest';
import { beforeFile } from '../support/lifetime.ts';
import { tempStore } from '../support/temp.ts';
import { type Agent, startAgent } from './support/agents.ts';
import { requirement } from './support/requirement.ts';

let abc: Agent;
let def: Agent;
beforeFile(async () => {
  const store = tempStore();
  [abc, def] = await Promise.all([startAgent(store, 'abc12-session'), startAgent(store, 'def34-session')]);
});

requirement(
  {
    id: '000-01',
    title: 'An unprocessed mention holds every tool call of the mentioned agent.',
    source: 'Blocks tool execution when there are unprocessed mentions',
    lives: ['PreToolUse hook'],
    verdict: 'works',
  },
  async () => {
    await def.use('hivemind_post', { body: 'Need help with authentication @Claude-abc12' });
    for (const tool of ['Bash', 'Read', 'Edit', 'AskUserQuestion', 'mcp__github__get'])
      expect([tool, (await abc.tries(tool)).verdict]).toEqual([tool, 'deny']);
    expect((await def.tries()).verdict).toBe('pass');
  },
);
