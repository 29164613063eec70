import { z } from 'zod';
import { MAX_PULL_REQUESTS, type HostPullRequest, type HostWebhook } from './git-host.js';
import { nullIfUnknown, PAGE_SIZE, readPages } from './host-answers.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText, path as filePath, refName, sha } from './host-texts.js';
import { pullRequestRows, toHostPullRequest } from './pull-request-rows.http.js';

/** The host lists no more files of a pull request. */
const MAX_FILES = 3_000;
const MAX_WEBHOOK_PAGES = 10;

const side = z.object({ ref: refName, sha, repo: z.object({ id: z.int() }).nullish() });

const pullRequests = pullRequestRows(side, side);

type ListedPull = NonNullable<z.infer<typeof pullRequests>[number]>;

/** The host names no repository if a fork was deleted. */
const isFromFork = ({ head, base }: ListedPull): boolean => !head.repo || head.repo.id !== base.repo?.id;

export const listGithubPullRequests = async (
  requests: HostRequests,
  path: string,
): Promise<readonly HostPullRequest[]> => {
  const { rows } = await readPages(MAX_PULL_REQUESTS / PAGE_SIZE, (page) => {
    const query = `state=open&sort=updated&direction=desc&per_page=${PAGE_SIZE}&page=${page}`;
    return requests.readLarge(`${path}/pulls?${query}`, pullRequests);
  });
  return rows.flatMap((row) => (row === null ? [] : [toHostPullRequest(row, isFromFork(row))]));
};

const files = hostRows(z.object({ filename: filePath, previous_filename: filePath.exactOptional() }));

export const listGithubPullRequestFiles = async (
  requests: HostRequests,
  path: string,
  number: number,
): Promise<readonly string[] | null> => {
  const list = await nullIfUnknown(
    readPages(MAX_FILES / PAGE_SIZE, (page) =>
      requests.readLarge(`${path}/pulls/${number}/files?per_page=${PAGE_SIZE}&page=${page}`, files),
    ),
  );
  if (!list?.isComplete) return null;
  return [
    ...new Set(list.rows.flatMap(({ filename, previous_filename: previous }) => [filename, previous ?? filename])),
  ];
};

const EVENTS = ['push', 'pull_request'];

const webhook = z.object({
  id: z.int(),
  active: z.boolean(),
  events: hostRows(hostText(255)),
  config: z.object({ url: z.string().max(5_000).nullish(), content_type: z.string().max(255).nullish() }),
});

export const listGithubWebhooks = async (requests: HostRequests, path: string): Promise<readonly HostWebhook[]> => {
  const { rows } = await readPages(MAX_WEBHOOK_PAGES, (page) =>
    requests.read(`${path}/hooks?per_page=${PAGE_SIZE}&page=${page}`, hostRows(webhook)),
  );
  return rows.map(({ id, active, events, config }) => ({
    id: String(id),
    url: config.url ?? '',
    isComplete: active && config.content_type === 'json' && EVENTS.every((event) => events.includes(event)),
  }));
};

export const createGithubWebhook = async (
  requests: HostRequests,
  path: string,
  { url, secret }: { readonly url: string; readonly secret: string },
): Promise<string> => {
  const config = { url, secret, content_type: 'json', insecure_ssl: '0' };
  const body = { name: 'web', active: true, events: EVENTS, config };
  return String((await requests.write('POST', `${path}/hooks`, body, webhook)).id);
};
