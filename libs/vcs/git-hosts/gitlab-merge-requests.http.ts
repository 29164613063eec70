import { z } from 'zod';
import { MAX_PULL_REQUESTS, type HostPullRequest, type HostStatus, type HostWebhook } from './git-host.js';
import { nullIfUnknown, PAGE_SIZE, readPages } from './host-answers.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText, path as filePath, refName, sha, shorten, webAddress } from './host-texts.js';

const MAX_WEBHOOK_PAGES = 20;
const MAX_TITLE_CHARACTERS = 500;
/** The limit of a merge request is from 1,000 to 3,000 files, as the administrators of the host set it. */
const MAX_FILES = 1_000;

/** Merge requests that do not fit, such as those without a commit, are null, and left out. */
const mergeRequests = hostRows(
  z
    .object({
      iid: z.int().positive(),
      title: z.string(),
      web_url: webAddress,
      sha,
      source_branch: refName,
      target_branch: refName,
      source_project_id: z.int().nullish(),
      target_project_id: z.int(),
      author: z.object({ username: hostText(255) }).nullish(),
    })
    .nullable()
    .catch(null),
);

type ListedMergeRequest = NonNullable<z.infer<typeof mergeRequests>[number]>;

const toPullRequest = (row: ListedMergeRequest): HostPullRequest => ({
  number: row.iid,
  title: shorten(row.title, MAX_TITLE_CHARACTERS),
  url: row.web_url,
  sha: row.sha,
  branch: row.source_branch,
  baseBranch: row.target_branch,
  isFork: row.source_project_id !== row.target_project_id,
  author: row.author?.username ?? null,
});

export const listMergeRequests = async (requests: HostRequests, path: string): Promise<readonly HostPullRequest[]> => {
  const { rows } = await readPages(MAX_PULL_REQUESTS / PAGE_SIZE, (page) => {
    const query = `state=opened&order_by=updated_at&sort=desc&per_page=${PAGE_SIZE}&page=${page}`;
    return requests.readLarge(`${path}/merge_requests?${query}`, mergeRequests);
  });
  return rows.flatMap((row) => (row === null ? [] : [toPullRequest(row)]));
};

const diffs = hostRows(z.object({ old_path: filePath, new_path: filePath }));

export const listMergeRequestFiles = async (
  requests: HostRequests,
  path: string,
  number: number,
): Promise<readonly string[] | null> => {
  const list = await nullIfUnknown(
    readPages(MAX_FILES / PAGE_SIZE, (page) =>
      requests.readLarge(`${path}/merge_requests/${number}/diffs?per_page=${PAGE_SIZE}&page=${page}`, diffs),
    ),
  );
  return list?.isComplete ? [...new Set(list.rows.flatMap((row) => [row.new_path, row.old_path]))] : null;
};

const EVENTS = { push_events: true, tag_push_events: true, merge_requests_events: true };

const webhook = z.object({
  id: z.int(),
  url: z.string().max(5_000),
  push_events: z.boolean(),
  tag_push_events: z.boolean(),
  merge_requests_events: z.boolean(),
  /** The host disables webhooks whose deliveries fail. */
  alert_status: z.string().nullish(),
});

export const listProjectHooks = async (requests: HostRequests, path: string): Promise<readonly HostWebhook[]> => {
  const { rows } = await readPages(MAX_WEBHOOK_PAGES, (page) =>
    requests.read(`${path}/hooks?per_page=${PAGE_SIZE}&page=${page}`, hostRows(webhook)),
  );
  return rows.map(({ id, url, push_events, tag_push_events, merge_requests_events, alert_status }) => ({
    id: String(id),
    url,
    isComplete: push_events && tag_push_events && merge_requests_events && alert_status !== 'disabled',
  }));
};

export const createProjectHook = async (
  requests: HostRequests,
  path: string,
  { url, secret }: { readonly url: string; readonly secret: string },
): Promise<string> => {
  const body = { url, token: secret, enable_ssl_verification: true, ...EVENTS };
  return String((await requests.write('POST', `${path}/hooks`, body, webhook)).id);
};

const STATES = { pending: 'pending', success: 'success', failure: 'failed', error: 'failed' } as const;

const statuses = hostRows(z.object({ status: z.string() }));

/** The host refuses a status that is the present one already. */
export const setCommitStatus = async (
  requests: HostRequests,
  path: string,
  id: string,
  { state, context, description, url }: HostStatus,
): Promise<void> => {
  const commit = encodeURIComponent(id);
  const present = await requests.read(
    `${path}/repository/commits/${commit}/statuses?name=${encodeURIComponent(context)}`,
    statuses,
  );
  if (present[0]?.status === STATES[state]) return;
  const body = { state: STATES[state], name: context, description, target_url: url };
  await requests.write('POST', `${path}/statuses/${commit}`, body, z.unknown());
};
