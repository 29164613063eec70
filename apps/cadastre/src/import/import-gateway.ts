import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpServer } from '#api/edge';
import { IMPORT_HEADER, sendAsImport } from '#api/access';
import type { TargetFetch, TargetRequest, TargetResponse } from '#operations/service-imports';
import { buildHttpOptions } from '../../../gateway/src/gateway.js';
import { GatewayModule } from '../../../gateway/src/gateway.module.js';
import type { Runtime } from '../../../runtime.js';

const MIB = 1024 * 1024;

/** The largest state that an import copies. */
export const MAX_STATE_BYTES = 256 * MIB;
/** A state in a request, its Base64, and copies of both while the request is parsed. */
const BODY_BYTES = 4 * MAX_STATE_BYTES;

type LocalRequest = Omit<TargetRequest, 'origin' | 'body'> & {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};

/** A gateway with the rules of every other one, which listens in a folder of this user. */
type ImportGateway = { readonly fetch: TargetFetch; close(): Promise<void> };

const readAnswer = async (response: http.IncomingMessage): Promise<TargetResponse> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  // Files of states are JSON too, but no documents.
  const isDocument = (response.headers['content-type'] ?? '').includes('vnd.api+json') && bytes.length > 0;
  return {
    status: response.statusCode ?? 0,
    document: isDocument ? (JSON.parse(bytes.toString('utf8')) as unknown) : null,
    md5: createHash('md5').update(bytes).digest('hex'),
  };
};

const send = (
  agent: http.Agent,
  socketPath: string,
  { method, path, headers, body }: LocalRequest,
): Promise<TargetResponse> =>
  new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = http.request(
      { agent, socketPath, method, path: encodeURI(path), headers: { host: 'localhost', ...headers, ...length } },
      (response) => void readAnswer(response).then(resolve, reject),
    );
    request.once('error', reject);
    request.end(body);
  });

const createGateway = (runtime: Runtime) => {
  const settings = { ...runtime.settings, inlineStateLimit: MAX_STATE_BYTES, requestLog: false };
  const options = buildHttpOptions({ ...runtime, settings });
  const limits = { ...options.limits, bodyMemory: { total: BODY_BYTES, perCaller: BODY_BYTES } };
  const local = { tls: null, rateLimits: null, limits };
  return createHttpServer(GatewayModule.over({ ...runtime, settings }), { ...options, ...local });
};

/** Opens a gateway for one import. `token` is that of its owner. */
export const openImportGateway = async (runtime: Runtime, token: string): Promise<ImportGateway> => {
  const app = await createGateway(runtime);
  // Only this user may enter the folder, so nobody else of the machine reaches a gateway without rate limits.
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-import-'));
  const socketPath = join(folder, 'gateway');
  await app.init();
  await app.getHttpAdapter().getInstance().listen({ path: socketPath });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const common = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/vnd.api+json',
    'user-agent': 'cadastre import',
  };
  return {
    fetch: ({ method, path, body, origin }) => {
      const text = body === undefined ? null : JSON.stringify(body);
      if (!origin) return send(agent, socketPath, { method, path, headers: common, body: text });
      const ticket = runtime.ids.uuid();
      const headers = { ...common, [IMPORT_HEADER]: ticket };
      return sendAsImport(ticket, origin, () => send(agent, socketPath, { method, path, headers, body: text }));
    },
    close: async () => {
      agent.destroy();
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
