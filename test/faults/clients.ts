import { randomUUID } from 'node:crypto';
import { resource, tagBindings } from '../support/seeds.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';
import { RequestLedger, type RequestOutcome } from './ledger.js';

type Asked = { readonly method: string; readonly path: string; readonly body?: unknown };
type RequestResult = { readonly outcome: RequestOutcome; readonly status: number | null; readonly body: any };

/** Where the product answers, and whether there is any sense in asking. */
export type ClientTarget = { readonly url: string; readonly token: string; up(): Promise<void> };

const PATIENCE_MS = 30_000;
const JSON_API = 'application/vnd.api+json';

const isJsonApiError = (body: any, status: number): boolean =>
  Array.isArray(body?.errors) && body.errors.every((error: any) => error.status === String(status) && error.detail);

/**
 * Clients who keep a few workspaces busy, each its own, and write down what they were told. A request that was not
 * answered is never sent again as it was: what became of it is for the log to say.
 */
export class Clients {
  readonly ledger = new RequestLedger();
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>();
  /** The states that were acknowledged, byte for byte. */
  readonly uploads: { readonly stateVersion: string; readonly bytes: Buffer }[] = [];
  private stopping = false;
  private running: Promise<unknown> = Promise.resolve();
  private failure: Promise<never> = new Promise(() => undefined);

  constructor(
    private readonly target: ClientTarget,
    private readonly organization: string,
  ) {}

  start(count: number): void {
    const all = Array.from({ length: count }, (_, index) => this.live(`client-${index}`));
    this.running = Promise.all(all);
    this.failure = this.running.then(() => new Promise<never>(() => undefined));
  }

  /** Resolves when so many more writes have been acknowledged; rejects when a client was told something absurd. */
  async acknowledged(more: number): Promise<void> {
    await Promise.race([this.ledger.more(more), this.failure]);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async live(name: string): Promise<void> {
    for (let n = 1; !this.stopping; n += 1) {
      const born = await this.record('WorkspaceCreated', null, {
        method: 'POST',
        path: `/api/v2/organizations/${this.organization}/workspaces`,
        body: resource('workspaces', { name: `${name}-${n}` }),
      });
      if (born.outcome !== 'acknowledged') continue;
      const id = born.body.data.id as string;
      for (let turn = 1; turn <= 5 && !this.stopping; turn += 1) await this.turn(id, turn, `${name}, turn ${turn}`);
    }
  }

  /** Whatever became of the one before, the next has an answer: at the worst a no. */
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

  /** As the CLI does: announces a state, then brings it to where it is told to, without a token. */
  private async upload(id: string, serial: number): Promise<void> {
    const file = stateFile({ serial, lineage: id });
    const body = newStateVersion(file, { inline: false });
    const path = `/api/v2/workspaces/${id}/state-versions`;
    const born = await this.record('StateVersionCreated', id, { method: 'POST', path, body });
    if (born.outcome !== 'acknowledged') return;
    const link = pathOf(born.body.data.attributes['hosted-state-upload-url'] as string);
    // A signed link stands for the caller, and the request's id is not kept with what it led to.
    const { outcome } = await this.request(randomUUID(), { method: 'PUT', path: link, body: file.bytes });
    if (outcome === 'acknowledged') this.uploads.push({ stateVersion: born.body.data.id as string, bytes: file.bytes });
  }

  private async record(event: string, stream: string | null, asked: Asked): Promise<RequestResult> {
    const request = randomUUID();
    await this.target.up();
    const told = await this.request(request, asked);
    const created = event === 'WorkspaceCreated' ? (told.body?.data?.id ?? null) : null;
    this.ledger.note({ request, event, stream: stream ?? created, outcome: told.outcome });
    return told;
  }

  private async request(request: string, asked: Asked): Promise<RequestResult> {
    const answer = await this.send(request, asked).catch(() => null);
    if (!answer) return { outcome: 'unknown', status: null, body: null };
    const { status, text } = answer;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    const body: unknown = text === '' ? null : JSON.parse(text);
    if (status === 200 || status === 201) return { outcome: 'acknowledged', status, body };
    // Only these can be true here, and clients must be able to read them.
    if (![409, 503].includes(status) || !isJsonApiError(body, status)) {
      throw new Error(`${asked.method} ${asked.path} was answered ${status}: ${text}`);
    }
    return { outcome: status === 503 ? 'unknown' : 'refused', status, body };
  }

  private async send(request: string, { method, path, body }: Asked): Promise<{ status: number; text: string }> {
    const bytes = body instanceof Uint8Array;
    const response = await fetch(`${this.target.url}${path}`, {
      method,
      headers: {
        'x-request-id': request,
        // Bytes go to signed links, which want no token.
        ...(bytes ? {} : { authorization: `Bearer ${this.target.token}` }),
        ...(body === undefined ? {} : { 'content-type': bytes ? 'application/octet-stream' : JSON_API }),
      },
      signal: AbortSignal.timeout(PATIENCE_MS),
      ...(body === undefined ? {} : { body: bytes ? new Uint8Array(body) : JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }
}
