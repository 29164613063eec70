/**
 * A service of a run task: it refuses plans that delete more resources than MAX_DELETIONS.
 *
 * The server sends a request, and this service answers at once. It then reads the plan, and reports its result.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const { HMAC_KEY = '', HOST = '127.0.0.1', PORT = '8090', MAX_DELETIONS = '0' } = process.env;
const MOST = Number(MAX_DELETIONS);
const MAX_BODY_BYTES = 1_048_576;

if (HMAC_KEY === '') {
  console.error('run-task: HMAC_KEY: must be the hmac-key of the run task');
  process.exit(1);
}
if (!Number.isInteger(MOST) || MOST < 0) {
  console.error(`run-task: MAX_DELETIONS: must be a whole number from 0, got ${MAX_DELETIONS}`);
  process.exit(1);
}

type TaskRequest = {
  readonly access_token: string;
  readonly plan_json_api_url?: string;
  readonly run_id: string;
  readonly task_result_callback_url: string;
};

type Plan = {
  readonly resource_changes?: readonly {
    readonly address: string;
    readonly change: { readonly actions: readonly string[] };
  }[];
};

type Outcome = { readonly status: 'passed' | 'failed'; readonly message: string; readonly deleted: readonly string[] };

/** Only the server has the key, so a valid signature shows that the server has sent the body. */
const isSigned = (body: Buffer, signature: string): boolean => {
  const expected = createHmac('sha512', HMAC_KEY).update(body).digest();
  const sent = Buffer.from(signature, 'hex');
  return sent.length === expected.length && timingSafeEqual(sent, expected);
};

const readBody = async (request: IncomingMessage): Promise<Buffer | null> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_BODY_BYTES) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

const inspect = async ({ plan_json_api_url: url, access_token: token }: TaskRequest): Promise<Outcome> => {
  // There is no plan yet in the stage pre_plan.
  if (url === undefined) return { status: 'passed', message: 'There is no plan yet', deleted: [] };
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(`the plan could not be read: status ${response.status}`);
  const { resource_changes: changes = [] } = (await response.json()) as Plan;
  const deleted = changes.filter(({ change }) => change.actions.includes('delete')).map(({ address }) => address);
  const message = `Deleted resources: ${deleted.length} (allowed: ${MOST})`;
  return { status: deleted.length > MOST ? 'failed' : 'passed', message, deleted };
};

const explain = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

/** A plan that cannot be read is refused at once, because the run waits for the report. */
const describeFailure = (error: unknown): Outcome => ({ status: 'failed', message: explain(error), deleted: [] });

const report = async (request: TaskRequest, { status, message, deleted }: Outcome): Promise<void> => {
  const outcomes = deleted.slice(0, 100).map((address) => ({
    type: 'task-result-outcomes',
    attributes: {
      'outcome-id': 'DELETES',
      description: `${address} is deleted`,
      body: `The plan deletes \`${address}\`.`,
      tags: { Severity: [{ label: 'High', level: 'error' }] },
    },
  }));
  const data = {
    type: 'task-results',
    attributes: { status, message },
    relationships: { outcomes: { data: outcomes } },
  };
  const response = await fetch(request.task_result_callback_url, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${request.access_token}`, 'content-type': 'application/vnd.api+json' },
    body: JSON.stringify({ data }),
  });
  // 409: another request about the same result was faster.
  if (!response.ok && response.status !== 409) throw new Error(`the report was refused: status ${response.status}`);
  console.log(`${request.run_id}: ${status}. ${message}`);
};

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await readBody(request);
  const signature = request.headers['x-tfc-task-signature'];
  if (!body || typeof signature !== 'string' || !isSigned(body, signature)) {
    response.writeHead(401).end();
    return;
  }
  response.writeHead(200).end();
  const task = JSON.parse(body.toString('utf8')) as TaskRequest;
  // The server tests a new task, and expects no report.
  if (task.access_token === 'test-token') return;
  await report(task, await inspect(task).catch(describeFailure));
};

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    console.error(`run-task: ${explain(error)}`);
    if (!response.headersSent) response.writeHead(500).end();
  });
});

server.listen(Number(PORT), HOST, () => {
  const { port } = server.address() as AddressInfo;
  console.log(`ready: http://${HOST}:${port}/`);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close(() => process.exit(0)));
