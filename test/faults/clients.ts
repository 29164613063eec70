import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { resource, tagBindings } from '../support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import { RequestLedger, type RequestOutcome } from './ledger.js';

export type ClientRequest = { readonly method: string; readonly path: string; readonly body?: unknown };
type RequestResult = { readonly outcome: RequestOutcome; readonly status: number | null; readonly body: any };

/** Address of the product. `up` resolves when the product can be reached. */
export type ClientTarget = { readonly url: string; readonly token: string; up(): Promise<void> };

const PATIENCE_MS = 30_000;
const JSON_API = 'application/vnd.api+json';

const isJsonApiError = (body: any, status: number): boolean =>
  Array.isArray(body?.errors) && body.errors.every((error: any) => error.status === String(status) && error.detail);

/** Sends a request with this id. Rejects if there is no response. */
export const sendClientRequest = async (
  { url, token }: Pick<ClientTarget, 'url' | 'token'>,
  request: string,
  { method, path, body }: ClientRequest,
): Promise<{ readonly status: number; readonly text: string }> => {
  const bytes = body instanceof Uint8Array;
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      'x-request-id': request,
      // Bytes go to signed links, which need no token.
      ...(bytes ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': bytes ? 'application/octet-stream' : JSON_API }),
    },
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...(body === undefined ? {} : { body: bytes ? new Uint8Array(body) : JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

/**
 * Clients that each work on their own workspaces and note the outcome of each request. They never repeat a request that
 * got no response. The log decides whether it was executed.
 */
export class Clients {
  readonly ledger = new RequestLedger();
  /** Number of responses by status. */
  readonly statuses = new Map<number, number>();
  /** Acknowledged states with their bytes. */
  readonly uploads: { readonly stateVersion: string; readonly bytes: Buffer }[] = [];
  private stopping = false;
  private running: Promise<unknown> = Promise.resolve();
  private failure: Promise<never> = new Promise(() => undefined);

  /** `pauseMs`: between the turns of a client, so that a long test does not write more than it needs. */
  constructor(
    private readonly target: ClientTarget,
    private readonly organization: string,
    private readonly pauseMs = 0,
  ) {}

  start(count: number): void {
    const all = Array.from({ length: count }, (_, index) => this.live(`client-${index}`));
    this.running = Promise.all(all);
    this.failure = this.running.then(() => new Promise<never>(() => undefined));
  }

  /** Resolves when this number of further writes is acknowledged. Rejects if a client got an unexpected response. */
  async acknowledged(more: number): Promise<void> {
    await Promise.race([this.ledger.more(more), this.failure]);
  }

  /**
   * Number of responses with a status from 500. A refusal is not a failure: a client whose unlock was lost in a kill is
   * refused its next lock.
   */
  countFailures(): number {
    return [...this.statuses].reduce((sum, [status, count]) => (status >= 500 ? sum + count : sum), 0);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async live(name: string): Promise<void> {
    for (let n = 1; !this.stopping; n += 1) {
      const created = await this.record('WorkspaceCreated', null, {
        method: 'POST',
        path: `/api/v2/organizations/${this.organization}/workspaces`,
        body: resource('workspaces', { name: `${name}-${n}` }),
      });
      if (created.outcome !== 'acknowledged') continue;
      const id = created.body.data.id as string;
      for (let turn = 1; turn <= 5 && !this.stopping; turn += 1) {
        await this.turn(id, turn, `${name}, turn ${turn}`);
        if (this.pauseMs > 0) await wait(this.pauseMs);
      }
    }
  }

  /** Sends the next requests whatever the outcome of the earlier ones: each gets a success or a refusal. */
  private async turn(id: string, serial: number, what: string): Promise<void> {
    const path = `/api/v2/workspaces/${id}`;
    await this.record('WorkspaceLocked', id, { method: 'POST', path: `${path}/actions/lock`, body: { reason: what } });
    const change = resource('workspaces', { description: `${what} ${randomUUID()}` });
    await this.record('WorkspaceUpdated', id, { method: 'PATCH', path, body: change });
    const tags = tagBindings({ turn: randomUUID() });
    await this.record('WorkspaceTagBound', id, { method: 'PATCH', path: `${path}/tag-bindings`, body: tags });
    await this.upload(id, serial);
    await this.record('WorkspaceUnlocked', id, { method: 'POST', path: `${path}/actions/unlock` });
  }

  /** Announces a state, then uploads it to the signed link without a token, as the CLI does. */
  private async upload(id: string, serial: number): Promise<void> {
    const file = stateFile({ serial, lineage: id });
    const body = newStateVersion(file, { inline: false });
    const path = `/api/v2/workspaces/${id}/state-versions`;
    const created = await this.record('StateVersionCreated', id, { method: 'POST', path, body });
    if (created.outcome !== 'acknowledged') return;
    const link = pathOf(created.body.data.attributes['hosted-state-upload-url'] as string);
    // A signed link replaces the caller, and the event does not record the id of this request.
    const { outcome } = await this.request(randomUUID(), { method: 'PUT', path: link, body: file.bytes });
    if (outcome === 'acknowledged')
      this.uploads.push({ stateVersion: created.body.data.id as string, bytes: file.bytes });
  }

  private async record(event: string, stream: string | null, clientRequest: ClientRequest): Promise<RequestResult> {
    const request = randomUUID();
    await this.target.up();
    const result = await this.request(request, clientRequest);
    const created = event === 'WorkspaceCreated' ? (result.body?.data?.id ?? null) : null;
    this.ledger.note({ request, event, stream: stream ?? created, outcome: result.outcome });
    return result;
  }

  private async request(request: string, clientRequest: ClientRequest): Promise<RequestResult> {
    const answer = await sendClientRequest(this.target, request, clientRequest).catch(() => null);
    if (!answer) return { outcome: 'unknown', status: null, body: null };
    const { status, text } = answer;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const body: unknown = text === '' ? null : JSON.parse(text);
    if (status === 200 || status === 201) return { outcome: 'acknowledged', status, body };
    // Other statuses are wrong here, and clients must be able to parse the errors.
    if (![409, 503].includes(status) || !isJsonApiError(body, status)) {
      throw new Error(`${clientRequest.method} ${clientRequest.path} was answered ${status}: ${text}`);
    }
    return { outcome: status === 503 ? 'unknown' : 'refused', status, body };
  }
}
