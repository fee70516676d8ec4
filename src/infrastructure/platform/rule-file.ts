/** The rules in the human's file of trust: finds their lines, adds a rule and removes one. The rest of the file is unchanged. */
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import type { RuleFile } from '../../application/world.ts';
import { invalidInput } from '../../domain/errors.ts';
import type { Environment } from '../../domain/sources.ts';
import { applyEdits } from '../../domain/text.ts';
import { readTrust } from '../../domain/trust.ts';
import { appendJson, readJson, removeJson } from '../installation/json-edits.ts';
import { readPrivately } from './human-file.ts';
import { trustFile } from './paths.ts';
import { rewriteTrust } from './seat-file.ts';

const LIST = 'permission_rules';

export function createRuleFile(env: Environment): RuleFile {
  const path = trustFile(env);

  /** Checks that all of the written file is understood; otherwise nothing in it would permit anything any more. */
  function checked(text: string): string {
    const [problem] = readTrust({ path, text, problems: [], digest: null }).problems;
    if (problem !== undefined) throw invalidInput(`Nothing was written: ${problem}`);
    return text;
  }

  return {
    async lines() {
      const { text } = readPrivately(path);
      const root = text === null ? undefined : parseTree(text);
      const list = root === undefined ? undefined : findNodeAtLocation(root, [LIST]);
      return (list?.children ?? []).map(({ offset }) => (text ?? '').slice(0, offset).split('\n').length);
    },
    async add(rule) {
      rewriteTrust(env, (text) => checked(ended(applyEdits(text, appendJson(text, [LIST], rule)))));
    },
    async remove(index, isIt) {
      rewriteTrust(env, (text) => {
        const list = readJson(text)[LIST];
        if (!Array.isArray(list) || !isIt(list[index]))
          throw invalidInput(`This rule is no longer in ${path}: nothing was changed. List the rules again.`);
        return checked(applyEdits(text, removeJson(text, [LIST, index])));
      });
    },
  };
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}
