/** `hive rules`: the rules that answer permissions in the human's place. They are written in Emacs, or in the human's file. */
import type { Command } from 'commander';
import type { Hive } from '../application/hive.ts';
import type { ListedRule } from '../application/rules.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { age, type Format, printJson, printRows, remark } from './output.ts';
import { perform } from './program.ts';

export function defineRules(command: Command): void {
  perform(command, rules);
}

async function rules(hive: Hive, { json = false }: Format): Promise<ExitCode> {
  const list = await hive.rules.list();
  if (json) printJson(list);
  else {
    for (const problem of list.problems) remark(problem);
    if (list.rules.length === 0)
      remark(
        `There are no rules in ${list.path}. In Emacs, press A at a permission to make one; docs/agents.md says how to write one.`,
      );
    else
      printRows([
        ['', 'RULE', 'PROJECT', 'USED', 'LAST', 'ENDS', 'WHERE'],
        ...list.rules.map((rule) => rowOf(rule, list.path)),
      ]);
    if (list.proposals.length > 0)
      remark(
        `${list.proposals.length === 1 ? 'One rule is' : `${list.proposals.length} rules are`} proposed: see M-x hive-rules in Emacs.`,
      );
  }
  return list.problems.length === 0 ? EXIT.done : EXIT.error;
}

function rowOf(rule: ListedRule, path: string): string[] {
  const { decision, tool, input, project, uses, last_used_at, expires, expired, line } = rule;
  return [
    decision,
    input === null ? tool : `${tool} ${input}`,
    project ?? '',
    String(uses),
    last_used_at === null ? '' : age(last_used_at),
    expired ? 'ended' : (expires ?? 'never'),
    line === null ? path : `${path}:${line}`,
  ];
}
