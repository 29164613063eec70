import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  computeCommitment,
  computeLeaf,
  computeRoot,
  createVerifierKey,
  formatCheckpoint,
  formatProof,
  formatTilePath,
  formatVerifierKey,
  hashLeaf,
  parseVerifierKey,
  proveInclusion,
  signNote,
  TILE_WIDTH,
  type HashSource,
  type VerifierKey,
} from '#packages/trail-verifier';
import { createMemoryTree } from './memory-tree.js';

/** An entry of a log that a test makes, and what opens its leaf. */
type SampleEntry = {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly salt: string;
  readonly commitments: Readonly<Record<string, string>>;
  readonly salts: Readonly<Record<string, string>>;
};

/** A log that a test makes, with the key that signs it. */
type SampleLog = {
  readonly origin: string;
  readonly key: VerifierKey;
  readonly verifierKey: string;
  readonly privateKey: KeyObject;
  readonly entries: readonly SampleEntry[];
  readonly leaves: readonly Buffer[];
  readonly source: HashSource;
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const createEntry = (index: number, history: string): SampleEntry & { readonly leaf: Buffer } => {
  const values = { '/auth/description': `user ${index}`, '/request/ip-address': `192.0.2.${index % 256}` };
  const entry = {
    id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    version: '0',
    type: 'Resource',
    timestamp: new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString(),
    auth: {
      accessor_id: `user-${String(index % 7).padStart(16, '0')}`,
      description: values['/auth/description'],
      type: 'Client',
    },
    request: { id: `req-${history}-${index}`, 'ip-address': values['/request/ip-address'] },
    resource: {
      id: 'ws-1',
      type: 'workspace',
      action: index % 2 === 0 ? 'lock' : 'unlock',
      meta: { reason: 'an "audit": ä' },
    },
  };
  const salt = digest(`salt ${history} ${index}`);
  const salts = Object.keys(values).map((pointer) => [pointer, digest(`${pointer} ${index}`)] as const);
  const commitments = Object.fromEntries(
    salts.map(([pointer, valueSalt]) => [
      pointer,
      computeCommitment(valueSalt, values[pointer as keyof typeof values]),
    ]),
  );
  return {
    entry,
    salt: salt.toString('base64'),
    commitments: encode(commitments),
    salts: encode(Object.fromEntries(salts)),
    leaf: computeLeaf({ salt, entry, commitments }),
  };
};

const encode = (digests: Readonly<Record<string, Buffer>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(digests).map(([name, bytes]) => [name, bytes.toString('base64')]));

/** Makes a log. Logs with another history differ from the entry `forkedAt` on. */
export const createSampleLog = (
  size: number,
  options: { readonly privateKey?: KeyObject; readonly forkedAt?: number; readonly origin?: string } = {},
): SampleLog => {
  const { privateKey = generateKeyPairSync('ed25519').privateKey, forkedAt = size } = options;
  const { origin = 'cadastre.example.com/org-7hGt3KmPq9RsVw2X' } = options;
  const list = Array.from({ length: size }, (_, index) => createEntry(index, index < forkedAt ? 'a' : 'b'));
  const leaves = list.map(({ leaf }) => leaf);
  const verifierKey = formatVerifierKey(createVerifierKey(origin, privateKey));
  const key = parseVerifierKey(verifierKey);
  const entries = list.map(({ entry, salt, commitments, salts }) => ({ entry, salt, commitments, salts }));
  return { origin, key, verifierKey, privateKey, entries, leaves, source: createMemoryTree(leaves.map(hashLeaf)) };
};

/** Returns the signed checkpoint of the first `size` entries. */
export const signSampleCheckpoint = async (
  { origin, privateKey, source, entries }: SampleLog,
  size = entries.length,
): Promise<string> =>
  signNote(formatCheckpoint({ origin, size, root: await computeRoot(size, source) }), [{ name: origin, privateKey }]);

/** A line with an entry in an export. */
export type SampleLine = SampleEntry & { readonly index: number; readonly proof?: readonly string[] };

/** Returns the lines with the entries from `start` to `end`, which is exclusive, with proofs in the tree of `size`. */
export const listSampleLines = async (
  { entries, source }: SampleLog,
  { start = 0, end = entries.length, size = entries.length, withProofs = true } = {},
): Promise<SampleLine[]> => {
  const lines: SampleLine[] = [];
  for (const [offset, entry] of entries.slice(start, end).entries()) {
    const index = start + offset;
    const proof = withProofs ? (await proveInclusion(index, size, source)).map((hash) => hash.toString('base64')) : [];
    lines.push({ index, ...entry, ...(withProofs ? { proof } : {}) });
  }
  return lines;
};

/** Returns the text of an export with a checkpoint above the lines. */
export const formatSampleExport = (checkpoint: string, lines: readonly object[]): string =>
  [{ checkpoint }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');

/** Returns the proof file of an entry. */
export const formatSampleProof = async (log: SampleLog, index: number): Promise<string> => {
  const [line] = await listSampleLines(log, { start: index, end: index + 1 });
  const { salt, commitments, salts } = line as SampleLine;
  const proof = await proveInclusion(index, log.entries.length, log.source);
  const extra = Buffer.from(JSON.stringify({ salt, commitments, salts }));
  return formatProof({ index, proof, checkpoint: await signSampleCheckpoint(log), extra });
};

/** Writes the log of the first `size` entries to a folder, with the paths that the server answers. Keeps other files. */
export const writeSampleLog = async (log: SampleLog, folder: string, size = log.leaves.length): Promise<void> => {
  const write = async (path: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  await write('checkpoint', await signSampleCheckpoint(log, size));
  for (let start = 0; start < size; start += TILE_WIDTH) {
    const leaves = log.leaves.slice(start, Math.min(start + TILE_WIDTH, size));
    const bundle = leaves.map((leaf) => Buffer.concat([Buffer.from([0, leaf.length]), leaf]));
    await write(formatTilePath('entries', start / TILE_WIDTH, leaves.length), Buffer.concat(bundle));
  }
  for (let [level, count] = [0, size]; count > 0; [level, count] = [level + 1, Math.floor(count / TILE_WIDTH)]) {
    for (let start = 0; start < count; start += TILE_WIDTH) {
      const width = Math.min(TILE_WIDTH, count - start);
      const hashes = Array.from({ length: width }, (_, position) => log.source(level * 8, start + position));
      await write(formatTilePath(level, start / TILE_WIDTH, width), Buffer.concat(await Promise.all(hashes)));
    }
  }
};
