// A hook that says nothing but the name of what carries it, between ⟦ and ⟧. FOLDER is its argument; with the word `wake` it is
// the waker: it waits for a file there, and ends with the code that wakes an idle session.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilThere } from './until-there.mjs';

const [folder, wake] = process.argv.slice(2);
const first = (name) => {
  try {
    mkdirSync(join(folder, name.replaceAll(' ', '-')));
    return true;
  } catch {
    return false;
  }
};

if (wake !== undefined) {
  await untilThere(folder, 'wake');
  if (!first('woken')) process.exit(0);
  process.stderr.write('⟦waker⟧');
  process.exit(2);
}

const event = JSON.parse(readFileSync(0, 'utf8'));
const { hook_event_name: name, tool_name: tool, tool_input: input = {}, source } = event;
const command = String(input.command ?? '');
const specific = (fields) => ({ hookSpecificOutput: { hookEventName: name, ...fields } });
const context = (how = '') => specific({ additionalContext: `⟦${name}${how}: context⟧` });
const block = () => ({ decision: 'block', reason: `⟦${name}: reason⟧` });

function said() {
  switch (name) {
    case 'SessionStart':
      return context(` ${source}`);
    case 'PreToolUse':
      if (command.includes('denied'))
        return specific({ permissionDecision: 'deny', permissionDecisionReason: '⟦PreToolUse: deny⟧' });
      // The client's other tools, such as the one that begins a subagent, have hooks of their own.
      return tool === 'Read' || tool === 'Bash' ? context() : null;
    case 'PostToolUse':
      if (command.includes('blocked')) return block();
      return tool === 'Bash' ? context() : null;
    case 'PermissionRequest':
      if (tool === 'AskUserQuestion') {
        const answers = Object.fromEntries(
          input.questions.map(({ question }) => [question, '⟦dialog: answer⟧']),
        );
        return specific({ decision: { behavior: 'allow', updatedInput: { ...input, answers } } });
      }
      return specific({ decision: { behavior: 'deny', message: '⟦PermissionRequest: deny⟧' } });
    case 'Stop':
    case 'SubagentStop':
      // Once for each form; then the agent may stop.
      if (first(`${name} reason`)) return block();
      return process.env.CARRIES_CONTEXT === '1' && first(`${name} context`) ? context() : null;
    default:
      return context();
  }
}

const output = said();
if (output !== null) process.stdout.write(JSON.stringify(output));
