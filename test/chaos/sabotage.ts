/**
 * Deliberate bugs, to see that the checker fails when it should: each breaks one invariant in the copy of the sources
 * that a run is built from. The product knows nothing of them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Sabotage {
  /** What goes wrong. */
  what: string;
  /** The check that must find it (`checker.ts`). */
  found_by: string;
  edits: readonly Edit[];
}

/** A text that stands exactly once in a file under src/, and what it becomes. */
export type Edit = readonly [file: string, from: string, to: string];

const PROMPTS = 'domain/prompts.ts';
const FEED = 'application/feed.ts';

/** True each n-th time that a process comes by: counted, so that a seed that found one finds it again. */
const eachTime = (n: number): string =>
  `((globalThis.sabotaged = (globalThis.sabotaged ?? 0) + 1) % ${n} === 0)`;

export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  'lost-commit': {
    what: 'one write in twenty is acknowledged and rolled back',
    found_by: 'acknowledged',
    edits: [
      [
        'infrastructure/store/sqlite.ts',
        "writer.database.exec('COMMIT');",
        `writer.database.exec(${eachTime(20)} ? 'ROLLBACK' : 'COMMIT');`,
      ],
    ],
  },
  'asked-twice': {
    what: 'a key that has asked before asks once more',
    found_by: 'acknowledged',
    edits: [
      [
        'application/prompts.ts',
        'if (before !== undefined) {\n          if (before.fingerprint',
        'if (before !== undefined && Date.now() < 0) {\n          if (before.fingerprint',
      ],
      [
        'application/prompts.ts',
        'throw tooLate(turn);\n        await insertPrompt(tx, prompt);',
        'throw tooLate(turn);\n        await insertPrompt(tx, before === undefined ? prompt : { ...prompt, idempotency_key: null });',
      ],
    ],
  },
  'two-winners': {
    what: 'an answer to what is answered already is accepted as well',
    found_by: 'one winner',
    edits: [
      [
        PROMPTS,
        "  if (prompt.status === 'pending') {\n    const { decision,",
        "  if (prompt.status === 'pending' || prompt.status === 'responded') {\n    const { decision,",
      ],
      [
        'infrastructure/store/prompts.ts',
        "WHERE ask_id = $1 AND prompts.status = 'pending'\n",
        'WHERE ask_id = $1\n',
      ],
    ],
  },
  'silence-decides': {
    what: 'a question that expires is decided',
    found_by: 'silence',
    edits: [
      [
        PROMPTS,
        "status: 'expired', settled_at: now,",
        "status: 'expired', decision: 'yes', settled_at: now,",
      ],
    ],
  },
  'late-dropped': {
    what: 'a late answer is thanked for and not kept',
    found_by: 'late answers',
    edits: [
      [
        PROMPTS,
        '{ ...prompt, late_response: answer, ...NO_RECEIPTS }',
        '{ ...prompt, late_response: null, ...NO_RECEIPTS }',
      ],
    ],
  },
  'false-receipt': {
    what: 'an answer counts as read when it is handed over',
    found_by: 'receipts',
    edits: [['domain/delivery.ts', "delivery.kind === 'mention' ? now : null", 'now']],
  },
  'not-delivered': {
    what: 'the asker is told that its question still waits',
    found_by: 'delivery',
    edits: [
      [
        'adapters/mcp/prompts.ts',
        'await hand(settled);',
        "(await hand(settled)).map(({ prompt }) => ({ prompt: { ...prompt, status: 'pending' as const }, repeated: false }));",
      ],
    ],
  },
  nobody: {
    what: 'an answer is stored without who gave it',
    found_by: 'provenance',
    edits: [
      [
        PROMPTS,
        'decision, selected, comment, by, via, response_id, responded_at },',
        'decision, selected, comment, via, response_id, responded_at },',
      ],
    ],
  },
  'own-answer': {
    what: 'an agent may answer its own question',
    found_by: 'no self-approval',
    edits: [
      [
        'application/prompts.ts',
        '        refuse(refusalToAnswer(actor, prompt));\n        const answer = resolveAnswer(prompt, command, {\n          by: actor.by,\n          via: actor.via,\n          response_id,\n          responded_at: tx.now,\n        });\n        return recordAnswer',
        '        const answer = resolveAnswer(prompt, command, {\n          by: actor.by,\n          via: actor.via,\n          response_id,\n          responded_at: tx.now,\n        });\n        return recordAnswer',
      ],
    ],
  },
  'skipped-event': {
    what: 'a feed drops one batch in ten',
    found_by: 'feeds',
    edits: [[FEED, 'await onEvents(events);', `if (!${eachTime(10)}) await onEvents(events);`]],
  },
  'repeated-event': {
    what: 'a feed hands one batch in ten out twice',
    found_by: 'feeds',
    edits: [
      [
        FEED,
        'await onEvents(events);',
        `await onEvents(events);\n        if (${eachTime(10)}) await onEvents(events);`,
      ],
    ],
  },
  'own-call-held': {
    what: 'the mention gate holds the calls that clear it',
    found_by: 'guards',
    edits: [
      [
        'domain/mentions.ts',
        "tool.name === 'ToolSearch') return true;",
        "tool.name === 'ToolSearch') return false;",
      ],
    ],
  },
};

/**
 * Applies one to the sources in `src`.
 * @throws Error when a text does not stand there exactly once: the sabotage is out of date and would show nothing.
 */
export function applySabotage(src: string, name: string): void {
  const sabotage = SABOTAGES[name];
  if (sabotage === undefined)
    throw new Error(`There is no sabotage "${name}"; there are ${Object.keys(SABOTAGES).join(', ')}.`);
  for (const [file, from, to] of sabotage.edits) {
    const path = join(src, file);
    const parts = readFileSync(path, 'utf8').split(from);
    if (parts.length !== 2)
      throw new Error(
        `"${from}" stands ${parts.length - 1} times in src/${file}: mend the sabotage "${name}".`,
      );
    writeFileSync(path, parts.join(to));
  }
}
