import { z } from 'zod';
import { MAX_PULL_REQUESTS, type HostPullRequest } from './git-host.js';
import { nullIfUnknown } from './host-answers.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText, parseTotal, refName, sha } from './host-texts.js';
import { pullRequestRows, toHostPullRequest } from './pull-request-rows.http.js';

const PAGE_SIZE = 50;
const MAX_PAGES = 60;

const side = z.object({ ref: refName, sha: z.string(), repo_id: z.int().nullish(), label: z.string().nullish() });

const pullRequests = pullRequestRows(side.extend({ sha }), side);

type ListedPullRequest = NonNullable<z.infer<typeof pullRequests>[number]>;

/**
 * Returns whether the commits may be from somebody without write access. Everybody who reads a repository can push to
 * `refs/for/…`: such a request names the repository that it is for as its own, and has no label. Its ref is not
 * sufficient: the host replaces it with a branch of the same name.
 */
const isFromFork = ({ head, base }: Pick<ListedPullRequest, 'head' | 'base'>): boolean =>
  !head.repo_id || head.repo_id !== base.repo_id || !head.label || head.ref.startsWith('refs/');

export const listPullRequests = async (requests: HostRequests, path: string): Promise<readonly HostPullRequest[]> => {
  const listed: HostPullRequest[] = [];
  let read = 0;
  for (let page = 1; page <= MAX_PAGES && listed.length < MAX_PULL_REQUESTS; page += 1) {
    const address = `${path}/pulls?state=open&sort=recentupdate&page=${page}&limit=${PAGE_SIZE}`;
    const { body, headers } = await requests.readLargeWithHeaders(address, pullRequests);
    listed.push(...body.flatMap((row) => (row === null ? [] : [toHostPullRequest(row, isFromFork(row))])));
    read += body.length;
    if (body.length === 0 || read >= (parseTotal(headers) ?? Infinity)) break;
  }
  return listed.slice(0, MAX_PULL_REQUESTS);
};

const files = hostRows(z.object({ filename: hostText(4_096), previous_filename: hostText(4_096).optional() }));

export const listPullRequestFiles = async (
  requests: HostRequests,
  path: string,
  number: number,
): Promise<readonly string[] | null> => {
  const paths = new Set<string>();
  let read = 0;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const address = `${path}/pulls/${number}/files?page=${page}&limit=${PAGE_SIZE}`;
    const answer = await nullIfUnknown(requests.readWithHeaders(address, files));
    const total = answer && parseTotal(answer.headers);
    if (answer === null || total === null) return null;
    for (const { filename, previous_filename: previous } of answer.body) paths.add(filename).add(previous ?? filename);
    read += answer.body.length;
    if (read >= total) return [...paths];
    if (answer.body.length === 0) return null;
  }
  return null;
};
