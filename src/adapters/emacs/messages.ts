/** The shared buffer over JSON-RPC: posting and reading. */
import type { z } from 'zod';
import type { Hive } from '../../application/hive.ts';
import { reachedBy } from '../../application/messages.ts';
import { wrongStore } from '../../application/prompts.ts';
import { humanAuthor, MESSAGE_LIMITS } from '../../domain/messages.ts';
import { projectName } from '../../domain/preferences.ts';
import { messageListParams, postParams } from '../../schemas/messages.ts';
import { FRAME_BYTES } from './frames.ts';
import { acts, type EventNotifier, type Methods, subjectsOf, takes } from './method.ts';

const DEFAULT_PAGE = 200;

/** The project of a buffer, from its identity or from a directory in it; null for everyone's buffer. */
function projectOf(
  hive: Hive,
  { directory, project_dir }: Pick<z.infer<typeof postParams>, 'directory' | 'project_dir'>,
): { project: string; project_dir: string } | null {
  if (project_dir !== undefined) return { project: projectName(project_dir), project_dir };
  return directory === undefined ? null : hive.findProject(directory);
}

export const messageMethods = {
  'message/post': acts(
    postParams,
    `Posts a message as the human; \`body\` has at most ${MESSAGE_LIMITS.bodyBytes / 1024} KiB. A frame sent again under its \`message_id\` is the same message. So is a block (\`heading\`) whose name, time and body are stored already; times that differ by the offset of a time zone count as equal.`,
    async ({ by, store_id, ...request }, { hive, via }) => {
      if (store_id !== undefined && store_id !== hive.store_id)
        throw wrongStore(store_id, hive.store_id, 'message');
      const posted = await hive.messages.post({
        ...request,
        author: humanAuthor(via, projectOf(hive, request)),
        by,
      });
      const { message, existing } = posted;
      return { message, existing, ...reachedBy(posted) };
    },
  ),

  'message/list': takes(
    messageListParams,
    'Returns messages of a project: the latest, or those `after` or `before` a cursor. 200 per page by default (`limit`).',
    async ({ directory, project_dir, from, limit = DEFAULT_PAGE, ...filter }, { hive }) => {
      const found = projectOf(hive, { directory, project_dir });
      const { items, next_cursor, previous_cursor, more } = await hive.messages.readFitting(
        { ...filter, project_dir: found?.project_dir, from_handle: from, limit },
        FRAME_BYTES,
      );
      return {
        messages: items,
        next_cursor,
        previous_cursor,
        more,
        project: found?.project ?? null,
        project_dir: found?.project_dir ?? null,
      };
    },
  ),
} satisfies Methods;

export const notifyMessages: EventNotifier = async (events, { hive }, notify) => {
  for (const message_id of subjectsOf(events, (type) => type === 'message/posted')) {
    const message = await hive.messages.find(message_id);
    if (message !== undefined) notify('message/posted', message);
  }
};
