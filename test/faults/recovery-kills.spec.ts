import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#platform/host';
import type { RecordedEvent } from '#platform/kernel';
import { DATA } from '../support/folders.js';
import { startKafka, type TestKafka } from '../support/kafka/index.js';
import { copyPreparedPostgres } from '../support/prepared-site.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { pathOfProvider, pathOfProviders, pathOfVersions, providerBody, versionBody } from '../support/registry.js';
import { countRounds, scaleLimit } from '../support/rounds.js';
import { makeOrganization, makeOrganizationToken, resource, type SeededOrganization } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';
import { quiet } from '../support/silent-logger.js';
import { createVariableBody } from '../support/variables.js';
import { sendClientRequest, type ClientRequest, type ClientTarget } from './clients.js';
import { keepRunning, type KeptProcess } from './kept-process.js';
import { expectGaplessStreams, expectToAgree, RequestLedger } from './ledger.js';
import { expectTopicsToHave, expectTrailToHave, readLog, readTrail } from './recorded-log.js';

/** The number of targets in `npm test`. */
const KILLS = countRounds(6);
const LONG = scaleLimit(300_000);
const PREFIX = 'site';
/** How often each resource is deleted and recovered before its purge. */
const RECOVERIES = 2;
const ORGANIZATION = '/api/v2/organizations/acme';

type KilledKind = {
  /** The beginning of the types of its events. */
  readonly events: string;
  readonly create: (name: string) => ClientRequest;
  /** What belongs to it, with the type of the event. */
  readonly addContent: (id: string, name: string) => readonly [event: string, request: ClientRequest];
  readonly pathOf: (id: string, name: string) => string;
};

const post = (path: string, body?: unknown): ClientRequest => ({ method: 'POST', path, body });
const secret = createVariableBody({ key: 'PASSWORD', category: 'env', value: 'hunter2', sensitive: true });

const KINDS: readonly KilledKind[] = [
  {
    events: 'Workspace',
    create: (name) => post(`${ORGANIZATION}/workspaces`, resource('workspaces', { name })),
    addContent: (id) => ['VariableCreated', post(`/api/v2/workspaces/${id}/vars`, secret)],
    pathOf: (id) => `/api/v2/workspaces/${id}`,
  },
  {
    events: 'Project',
    create: (name) => post(`${ORGANIZATION}/projects`, resource('projects', { name })),
    addContent: (id, name) => [
      'VariableSetCreated',
      post(`${ORGANIZATION}/varsets`, resource('varsets', { name }, { parent: { data: { type: 'projects', id } } })),
    ],
    pathOf: (id) => `/api/v2/projects/${id}`,
  },
  {
    events: 'VariableSet',
    create: (name) => post(`${ORGANIZATION}/varsets`, resource('varsets', { name })),
    addContent: (id) => ['VariableCreated', post(`/api/v2/varsets/${id}/relationships/vars`, secret)],
    pathOf: (id) => `/api/v2/varsets/${id}`,
  },
  {
    events: 'RegistryProvider',
    create: (name) => post(pathOfProviders('acme'), providerBody('acme', name)),
    addContent: (_, name) => [
      'RegistryProviderVersionCreated',
      post(pathOfVersions('acme', name), versionBody('1.0.0')),
    ],
    pathOf: (_, name) => pathOfProvider('acme', name),
  },
];

/** Statuses of requests that come too early or too late, because nobody knows the outcome of an earlier one. */
const REFUSALS = [404, 409, 422];

/** Clients that delete, recover and purge resources, and note the outcome of each request. */
class RecoveringClients {
  readonly ledger = new RequestLedger();
  private isStopping = false;
  private running: Promise<unknown> = Promise.resolve();

  constructor(private readonly target: ClientTarget) {}

  start(): void {
    this.running = Promise.all(KINDS.map((kind) => this.work(kind)));
    this.running.catch(() => undefined);
  }

  /** Resolves when this number of further writes is acknowledged. Rejects if a client got an unexpected response. */
  async acknowledged(more: number): Promise<void> {
    await Promise.race([this.ledger.more(more), this.running]);
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async work(kind: KilledKind): Promise<void> {
    for (let n = 1; !this.isStopping; n += 1) {
      const name = `${kind.events.toLowerCase()}-${n}`;
      const id = await this.send(`${kind.events}Created`, null, kind.create(name));
      if (id === null) continue;
      const [event, request] = kind.addContent(id, name);
      await this.send(event, null, request);
      const remove = { method: 'DELETE', path: kind.pathOf(id, name) };
      for (let turn = 0; turn < RECOVERIES; turn += 1) {
        await this.send(`${kind.events}Deleted`, id, remove);
        await this.send(`${kind.events}Recovered`, id, post(`/api/v2/recoverable-items/${id}/actions/recover`));
      }
      // Some stay as they are.
      if (n % 3 === 0) continue;
      await this.send(`${kind.events}Deleted`, id, remove);
      if (n % 3 === 1) continue;
      await this.send(`${kind.events}Purged`, id, { method: 'DELETE', path: `/api/v2/recoverable-items/${id}` });
    }
  }

  /** Returns the id in the response, if there is one. */
  private async send(event: string, stream: string | null, clientRequest: ClientRequest): Promise<string | null> {
    const request = randomUUID();
    await this.target.up();
    const answer = await sendClientRequest(this.target, request, clientRequest).catch(() => null);
    if (!answer || answer.status === 503) {
      this.ledger.note({ request, event, stream, outcome: 'unknown' });
      return null;
    }
    const { status, text } = answer;
    const isRefused = REFUSALS.includes(status);
    if (!isRefused && status >= 300)
      throw new Error(`${clientRequest.method} ${clientRequest.path} was answered ${status}: ${text}`);
    const body = text === '' ? null : JSON.parse(text);
    const id = isRefused ? null : ((body?.data?.id ?? null) as string | null);
    this.ledger.note({ request, event, stream: stream ?? id, outcome: isRefused ? 'refused' : 'acknowledged' });
    return id;
  }
}

let site: string;
let postgres: EmbeddedPostgres;
let kafka: TestKafka;
let gateway: Product;
let settings: Readonly<Record<string, string>>;
let organization: SeededOrganization;
let gate = Promise.withResolvers<void>();
const products: Product[] = [];
const keptProcesses: KeptProcess[] = [];

const launch = async (): Promise<Product> => {
  const product = await launchProduct(settings);
  products.push(product);
  return product;
};

const keep = async (name: 'projector' | 'publisher'): Promise<KeptProcess> => {
  const product = await launch();
  const process = keepRunning(() => product.spawn(name));
  keptProcesses.push(process);
  return process;
};

const killGateway = async (): Promise<void> => {
  gate = Promise.withResolvers<void>();
  await gateway.kill();
  await gateway.start('gateway');
  gate.resolve();
};

beforeAll(async () => {
  site = await mkdtemp(join(DATA, 'cadastre-recovery-'));
  const encryptionKey = await copyPreparedPostgres(site);
  [postgres, kafka] = await Promise.all([
    startEmbeddedPostgres({ folder: join(site, 'postgres'), logger: quiet }),
    startKafka(),
  ]);
  settings = {
    DATABASE_URL: postgres.url,
    CADASTRE_ENCRYPTION_KEY: encryptionKey,
    CADASTRE_PUBLIC_URL: 'http://localhost:8443',
    CADASTRE_TOPIC_PREFIX: PREFIX,
    KAFKA_BROKERS: kafka.brokers.join(),
  };
  gateway = await launch();
  await gateway.start('gateway');
  organization = await makeOrganization(createApiTestClient(gateway.url, gateway.adminToken), 'acme');
  gate.resolve();
}, LONG);

afterAll(async () => {
  for (const one of keptProcesses) await one.stop();
  for (const product of products) await product.remove();
  await kafka?.stop();
  await postgres?.stop();
  await rm(site, { recursive: true, force: true });
}, LONG);

const runSql = async <T extends pg.QueryResultRow>(statement: string): Promise<readonly T[]> => {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query<T>(statement)).rows;
  } finally {
    await client.end();
  }
};

/** Returns what happened to each resource, by its id, such as `Created Deleted Recovered`. */
const listLives = (log: readonly RecordedEvent[]): ReadonlyMap<string, string> => {
  const lives = new Map<string, string>();
  for (const { type, stream } of log) {
    const kind = KINDS.find(({ events }) => type.startsWith(events));
    const change = kind && /^(?:Created|Deleted|Recovered|Purged)$/.exec(type.slice(kind.events.length))?.[0];
    if (change) lives.set(stream, [...(lives.get(stream)?.split(' ') ?? []), change].join(' '));
  }
  return lives;
};

/** A resource that is not recovered twice for one deletion, and not after its purge. */
const LIFE = /^Created(?: Deleted Recovered)*(?: Deleted(?: Purged)?)?$/;

const countLeftovers = async (): Promise<number> => {
  const [row] = await runSql<{ count: number }>(`
    select (select count(*) from vault.secrets s
             where s.id like 'var-%' and not exists (select from views.variables v where v.id = s.id))::int
         + (select count(*) from views.registry_provider_versions v
             where not exists (select from views.registry_providers p where p.id = v.provider)
               and not exists (select from views.deleted_registry_providers p where p.id = v.provider))::int as count`);
  return row?.count ?? -1;
};

/** Returns the ids of everything that can be recovered. */
const listDeleted = async (): Promise<readonly string[]> => {
  const rows = await runSql<{ id: string }>(`
    select id from views.deleted_workspaces union all select id from views.deleted_projects
     union all select id from views.deleted_variable_sets where deleted_with is null
     union all select id from views.deleted_registry_providers`);
  return rows.map(({ id }) => id).toSorted();
};

describe('kill -9 of gateway and projector while resources are deleted, recovered and purged', () => {
  it(
    'recovers nothing twice, leaves nothing of what is purged, and publishes every event',
    async () => {
      const projector = await keep('projector');
      await keep('publisher');
      const api = createApiTestClient(gateway.url, gateway.adminToken);
      const trailToken = await makeOrganizationToken(api, 'acme');
      const earlier = new Set((await readLog(postgres.url)).map(({ id }) => id));
      const clients = new RecoveringClients({ url: gateway.url, token: gateway.adminToken, up: () => gate.promise });
      clients.start();
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await clients.acknowledged(randomInt(1, 60));
        if (kill % 2 === 0) projector.kill();
        else await killGateway();
      }
      await clients.acknowledged(60);
      await clients.stop();

      await waitUntil(async () => (await countLeftovers()) === 0, 'secrets and versions of what is purged are gone');
      const log = await readLog(postgres.url);
      const added = log.filter(({ id }) => !earlier.has(id));
      expectToAgree(clients.ledger, added);
      expectGaplessStreams(log);
      const lives = listLives(added);
      expect([...lives].filter(([, life]) => !LIFE.test(life))).toEqual([]);
      const ends = Map.groupBy(lives, ([, life]) => life.split(' ').at(-1) ?? '');
      expect([...ends.keys()]).toEqual(expect.arrayContaining(['Deleted', 'Purged', 'Recovered']));
      const deleted = ends.get('Deleted') ?? [];
      expect(await listDeleted()).toEqual(deleted.map(([id]) => id).toSorted());
      expectTrailToHave(await readTrail(gateway.url, trailToken), log, organization.id);
      const verified = await gateway.run('verify');
      expect(verified).toMatchObject({ code: 0, stdout: expect.not.stringMatching(/differ/i) });
      await expectTopicsToHave(kafka.brokers, PREFIX, log);
    },
    LONG,
  );
});
