import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../../../test/support/product.js';
import { quiet } from '../../../../test/support/silent-logger.js';
import type { StateFile } from '../api/executor-api.js';
import { DocumentReader } from '../documents/document-reader.js';
import { AppliedState } from './applied-state.js';

let folder: string;
let path: string;
let copy: string;
let received: string[];
let ending: AbortController;
let watching: Promise<void>;
let state: AppliedState;
let upload: (state: StateFile) => Promise<void>;

const receive = async ({ content }: StateFile): Promise<void> => void received.push(await content.text());

const makeState = (serial: number): string => JSON.stringify({ version: 4, serial, lineage: 'one', resources: [] });

const write = (text: string): Promise<void> => writeFile(path, text);

/** Resolves when the state has been read several times. The reader replaces the copy each time. */
const waitForReads = async (): Promise<void> => {
  for (let reads = 0; reads < 4; reads += 1) {
    const getTime = async () => (await stat(copy, { bigint: true })).mtimeNs;
    const before = await getTime();
    await waitUntil(async () => (await getTime()) !== before, 'the state is read again');
  }
};

const waitForUploads = (count: number): Promise<void> =>
  waitUntil(() => received.length >= count, `${count} states are uploaded`);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-state-'));
  [path, copy] = [join(folder, 'terraform.tfstate'), join(folder, 'copy')];
  [received, upload] = [[], receive];
  state = new AppliedState({
    folder,
    path,
    copy,
    documents: new DocumentReader(64 * 2 ** 20),
    intervalMs: 1,
    upload: (file) => upload(file),
    logger: quiet,
  });
  await write(makeState(1));
  await state.start();
  ending = new AbortController();
  watching = state.watch(ending.signal);
});

afterEach(async () => {
  ending.abort();
  await watching;
  await rm(folder, { recursive: true });
});

describe('the state of a running apply', () => {
  it('is uploaded each time that it has changed, and not again, so that a lost executor leaves the newest one', async () => {
    await waitForReads();
    expect(received).toEqual([]);
    await write(makeState(2));
    await waitForUploads(1);
    await waitForReads();
    await write(makeState(3));
    await waitForUploads(2);
    await waitForReads();
    expect(received).toEqual([makeState(2), makeState(3)]);
    await state.finish();
    expect(received).toHaveLength(2);
    expect(await state.readUnsaved()).toBeNull();
  });

  it('is uploaded when it is complete and the server accepts it', async () => {
    let refusals = 0;
    upload = () => Promise.reject(new Error(`refusal ${(refusals += 1)}`));
    await write(makeState(2).slice(0, 20));
    await waitForReads();
    expect(refusals).toBe(0);
    await write(makeState(2));
    await waitUntil(() => refusals > 2, 'the server has refused the state');
    expect(await state.readUnsaved()).toBe(copy);
    upload = receive;
    await waitForUploads(1);
    expect(received).toEqual([makeState(2)]);
  });
});
