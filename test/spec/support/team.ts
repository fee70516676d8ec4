/** A human at an Emacs, another desk, and three agents, all on one store: who takes part in a shared buffer. */
import { type Shell, shell } from '../../support/cli.ts';
import { type Sidecar, startSidecar } from '../../support/sidecar.ts';
import { type Agent, type Loose, startAgent } from './agents.ts';
import { type Editor, startEditor } from './editor.ts';

export interface Team {
  emacs: Editor;
  store: string;
  /** The human's shell. */
  human: Shell;
  desk: Sidecar;
  abc: Agent;
  def: Agent;
  xyz: Agent;
}

/** Starts them; they end with the test file. */
export async function startTeam(): Promise<Team> {
  const emacs = await startEditor();
  const { store } = emacs;
  const desk = await startSidecar(store);
  const [abc, def, xyz] = await Promise.all([
    startAgent(store, 'abc12-session'),
    startAgent(store, 'def34-session'),
    startAgent(store, 'xyz56-session'),
  ]);
  return { emacs, store, human: shell(store), desk, abc, def, xyz };
}

/** Clears every mention, and ends every chain of replies with a message of the human. */
export async function clearMentions({ desk, abc, def, xyz }: Team): Promise<void> {
  for (const { handle } of [abc, def, xyz])
    await desk.request('mention/process', { session: handle, all: true, by: 'Ada' });
  await desk.request('mention/process', { all: true, by: 'Ada' });
  await desk.request('message/post', { body: 'Go on.', scope: 'all', by: 'Ada' });
}

/** Posts a message, with its mentions. */
export const post = (from: Agent, body: string, more: object = {}): Promise<Loose> =>
  from.use('hivemind_post', { body, ...more });

/** The mentions that an agent has not processed. */
export const waiting = async (agent: Agent): Promise<Loose[]> =>
  (await agent.use('hivemind_get_unprocessed_mentions')).mentions;
