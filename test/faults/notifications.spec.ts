import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import {
  makeNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../support/notification-receiver.js';
import { expectStatus, makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const LONG = 240_000;
const LOCKS = 20;

let product: Product;
let receiver: NotificationReceiver;

beforeAll(async () => {
  receiver = await startReceiver();
  product = await launchProduct(REACHES_RECEIVERS);
  await product.start();
}, LONG);

afterAll(async () => {
  await product?.remove();
  await receiver?.close();
});

const countNotified = (): number =>
  new Set(
    receiver.received
      .filter(({ body }) => body.includes('workspace:'))
      .map(({ headers }) => headers['x-cadastre-delivery']),
  ).size;

describe('a server that is killed while it sends notifications', () => {
  it(
    'sends each of them after its next start, and the same one again only with the same id',
    async () => {
      const api = createApiTestClient(product.url, product.adminToken);
      await makeOrganization(api, 'acme');
      const workspace = await makeWorkspace(api, 'acme', 'app');
      await makeNotificationConfiguration(api, `workspaces/${workspace}`, 'ops', {
        url: receiver.url,
        enabled: true,
        triggers: ['workspace:locked', 'workspace:unlocked'],
      });
      receiver.reset();
      // The requests that run at the time of the kill get no answer.
      receiver.answer(() => undefined);
      for (let n = 0; n < LOCKS; n += 1) {
        expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'why' }), 200);
        expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
      }
      await waitUntil(() => receiver.received.length > 0, 'the first requests have arrived');
      await product.kill();
      const unanswered = receiver.received.map(({ headers, body }) => [headers['x-cadastre-delivery'], body]);
      receiver.reset();
      await product.start();
      await waitUntil(() => countNotified() === 2 * LOCKS, 'every notification has arrived');
      const bodies = new Map(receiver.received.map(({ headers, body }) => [headers['x-cadastre-delivery'], body]));
      for (const [id, body] of unanswered) expect(bodies.get(id)).toBe(body);
    },
    LONG,
  );
});
