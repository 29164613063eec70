import { z } from 'zod';
import type { CommentMethods } from './git-host.js';
import { PAGE_SIZE, readPages } from './host-answers.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText } from './host-texts.js';

const MAX_PAGES = 10;

const user = z.object({ username: hostText(255) });
const created = z.object({ id: z.int() });

/** Notes that do not fit are null, and left out. */
const notes = hostRows(created.extend({ body: z.string(), author: user }).nullable().catch(null));

/** Returns the methods for comments of GitLab. `getPath`: returns the path of a project. */
export const openMergeRequestNotes = (
  requests: HostRequests,
  getPath: (identifier: string) => string,
): CommentMethods => {
  const toPath = (identifier: string, number: number): string =>
    `${getPath(identifier)}/merge_requests/${number}/notes`;
  return {
    findComment: async (identifier, number, mark) => {
      const { username } = await requests.read('/user', user);
      const path = toPath(identifier, number);
      const { rows } = await readPages(MAX_PAGES, (page) =>
        requests.readLarge(`${path}?per_page=${PAGE_SIZE}&page=${page}`, notes),
      );
      const note = rows.find((row) => row?.author.username === username && row.body.startsWith(mark));
      return note ? String(note.id) : null;
    },
    createComment: async (identifier, number, body) =>
      String((await requests.write('POST', toPath(identifier, number), { body }, created)).id),
    updateComment: async (identifier, number, id, body) => {
      await requests.write('PUT', `${toPath(identifier, number)}/${encodeURIComponent(id)}`, { body }, created);
    },
  };
};
