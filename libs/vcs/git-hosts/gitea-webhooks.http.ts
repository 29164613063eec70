import { z } from 'zod';
import type { HostWebhook } from './git-host.js';
import type { HostRequests } from './host-requests.http.js';
import { hostRows, hostText, parseTotal } from './host-texts.js';

const PAGE_SIZE = 50;
const MAX_PAGES = 20;

/** The host answers with single events of pull requests for `pull_request`. */
const REQUESTED_EVENTS = ['push', 'pull_request'];
const NEEDED_EVENTS = ['push', 'pull_request', 'pull_request_sync'];

const webhook = z.object({
  id: z.int(),
  active: z.boolean(),
  events: hostRows(hostText(255)).nullish(),
  config: z.object({ url: z.string().max(5_000).optional(), content_type: z.string().max(255).optional() }),
});
const webhooks = hostRows(webhook);

export const listWebhooks = async (requests: HostRequests, path: string): Promise<readonly HostWebhook[]> => {
  const listed: HostWebhook[] = [];
  let read = 0;
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { body, headers } = await requests.readWithHeaders(`${path}/hooks?page=${page}&limit=${PAGE_SIZE}`, webhooks);
    listed.push(
      ...body.map(({ id, active, events, config }) => ({
        id: String(id),
        url: config.url ?? '',
        isComplete:
          active && config.content_type === 'json' && NEEDED_EVENTS.every((event) => (events ?? []).includes(event)),
      })),
    );
    read += body.length;
    if (body.length === 0 || read >= (parseTotal(headers) ?? Infinity)) break;
  }
  return listed;
};

export const createWebhook = async (
  requests: HostRequests,
  path: string,
  { url, secret }: { readonly url: string; readonly secret: string },
): Promise<string> => {
  const body = { type: 'gitea', active: true, events: REQUESTED_EVENTS, config: { url, secret, content_type: 'json' } };
  return String((await requests.write('POST', `${path}/hooks`, body, webhook)).id);
};
