import { cp, mkdtemp, rm } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Abstract } from '@nestjs/common';
import { Authenticator, SESSION_COOKIE } from '#api/access';
import { EncryptionKeys } from '#platform/encryption';
import { ensureAdmin } from '#identity/people';
import { FollowerRunner, type EventStore } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { createLogger, RandomIds, SystemClock } from '#platform/host';
import { readSettings, type Settings } from '#platform/settings';
import { createHttpServer, type HttpLimits } from '#api/edge';
import type { Clock, Ids } from '#platform/kernel';
import { DATA } from './folders.js';
import { TokenUsageRecorder } from '../../libs/api/access/authentication/token-usage.recorder.js';
import { buildHttpOptions } from '../../apps/gateway/src/gateway.js';
import { GatewayModule } from '../../apps/gateway/src/gateway.module.js';
import { createRuntime, type Runtime } from '../../apps/runtime.js';
import { createFollowers } from '../../apps/modules.js';
import { copyDatabase, freshDatabase } from './database.js';
import { freePorts } from './free-ports.js';
import { checkDescribedResponse, type CheckedResponse } from './described-responses.js';
import { isPublished, readPublished, type PublishedContent } from './published-contents.js';
import { readText } from './read-text.js';

/** A response. Its JSON is untyped on purpose: tests check it. */
export type ApiResponse = {
  readonly status: number;
  readonly body: any;
  readonly text: string;
  readonly headers: Headers;
};

/** A token, or a session as a browser sends it from a page of the origin. Null for none. */
export type TestCredential = string | null | { readonly session: string; readonly origin: string };

const toCredentialHeaders = (credential: TestCredential): Record<string, string> => {
  if (credential === null) return {};
  if (typeof credential === 'string') return { authorization: `Bearer ${credential}` };
  const { session, origin } = credential;
  return { cookie: `${SESSION_COOKIE}=${session}`, origin, 'sec-fetch-site': 'same-origin', 'x-cadastre-csrf': '1' };
};

export type ApiTestClient = {
  get(path: string): Promise<ApiResponse>;
  post(path: string, body?: unknown): Promise<ApiResponse>;
  patch(path: string, body?: unknown): Promise<ApiResponse>;
  put(path: string, body?: unknown): Promise<ApiResponse>;
  delete(path: string, body?: unknown): Promise<ApiResponse>;
  /** Returns a client of another caller for the same server. Null sends no token. */
  as(credential: TestCredential): ApiTestClient;
};

/** The database and the files of a server that has stopped. */
export type ServerData = { readonly database: string; readonly folder: string };

export type TestServer = ApiTestClient & {
  readonly url: string;
  readonly adminToken: string;
  readonly runtime: Runtime;
  readonly store: EventStore;
  readonly database: Database;
  readonly authenticator: Authenticator;
  readonly uses: TokenUsageRecorder;
  /** Returns the instance that the server injects for a class. */
  resolve<T>(type: Abstract<T>): T;
  close(): Promise<void>;
  /** Stops the server. Returns its data, with which other servers of this worker can start. */
  stop(): Promise<ServerData>;
};

export type TestServerOptions = {
  /** What the server starts with. The default is an empty site. */
  readonly copyOf?: ServerData;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Whether to run the followers of all modules, as the projector does. */
  readonly followers?: boolean;
  readonly limits?: Partial<HttpLimits>;
  /** Whether a browser uses the server. Its public URL then has the host `localhost`, as passkeys need a name. */
  readonly forBrowsers?: boolean;
};

const DEFAULT_KEY = Buffer.alloc(32, 7);
const ADMIN_TOKEN = 'testadmin00000.atlasv1.secret-of-the-first-administrator';

const agent = new http.Agent({ keepAlive: true });

type RawResponse = PublishedContent & { readonly response: IncomingMessage };

/** Sends a request. `fetch` takes 0.1 ms of CPU longer, and tests send some 100,000 requests. */
const sendRequest = (url: string, options: http.RequestOptions, body: Buffer | null): Promise<RawResponse> =>
  new Promise((resolve, reject) => {
    const request = http.request(url, { ...options, agent }, (response) => {
      response.once('error', reject);
      if (isPublished(response)) {
        readPublished(response).then((content) => resolve({ response, ...content }), reject);
        return;
      }
      readText(response, (text) => resolve({ response, text, json: null }));
    });
    request.once('error', reject);
    request.end(body);
  });

const toHeaders = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let n = 0; n < rawHeaders.length; n += 2) headers.append(rawHeaders[n] as string, rawHeaders[n + 1] as string);
  return headers;
};

const toBytes = (body: unknown): Buffer =>
  Buffer.from(typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body));

/**
 * Creates a client of a server. `check` throws if a response is wrong; by default, if docs/reference/openapi.json does not
 * describe it. `address`: the address of the client, if the server trusts the proxy 127.0.0.1.
 */
export const createApiTestClient = (
  url: string,
  credential: TestCredential,
  check: (response: CheckedResponse) => void = checkDescribedResponse,
  address?: string,
): ApiTestClient => {
  const send = async (method: string, path: string, body?: unknown): Promise<ApiResponse> => {
    const content = body === undefined ? null : toBytes(body);
    const headers = {
      'user-agent': 'node',
      // As browsers do.
      'accept-encoding': 'br',
      ...toCredentialHeaders(credential),
      ...(address === undefined ? {} : { 'x-forwarded-for': address }),
      // Node sets no length for the body of a DELETE.
      ...(content === null ? {} : { 'content-type': 'application/vnd.api+json', 'content-length': content.length }),
    };
    // Links have the address of the site, which is not the port that the test server got.
    const target = path.startsWith('http') ? path.replace(/^https?:\/\/[^/]+/, url) : `${url}${path}`;
    const { response, text, json: published } = await sendRequest(target, { method, headers }, content);
    const contentType = response.headers['content-type'] ?? null;
    const json: unknown = published ?? (contentType?.includes('json') && text ? JSON.parse(text) : null);
    const status = response.statusCode ?? 0;
    check({ method, url: target, status, contentType, text, json });
    return { status, body: json, text, headers: toHeaders(response) };
  };
  return {
    get: (path) => send('GET', path),
    post: (path, body) => send('POST', path, body),
    patch: (path, body) => send('PATCH', path, body),
    put: (path, body) => send('PUT', path, body),
    delete: (path, body) => send('DELETE', path, body),
    as: (other) => createApiTestClient(url, other, check, address),
  };
};

/** Limits are off unless a test sets them, because tests send more requests than the limits of a caller allow. */
const NO_LIMITS = {
  CADASTRE_RATE_LIMIT: 'off',
  CADASTRE_ADDRESS_RATE_LIMIT: 'off',
  CADASTRE_WRONG_TOKEN_LIMIT: 'off',
  CADASTRE_ACCESS_CHANGE_LIMIT: 'off',
  CADASTRE_FACTS_LIMIT: 'off',
  CADASTRE_MAX_UNANSWERED_REQUESTS: 'off',
  CADASTRE_MAX_ORGANIZATIONS_PER_USER: 'off',
  CADASTRE_MAX_USERS: 'off',
  CADASTRE_MAX_INVITATIONS_PER_ORGANIZATION: 'off',
  CADASTRE_MAX_INVITATIONS_PER_CALLER: 'off',
  CADASTRE_MAX_TOKENS_PER_OWNER: 'off',
  CADASTRE_MAX_SITE_RUNS_PER_ORGANIZATION: 'off',
} as const;

const settingsFor = (env: Readonly<Record<string, string>>, dataFolder: string, databaseUrl: string): Settings =>
  readSettings({
    CADASTRE_TLS: 'off',
    CADASTRE_DATA: dataFolder,
    DATABASE_URL: databaseUrl,
    CADASTRE_ENCRYPTION_KEY: DEFAULT_KEY.toString('base64'),
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'fatal',
    ...NO_LIMITS,
    ...env,
  });

/** Starts the gateway on a free port with a database of its own, without mocks. */
export const startTestServer = async (options: TestServerOptions = {}): Promise<TestServer> => {
  const testDatabase = await (options.copyOf ? copyDatabase(options.copyOf.database) : freshDatabase());
  const dataFolder = await mkdtemp(join(DATA, 'cadastre-server-'));
  if (options.copyOf) await cp(options.copyOf.folder, dataFolder, { recursive: true });
  const port = options.forBrowsers ? (await freePorts())[0] : 0;
  const publicUrl = port === 0 ? {} : { CADASTRE_PUBLIC_URL: `http://localhost:${port}` };
  const settings = settingsFor({ ...publicUrl, ...options.env }, dataFolder, testDatabase.url);
  const logger = createLogger(settings.logLevel);
  const runtimeParts = {
    databaseUrl: testDatabase.url,
    encryptionKeys: new EncryptionKeys(Buffer.isBuffer(settings.encryptionKey) ? settings.encryptionKey : DEFAULT_KEY),
    close: () => Promise.resolve(),
  };
  const clock = options.clock ?? new SystemClock();
  const ids = options.ids ?? new RandomIds();
  const runtime = createRuntime(runtimeParts, { settings, logger, name: 'test', clock, ids });
  await ensureAdmin(runtime.store, ids, ADMIN_TOKEN);
  const limits = { ...settings.http, ...options.limits };
  const app = await createHttpServer(GatewayModule.over(runtime), { tls: null, ...buildHttpOptions(runtime), limits });
  await app.listen(port, '127.0.0.1');
  const followers = options.followers ? createFollowers(runtime) : [];
  const runners = followers.map((follower) => new FollowerRunner(runtime.store, follower, logger));
  for (const runner of runners) runner.start();
  const url = port === 0 ? await app.getUrl() : settings.publicUrl;
  const stop = async (): Promise<ServerData> => {
    await app.close();
    await Promise.all(runners.map((runner) => runner.stop()));
    await runtime.close();
    release(server);
    return { database: testDatabase.name, folder: dataFolder };
  };
  const server: TestServer = {
    ...createApiTestClient(url, ADMIN_TOKEN),
    url,
    adminToken: ADMIN_TOKEN,
    runtime,
    store: runtime.store,
    database: runtime.store.database,
    authenticator: app.get(Authenticator, { strict: false }),
    uses: app.get(TokenUsageRecorder, { strict: false }),
    resolve: (type) => app.get(type, { strict: false }),
    stop,
    close: async () => {
      await stop();
      await testDatabase.drop();
      await rm(dataFolder, { recursive: true, force: true });
    },
  };
  return server;
};

/**
 * Removes the members of a stopped server. Specs keep it in a variable of their module, which its process never unloads, and each
 * application takes 5 MB: 200 files would leave a worker with 1 GB that every collection of garbage marks.
 */
const release = (server: TestServer): void => {
  for (const name of Object.keys(server)) Reflect.deleteProperty(server, name);
};

export type TestGateway = ApiTestClient & {
  readonly url: string;
  readonly authenticator: Authenticator;
  close(): Promise<void>;
};

/** Starts another gateway over the same database, as behind a load balancer. It has caches of its own. */
export const startAnotherGateway = async (
  { runtime: shared, adminToken }: TestServer,
  settings: Partial<Settings> = {},
): Promise<TestGateway> => {
  const runtime = { ...shared, settings: { ...shared.settings, ...settings } };
  const app = await createHttpServer(GatewayModule.over(runtime), { tls: null, ...buildHttpOptions(runtime) });
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  const authenticator = app.get(Authenticator, { strict: false });
  return { ...createApiTestClient(url, adminToken), url, authenticator, close: () => app.close() };
};
