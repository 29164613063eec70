import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  formatTilePath,
  openCheckpoint,
  TILE_WIDTH,
  type OpenedCheckpoint,
  type VerifierKey,
} from '#packages/trail-verifier';
import { waitUntil } from '../support/product.js';

/** After a kill, processes start again, wait for Postgres and for each other, and only then do what a test waits for. */
export const RECOVERY_MS = 300_000;

export const ORGANIZATION_LOG = '/api/v2/organizations/acme/audit-trail-log';
export const SITE_LOG = '/audit-trail-log';

export type ServedEntry = { readonly id: string };
export type KeptProof = { readonly proof: string; readonly entry: Buffer };
type ReadResult = { readonly status: number | null; readonly body: Buffer };

/** Reads the logs of a site whose processes die. */
export class ServedLogs {
  constructor(private readonly target: { readonly url: string; readonly token: string }) {}

  async request(path: string): Promise<ReadResult> {
    try {
      const response = await fetch(`${this.target.url}${path}`, {
        headers: { authorization: `Bearer ${this.target.token}` },
        signal: AbortSignal.timeout(30_000),
      });
      return { status: response.status, body: Buffer.from(await response.arrayBuffer()) };
    } catch {
      // The gateway or its database was killed.
      return { status: null, body: Buffer.alloc(0) };
    }
  }

  /** Returns the body, or null for 404. Repeats the request while the gateway has no database or too much work. */
  async read(path: string): Promise<Buffer | null> {
    let result: ReadResult = { status: null, body: Buffer.alloc(0) };
    const isAnswered = async (): Promise<boolean> => {
      result = await this.request(path);
      return result.status === 200 || result.status === 404;
    };
    await waitUntil(isAnswered, `${path} is answered`, RECOVERY_MS);
    return result.status === 200 ? result.body : null;
  }

  async listNewestEntries(): Promise<readonly ServedEntry[]> {
    const page = (await this.read('/api/v2/organizations/acme/audit-trail?page[size]=100')) ?? '{"data":[]}';
    return (JSON.parse(page.toString()) as { readonly data: readonly ServedEntry[] }).data;
  }

  /** Waits until a checkpoint covers the entry. */
  async readProof(entry: ServedEntry): Promise<KeptProof> {
    return {
      proof: ((await this.read(`${ORGANIZATION_LOG}/entries/${entry.id}/proof`)) ?? '').toString(),
      entry: Buffer.from(JSON.stringify(entry)),
    };
  }

  async readKeys(log: string): Promise<readonly string[]> {
    return ((await this.read(`${log}/keys`))?.toString() ?? '').split('\n').filter((line) => line !== '');
  }

  async readCheckpoint(log: string, keys: readonly VerifierKey[]): Promise<OpenedCheckpoint | null> {
    const note = await this.read(`${log}/checkpoint`);
    return note && openCheckpoint(note.toString(), keys);
  }

  /** Copies a log to a folder with the same paths, for tools that send no token. */
  async copyLog(log: string, folder: string): Promise<void> {
    const note = (await this.read(`${log}/checkpoint`)) ?? Buffer.alloc(0);
    const size = Number(note.toString().split('\n')[1]);
    const paths: string[] = [];
    for (let start = 0; start < size; start += TILE_WIDTH)
      paths.push(formatTilePath('entries', start / TILE_WIDTH, Math.min(TILE_WIDTH, size - start)));
    for (let [level, count] = [0, size]; count > 0; [level, count] = [level + 1, Math.floor(count / TILE_WIDTH)]) {
      for (let start = 0; start < count; start += TILE_WIDTH)
        paths.push(formatTilePath(level, start / TILE_WIDTH, Math.min(TILE_WIDTH, count - start)));
    }
    await rm(folder, { recursive: true, force: true });
    for (const path of paths) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), (await this.read(`${log}/${path}`)) ?? '');
    }
    await writeFile(join(folder, 'checkpoint'), note);
  }
}
