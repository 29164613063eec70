import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { listTopics } from '#storage/message-log';
import { listStateTopics } from '#api/state-topics';
import { eventRegistry } from '../../apps/modules.js';
import { publishedResources } from '../../apps/published-resources.js';
import { readTopic, readWholeTopic, startKafka, type TestKafka } from '../support/kafka/index.js';
import { newNotificationConfiguration } from '../support/notification-receiver.js';
import { waitForTopics, withoutRedeliveries } from '../support/kafka/topic-reader.js';
import { startOtlpReceiver, type OtlpReceiver } from '../support/otlp-receiver.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeToken, makeWorkspace, resource } from '../support/seeds.js';
import { createApiTestClient, type ApiResponse, type ApiTestClient } from '../support/server.js';
import { useSecretsOfOpenId } from './secrets.oidc.js';
import { newStateVersion, stateFile } from '../support/state-file.js';

// `useEverySecret` uses every kind of secret against the built product at the most verbose log level. Then each test
// searches one kind of output for all secrets.

const LONG = 240_000;

/** All secrets that were used, by name. */
const secrets = new Map<string, string>();
const keep = (name: string, secret: string): string => {
  secrets.set(name, secret);
  return secret;
};
const invented = (name: string): string => keep(name, randomBytes(18).toString('hex'));

/** Returns the secret in the encodings in which it could appear. */
const encodingsOf = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64').replaceAll('=', ''), bytes.toString('hex'), encodeURIComponent(secret)];
};

const findSecrets = (text: string): string[] =>
  [...secrets].filter(([, secret]) => encodingsOf(secret).some((form) => text.includes(form))).map(([name]) => name);

let kafka: TestKafka;
let collector: OtlpReceiver;
let product: Product;
/** Responses that refused a request with a secret in it. */
const refusals: ApiResponse[] = [];

const useEverySecret = async (api: ApiTestClient): Promise<void> => {
  await makeOrganization(api, 'acme');
  const workspace = await makeWorkspace(api, 'acme', 'one', { 'execution-mode': 'remote' });
  const account = expectStatus(await api.get('/api/v2/account/details'), 200).body.data.id as string;
  const team = expectStatus(
    await api.post('/api/v2/organizations/acme/teams', resource('teams', { name: 'core' })),
    201,
  );
  const pool = expectStatus(
    await api.post(
      '/api/v2/organizations/acme/agent-pools',
      resource('agent-pools', { name: 'pool', 'remote-runs-enabled': true }),
    ),
    201,
  );
  const tokens: readonly [string, string][] = [
    ['user token', `users/${account}/authentication-tokens`],
    ['team token', `teams/${team.body.data.id}/authentication-token`],
    ['organization token', 'organizations/acme/authentication-token'],
    ['audit token', 'organizations/acme/authentication-token?token=audit-trails'],
  ];
  for (const [name, path] of tokens) keep(name, await makeToken(api, `/api/v2/${path}`));
  const body = { data: { type: 'authentication-tokens', attributes: { description: 'for agents' } } };
  for (const [name, path] of [
    ['named team token', `teams/${team.body.data.id}/authentication-tokens`],
    ['agent token', `agent-pools/${pool.body.data.id}/authentication-tokens`],
  ] as const) {
    keep(name, expectStatus(await api.post(`/api/v2/${path}`, body), 201).body.data.attributes.token as string);
  }
  for (const token of secrets.values()) await api.as(token).get('/api/v2/organizations/acme/workspaces');
  // An invalid token could be a password that somebody pasted.
  refusals.push(await api.as(invented('bad token')).get('/api/v2/account/details'));

  const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    .privateKey.export({ type: 'pkcs1', format: 'pem' })
    .toString();
  // A line from the middle, so that a copy of a part is found, too.
  keep('private key', pem.split('\n')[3] ?? '');
  const key = resource('ssh-keys', { name: 'deploy', value: pem });
  expectStatus(await api.post('/api/v2/organizations/acme/ssh-keys', key), 201);
  refusals.push(
    await api.post(
      '/api/v2/organizations/acme/ssh-keys',
      resource('ssh-keys', { name: 'x', value: `ssh-rsa ${invented('the wrong half')}` }),
    ),
  );

  const notifications = `/api/v2/workspaces/${workspace}/notification-configurations`;
  const notify = (secret: string, more: object = {}): object =>
    newNotificationConfiguration('hook', {
      token: invented(`${secret} of a webhook`),
      url: `http://127.0.0.1:9/${invented(`path of the ${secret}`)}`,
      ...more,
    });
  const hook = expectStatus(await api.post(notifications, notify('token')), 201).body.data.id as string;
  refusals.push(
    await api.post(notifications, notify('unreachable token', { enabled: true })),
    await api.post(notifications, notify('wrong token', { 'destination-type': 'slack' })),
    await api.post(`/api/v2/notification-configurations/${hook}/actions/verify`),
  );

  const variable = (value: string, more: object = {}): object =>
    resource('vars', { key: 'PASSWORD', value, category: 'env', sensitive: true, ...more });
  const vars = `/api/v2/workspaces/${workspace}/vars`;
  const variableId = expectStatus(await api.post(vars, variable(invented('variable'))), 201).body.data.id as string;
  expectStatus(await api.patch(`${vars}/${variableId}`, variable(invented('changed variable'))), 200);
  refusals.push(
    await api.post(vars, variable(invented('taken variable'))),
    await api.post(vars, variable(invented('wrong variable'), { category: 'nonsense' })),
    await api.patch(`${vars}/${variableId}`, variable(invented('made readable'), { sensitive: false })),
  );
  const set = expectStatus(
    await api.post('/api/v2/organizations/acme/varsets', resource('varsets', { name: 'set', global: true })),
    201,
  ).body.data.id as string;
  expectStatus(await api.post(`/api/v2/varsets/${set}/relationships/vars`, variable(invented('set variable'))), 201);

  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const state = stateFile({ outputs: { out: { value: invented('state output'), type: 'string', sensitive: true } } });
  const versions = `/api/v2/workspaces/${workspace}/state-versions`;
  expectStatus(await api.post(versions, newStateVersion(state, { inline: true })), 201);
  refusals.push(
    await api.post(versions, newStateVersion(stateFile({ lineage: 'another', serial: 9 }), { inline: true })),
    await api.post(versions, resource('state-versions', { serial: 3, md5: 'x', state: btoa(invented('no state')) })),
  );
  expectStatus(await api.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
  expectStatus(await api.get(`/api/v2/workspaces/${workspace}?include=outputs`), 200);

  const configuration = expectStatus(
    await api.post(`/api/v2/workspaces/${workspace}/configuration-versions`, resource('configuration-versions')),
    201,
  ).body.data.attributes['upload-url'] as string;
  const link = new URL(configuration);
  keep('signed link', link.search.slice(1) || (link.pathname.split('/').at(-1) ?? ''));
  expectStatus(
    await api.as(null).put(link.pathname + link.search, gzipSync(invented('configuration'), { level: 0 })),
    200,
  );
  const run = expectStatus(
    await api.post(
      '/api/v2/runs',
      resource(
        'runs',
        { message: 'try', variables: [{ key: 'plain', value: '"1"' }] },
        { workspace: { data: { type: 'workspaces', id: workspace } } },
      ),
    ),
    201,
  ).body.data.id as string;
  const agent = api.as(secrets.get('agent token') ?? null);
  const asRun = api.as(keep('run token', await makeToken(agent, `/api/v2/runs/${run}/authentication-tokens`)));
  expectStatus(await asRun.get(`/api/v2/workspaces/${workspace}/current-state-version`), 200);
  refusals.push(
    await asRun.get(`/api/v2/runs/${run}`),
    await asRun.post(versions, newStateVersion(stateFile({ serial: 9 }), { inline: true })),
  );
  expectStatus(await api.post(`/api/v2/runs/${run}/actions/cancel`), 202);
  refusals.push(await asRun.get(`/api/v2/workspaces/${workspace}`));
  for (const name of ['team token', 'organization token', 'agent token']) {
    await api.as(secrets.get(name) ?? null).post('/api/v2/organizations', { data: { attributes: { name: '' } } });
  }
};

/** Returns all rows of all tables as text. */
const dumpDatabase = async (url: string): Promise<ReadonlyMap<string, string>> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`);
    const dump = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string | null }>(
        `select string_agg(t::text, chr(10)) as text from ${name} t`,
      );
      dump.set(name, rows[0]?.text ?? '');
    }
    return dump;
  } finally {
    await client.end();
  }
};

const filesBelow = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

let database: ReadonlyMap<string, string>;
let topics: string;
let output: string;

const readMetrics = async ({ url }: Product): Promise<string> => (await fetch(`${url}/metrics`)).text();

beforeAll(async () => {
  kafka = await startKafka();
  collector = await startOtlpReceiver();
  product = await launchProduct({
    LOG_LEVEL: 'trace',
    KAFKA_BROKERS: kafka.brokers.join(','),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  keep('administrator’s token', product.adminToken);
  await product.start();
  const api = createApiTestClient(product.url, product.adminToken);
  await useEverySecret(api);
  await useSecretsOfOpenId(product, api, keep);
  database = await dumpDatabase(await product.databaseUrl());
  const names = listTopics(eventRegistry, 'cadastre');
  const events = database.get('event_store.events')?.split('\n').length ?? 0;
  await waitForTopics(kafka.brokers, names);
  const messages = await readTopic(kafka.brokers, names, (all) => withoutRedeliveries(all).length >= events);
  await waitUntil(
    async () => /follower_lag_seconds\{follower="state_topics"\} 0\n/.test(await readMetrics(product)),
    'the state topics are complete',
  );
  const states = await Promise.all(
    listStateTopics(publishedResources, 'cadastre').map((name) => readWholeTopic(kafka.brokers, name)),
  );
  topics = JSON.stringify([messages, states]);
  const ended = await product.stop();
  output = ended.stdout + ended.stderr;
}, LONG);

afterAll(async () => {
  await product?.remove();
  await collector?.close();
  await kafka?.stop();
});

describe('a secret that was used', () => {
  it('is found by this search in every encoding', () => {
    expect(secrets.size).toBeGreaterThan(15);
    for (const [name, secret] of secrets) {
      for (const form of encodingsOf(secret)) expect(findSecrets(`before ${form} after`)).toContain(name);
    }
  });

  it('is in no table of the log or the views', () => {
    expect([...database.keys()]).toEqual(expect.arrayContaining(['event_store.events', 'views.workspaces']));
    expect([...database].filter(([, text]) => text !== '').length).toBeGreaterThan(15);
    expect([...database].flatMap(([table, text]) => findSecrets(text).map((name) => `${table}: ${name}`))).toEqual([]);
  });

  it('is in no topic', () => {
    expect(topics).toContain('WorkspaceCreated');
    expect(findSecrets(topics)).toEqual([]);
  });

  it('is in no line of the log', () => {
    // The output contains messages of Postgres, which can quote values.
    expect(output).toContain('duplicate key value');
    expect(output).toContain('A sign-in with an identity provider failed');
    // At the first start the server prints the administrator's token once.
    expect(findSecrets(output.replaceAll(`TOKEN=${product.adminToken}`, ''))).toEqual([]);
  });

  it('is in no trace', () => {
    const requests = new Set(collector.spans.filter(({ kind }) => kind === 'server').map(({ name }) => name));
    expect(requests.size).toBeGreaterThan(15);
    // Bytes that do not fit into UTF-8 stay what they are.
    expect(findSecrets(Buffer.concat(collector.bodies).toString('latin1'))).toEqual([]);
  });

  it('is in no response that refuses a request', () => {
    expect(refusals.filter(({ status }) => status < 400 || status >= 500).map(({ text }) => text)).toEqual([]);
    expect(refusals.flatMap(({ text }) => findSecrets(text))).toEqual([]);
  });

  it('is in no stored file', async () => {
    const files = await filesBelow(join(product.dataFolder, 'blobs'));
    expect(files.length).toBeGreaterThanOrEqual(2);
    const names = await Promise.all(files.map(async (file) => findSecrets((await readFile(file)).toString('latin1'))));
    expect(names.flat()).toEqual([]);
  });
});
