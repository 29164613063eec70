import { z } from 'zod';
import type { CommentMethods } from './git-host.js';
import { PAGE_SIZE, readPages, requireRepositoryPath } from './host-answers.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText } from './host-texts.js';

const MAX_PAGES = 10;

const user = z.object({ login: hostText(255) });
const created = z.object({ id: z.int() });

/** Comments that do not fit are null, and left out. */
const comments = hostRows(created.extend({ body: z.string(), user }).nullable().catch(null));

/** Returns the methods for comments of GitHub, and of Gitea, which has the same and lists all comments as each page. */
export const openIssueComments = (requests: HostRequests): CommentMethods => {
  const toPath = (identifier: string, number: number): string =>
    `${requireRepositoryPath(identifier)}/issues/${number}/comments`;
  return {
    findComment: async (identifier, number, mark) => {
      const { login } = await requests.read('/user', user);
      const path = toPath(identifier, number);
      let first: number | undefined;
      const { rows } = await readPages(MAX_PAGES, async (page) => {
        const read = await requests.readLarge(`${path}?per_page=${PAGE_SIZE}&page=${page}`, comments);
        const firstOfPage = read.find((row) => row !== null)?.id;
        if (page > 1 && firstOfPage === first) return [];
        first = firstOfPage;
        return read;
      });
      const comment = rows.find((row) => row?.user.login === login && row.body.startsWith(mark));
      return comment ? String(comment.id) : null;
    },
    createComment: async (identifier, number, body) =>
      String((await requests.write('POST', toPath(identifier, number), { body }, created)).id),
    updateComment: async (identifier, _, id, body) => {
      const path = `${requireRepositoryPath(identifier)}/issues/comments/${encodeURIComponent(id)}`;
      await requests.write('PATCH', path, { body }, created);
    },
  };
};
