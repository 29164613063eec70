import { expect } from '@jest/globals';
import type { Product } from '../support/product.js';
import { makeOrganization, makeOrganizationToken, type SeededOrganization } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { Clients } from './clients.js';
import { expectGaplessStreams, expectToAgree } from './ledger.js';
import { expectTrailToHave, readLog, readTrail } from './recorded-log.js';
import type { RecordedEvent } from '#platform/kernel';

/** Clients that work on a product, and everything that is needed to compare their ledger with the log. */
export type BackgroundLoad = {
  readonly product: Product;
  readonly databaseUrl: () => Promise<string>;
  readonly clients: Clients;
  readonly organization: SeededOrganization;
  readonly trailToken: string;
  /** Ids of events that were appended before the clients started. */
  readonly earlier: ReadonlySet<string>;
};

/** The pause between the turns of a client. Without it, the test has more writes to check at its end. */
const PAUSE_MS = 20;

export const startBackgroundLoad = async (
  product: Product,
  databaseUrl: () => Promise<string>,
  up: () => Promise<void> = () => Promise.resolve(),
  pauseMs = PAUSE_MS,
): Promise<BackgroundLoad> => {
  const api = createApiTestClient(product.url, product.adminToken);
  const organization = await makeOrganization(api, 'acme');
  const trailToken = await makeOrganizationToken(api, 'acme');
  const earlier = new Set((await readLog(await databaseUrl())).map(({ id }) => id));
  const clients = new Clients({ url: product.url, token: product.adminToken, up }, 'acme', pauseMs);
  clients.start(4);
  return { product, databaseUrl, clients, organization, trailToken, earlier };
};

/** Expects each acknowledged state to be downloadable with the same bytes. */
const expectUploadsToBeStored = async ({ product, clients: { uploads } }: BackgroundLoad): Promise<void> => {
  const headers = { authorization: `Bearer ${product.adminToken}` };
  expect(uploads.length).toBeGreaterThan(0);
  for (const { stateVersion, bytes } of uploads) {
    const response = await fetch(`${product.url}/api/v2/state-versions/${stateVersion}/download`, { headers });
    const text = await response.text();
    expect({ stateVersion, status: response.status, text }).toEqual({ stateVersion, status: 200, text: String(bytes) });
  }
};

/**
 * Expects that nothing is lost, except on Kafka: every acknowledged write is in the log once and in the trail
 * once, and the views match the log. Resolves to the log.
 */
export const expectNothingLost = async (work: BackgroundLoad): Promise<readonly RecordedEvent[]> => {
  const { product, clients, organization, trailToken, earlier } = work;
  const written = await readLog(await work.databaseUrl());
  expectToAgree(
    clients.ledger,
    written.filter(({ id }) => !earlier.has(id)),
  );
  await expectUploadsToBeStored(work);
  // Reads the log again, because the downloads were recorded.
  const log = await readLog(await work.databaseUrl());
  expectGaplessStreams(log);
  expectTrailToHave(await readTrail(product.url, trailToken), log, organization.id);
  const verified = await product.run('verify');
  expect(verified).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/differ/i) });
  expect(verified.stdout).toMatch(/match the log/);
  return log;
};
