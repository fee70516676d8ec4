/** The whole matrix of invariant 9: who may answer and who may cancel. */
import { describe, expect, test } from 'vitest';
import { type Actor, refusalToAnswer, refusalToCancel } from '../../src/domain/actors.ts';
import { prompt } from './prompt-arbitraries.ts';

const question = prompt();
const permission = prompt({ kind: 'permission' });

function agent(session_id: string, ...ancestors: string[]): Actor {
  return { kind: 'agent', by: 'Claude-x', via: 'mcp', session_id, ancestors };
}

function coordinator(session_id: string, ...others: string[]): Actor {
  return { ...agent(session_id), coordinates: others } as Actor;
}

const actors: Record<string, Actor> = {
  'the human at a desk': { kind: 'human', by: 'ada', via: 'emacs', confirmed: true },
  'the human in an enabled popup': { kind: 'human', by: 'ada', via: 'notification', confirmed: true },
  'somebody at an unconfirmed terminal': { kind: 'human', by: 'ada', via: 'terminal', confirmed: false },
  'the asker itself': agent('session-1'),
  'a child of the asker': agent('session-1:sub', 'session-1'),
  'a grandchild of the asker': agent('session-9', 'session-8', 'session-1'),
  'a parent of the asker': agent('session-0'),
  'another agent': agent('session-2', 'session-0'),
  'a coordinator': coordinator('session-2', 'session-1'),
  'a coordinator that does not know it as another': coordinator('session-2', 'session-3'),
  'a rule': { kind: 'rule', by: 'rule 1', via: 'rule' },
};

describe('answering', () => {
  test.each<[string, boolean, boolean]>([
    // who, a question, a permission
    ['the human at a desk', true, true],
    ['the human in an enabled popup', true, true],
    ['somebody at an unconfirmed terminal', true, false],
    ['the asker itself', false, false],
    ['a child of the asker', false, false],
    ['a grandchild of the asker', false, false],
    ['a parent of the asker', false, false],
    ['another agent', false, false],
    ['a coordinator', true, false],
    ['a coordinator that does not know it as another', false, false],
    ['a rule', false, true],
  ])('%s: a question %s, a permission %s', (who, mayQuestion, mayPermission) => {
    const actor = actors[who] as Actor;
    expect(refusalToAnswer(actor, question) === null).toBe(mayQuestion);
    expect(refusalToAnswer(actor, permission) === null).toBe(mayPermission);
  });

  test('is refused with a sentence', () => {
    expect(refusalToAnswer(agent('session-1'), question)).toMatch(/cannot answer its own question/);
    expect(refusalToAnswer(agent('s', 'session-1'), question)).toMatch(/a session it descends from/);
    expect(refusalToAnswer(agent('s'), question)).toMatch(/Only a coordinator/);
  });
});

test.each([
  ['the human at a desk', true],
  ['the asker itself', true],
  ['a child of the asker', false],
  ['a parent of the asker', false],
  ['another agent', false],
])('cancelling: %s: %s', (who, may) => {
  expect(refusalToCancel(actors[who] as Actor, question) === null).toBe(may);
});
