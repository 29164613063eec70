import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/** An answer of the server: a status and a body. Null: the connection ends without an answer. */
type ProtocolAnswer = { readonly status: number; readonly body?: unknown } | null;

type ProtocolRoute = (body: Buffer, url: URL) => ProtocolAnswer | Promise<ProtocolAnswer>;

export const refuse = (status: number, detail: string, meta?: object): ProtocolAnswer => ({
  status,
  body: { errors: [{ detail, ...(meta ? { meta } : {}) }] },
});

const RUN = 'run-0123456789abcdef';

/** A server that gives out one phase of a run, and records what an executor sends. Tests replace its routes. */
export class ProtocolServer {
  readonly run = RUN;
  readonly documents: Record<string, unknown> = {};
  readonly reports: Record<string, unknown>[] = [];
  readonly states: string[] = [];
  readonly erroredStates: string[] = [];
  readonly requests: string[] = [];
  planFile: Buffer = Buffer.alloc(0);
  phases: ('plan' | 'apply')[] = [];
  job: Record<string, unknown> = {};
  readonly routes: Record<string, ProtocolRoute>;
  private stored = Buffer.alloc(0);
  private fence = 0;
  private phase: 'plan' | 'apply' = 'plan';
  private endWaiting: (() => void)[] = [];
  private readonly server: Server;

  constructor() {
    this.routes = this.createRoutes();
    this.server = http.createServer((request, response) => void this.answer(request, response));
  }

  get log(): string {
    return this.stored.toString();
  }

  async listen(): Promise<URL> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return new URL(this.url);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Answers requests that wait, such as claims and renewals. */
  endWaits(): void {
    for (const end of this.endWaiting.splice(0)) end();
  }

  async close(): Promise<void> {
    this.endWaits();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private renderLease(canceledAt: string | null = null) {
    return {
      id: RUN,
      type: 'run-leases',
      attributes: { phase: this.phase, fence: this.fence, 'canceled-at': canceledAt },
    };
  }

  /** Waits as a long poll does. */
  private waitForEnd(): Promise<void> {
    return new Promise((resolve) => this.endWaiting.push(resolve));
  }

  private createRoutes(): Record<string, ProtocolRoute> {
    const keep =
      (list: string[]): ProtocolRoute =>
      (body) => {
        list.push(body.toString());
        return { status: 204 };
      };
    return {
      'POST /api/v2/agents': () => ({ status: 201, body: { data: { id: 'agent-1' } } }),
      'POST /api/v2/agents/agent-1/actions/ping': () => ({ status: 200, body: {} }),
      'POST /api/v2/agents/agent-1/actions/claim': () => this.claim(),
      [`POST /api/v2/runs/${RUN}/actions/renew-lease`]: async () => {
        await this.waitForEnd();
        return { status: 200, body: { data: this.renderLease() } };
      },
      [`POST /api/v2/runs/${RUN}/job`]: () => ({
        status: 200,
        body: { data: { attributes: { ...this.job, phase: this.phase } } },
      }),
      [`POST /api/v2/runs/${RUN}/progress`]: (body) => {
        this.reports.push(
          (JSON.parse(body.toString()) as { data: { attributes: Record<string, unknown> } }).data.attributes,
        );
        return { status: 200, body: {} };
      },
      'PUT log': (body, url) => this.append(body, Number(url.searchParams.get('offset'))),
      'PUT json-schema': (body) => this.keepDocument('json-schema', body),
      'PUT json-output': (body) => this.keepDocument('json-output', body),
      'PUT plan-file': (body) => {
        this.planFile = body;
        return { status: 204 };
      },
      'GET /plan-file': () => ({ status: 200, body: this.planFile }),
      'PUT errored-state': keep(this.erroredStates),
      'POST /api/v2/workspaces/ws-1/state-versions': () => ({
        status: 201,
        body: { data: { attributes: { 'hosted-state-upload-url': `${this.url}/state` } } },
      }),
      'PUT /state': keep(this.states),
    };
  }

  private async claim(): Promise<ProtocolAnswer> {
    if (this.phases.length === 0) await this.waitForEnd();
    const phase = this.phases.shift();
    if (phase === undefined) return { status: 200, body: { data: null } };
    this.phase = phase;
    this.fence += 1;
    this.stored = Buffer.alloc(0);
    return { status: 200, body: { data: this.renderLease(), included: [{ type: 'runs', attributes: {} }] } };
  }

  private append(output: Buffer, offset: number): ProtocolAnswer {
    if (offset > this.stored.length) return refuse(409, 'Bytes are missing', { offset: this.stored.length });
    this.stored = Buffer.concat([this.stored.subarray(0, offset), output]);
    return { status: 200, body: { offset: this.stored.length, truncated: false } };
  }

  private keepDocument(name: string, body: Buffer): ProtocolAnswer {
    this.documents[name] = JSON.parse(gunzipSync(body).toString());
    return { status: 204 };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', this.url);
    const name = `${request.method} ${url.pathname}`;
    this.requests.push(name);
    const route = this.routes[name] ?? this.routes[`${request.method} ${url.pathname.split('/').at(-1)}`];
    try {
      const answer = route ? await route(await buffer(request), url) : refuse(404, 'Not found');
      if (answer === null) return void request.socket.destroy();
      const { status, body } = answer;
      response.writeHead(status).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    } catch {
      response.destroy();
    }
  }
}
