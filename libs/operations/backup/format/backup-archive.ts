import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { z } from 'zod';
import { EncryptionKeys } from '#platform/encryption';
import { EncryptedBlobs, readBytes, type BlobStore, type ListedBlob } from '#storage/blob-store';
import { StartupError } from '#platform/host';
import { computeKeyCheck, createHeader, deriveBackupKey } from './backup-keys.js';
import { backupHeader, FORMAT_VERSION, type BackupHeader, type BackupPart } from './backup-manifest.js';

const FILES = 'files';

/** What an archive contains, and how messages name it. */
type ArchiveKind = {
  readonly format: BackupHeader['format'];
  readonly header: string;
  readonly noun: string;
  readonly keyHint: string;
  readonly missing: string;
  readonly later: string;
};

const BACKUP: ArchiveKind = {
  format: 'cadastre-backup',
  header: 'backup.json',
  noun: 'backup',
  keyHint:
    'set CADASTRE_ENCRYPTION_KEY to the key of the site that made it, or name the file of the key with --key-file',
  missing: 'there is no backup; name the folder or the address that was given to backup',
  later: 'a later version of Cadastre made this backup; restore it with that version',
};

export const ORGANIZATION_EXPORT: ArchiveKind = {
  format: 'cadastre-organization',
  header: 'organization.json',
  noun: 'export',
  keyHint: 'name the file that organization export wrote or read with --key-file',
  missing: 'there is no export; name the folder or the address that was given to organization export',
  later: 'a later version of Cadastre made this export; import it with that version or a later one',
};

const compress = promisify(gzip);
const decompress = promisify(gunzip);

const computeSha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Returns the name of a part in a folder. Numbers begin with 1. */
export const formatPartName = (folder: string, number: number): string =>
  `${folder}/${String(number).padStart(6, '0')}`;

/** Thrown if a part of an archive is missing or was changed. */
export class DamagedBackupError extends StartupError {
  constructor(noun: string, detail: string, options?: ErrorOptions) {
    super(`the ${noun} is damaged: ${detail}; use another ${noun}`, options);
    this.name = 'DamagedBackup';
  }
}

/**
 * The files of one archive: a backup, or an export of an organization. All but the header are encrypted in the format of EncryptedBlobs, which authenticates
 * content, length and name. Each is written once.
 */
export class BackupArchive {
  private readonly encrypted: BlobStore;

  constructor(
    blobs: BlobStore,
    readonly header: BackupHeader,
    key: Buffer,
    private readonly kind: ArchiveKind,
  ) {
    this.encrypted = new EncryptedBlobs(blobs, new EncryptionKeys(deriveBackupKey(key, header)));
  }

  async putJson(name: string, document: unknown): Promise<void> {
    await this.encrypted.put(name, await compress(JSON.stringify(document)));
  }

  /** Returns the document, or null if it does not exist. */
  async readJson<T>(name: string, schema: z.ZodType<T>): Promise<T | null> {
    const bytes = await this.readPart(name);
    return bytes && schema.parse(JSON.parse(bytes.toString()));
  }

  async putLines(name: string, lines: readonly string[]): Promise<BackupPart> {
    const bytes = Buffer.from(lines.join('\n'));
    await this.encrypted.put(name, await compress(bytes));
    return { name, lines: lines.length, sha256: computeSha256(bytes) };
  }

  /** Returns the lines of a part that is in a list of the backup. */
  async readLines({ name, lines, sha256 }: BackupPart): Promise<readonly string[]> {
    const part = await this.findLines(name);
    if (!part) throw this.describeDamage(`${name} is missing`);
    if (part.sha256 !== sha256 || part.lines.length !== lines) throw this.describeDamage(`${name} was changed`);
    return part.lines;
  }

  /** Returns the parts that an interrupted writer has left in a folder, in the order of their numbers. */
  async *readWrittenParts(
    folder: string,
    signal?: AbortSignal,
  ): AsyncGenerator<{ readonly part: BackupPart; readonly lines: readonly string[] }> {
    for (let number = 1; ; number += 1) {
      signal?.throwIfAborted();
      const name = formatPartName(folder, number);
      const part = await this.findLines(name);
      if (!part) return;
      const { lines, sha256 } = part;
      yield { part: { name, lines: lines.length, sha256 }, lines };
    }
  }

  /** Returns null if there is no such part. */
  private async findLines(
    name: string,
  ): Promise<{ readonly lines: readonly string[]; readonly sha256: string } | null> {
    const bytes = await this.readPart(name);
    if (!bytes) return null;
    return { lines: bytes.length === 0 ? [] : bytes.toString().split('\n'), sha256: computeSha256(bytes) };
  }

  putFile(key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.encrypted.put(`${FILES}/${key}`, content);
  }

  /** Returns the content of a file of the site. The reader gets an error if it is damaged. */
  async readFile(key: string): Promise<AsyncIterable<Uint8Array>> {
    const content = await this.open(`${FILES}/${key}`);
    if (!content) throw this.describeDamage(`the file ${key} is missing`);
    return content;
  }

  async *listFiles(): AsyncGenerator<ListedBlob> {
    for await (const { key, size } of this.encrypted.list(FILES)) yield { key: key.slice(FILES.length + 1), size };
  }

  async deleteAll(segments: string): Promise<void> {
    for await (const { key } of this.encrypted.list(segments)) await this.encrypted.delete(key);
  }

  /** Returns the error for a part that is missing or was changed. */
  describeDamage(detail: string, options?: ErrorOptions): DamagedBackupError {
    return new DamagedBackupError(this.kind.noun, detail, options);
  }

  private async readPart(name: string): Promise<Buffer | null> {
    const content = await this.open(name);
    return content && decompress(await readBytes(content));
  }

  private async open(name: string): Promise<AsyncIterable<Uint8Array> | null> {
    try {
      const stored = await this.encrypted.get(name);
      return stored && this.translateDamage(stored.content as AsyncIterable<Uint8Array>, name);
    } catch (error) {
      throw this.toArchiveError(error, name);
    }
  }

  private async *translateDamage(content: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
    try {
      yield* content;
    } catch (error) {
      throw this.toArchiveError(error, name);
    }
  }

  /** The messages of EncryptedBlobs begin with the key of the blob. */
  private toArchiveError(error: unknown, name: string): unknown {
    return error instanceof Error && /^blob .* is damaged/.test(error.message)
      ? this.describeDamage(`${name} was changed or cut off`, { cause: error })
      : error;
  }
}

const readHeader = async (blobs: BlobStore, kind: ArchiveKind): Promise<BackupHeader | null> => {
  const stored = await blobs.get(kind.header);
  if (!stored) return null;
  let header: BackupHeader;
  try {
    header = backupHeader.parse(JSON.parse((await readBytes(stored.content)).toString()));
  } catch (cause) {
    throw new DamagedBackupError(kind.noun, `${kind.header} is not readable`, { cause });
  }
  if (header.version > FORMAT_VERSION) throw new StartupError(kind.later);
  return header;
};

const requireKey = (header: BackupHeader, key: Buffer, { noun, keyHint }: ArchiveKind): void => {
  if (computeKeyCheck(key, header) !== header.keyCheck) {
    throw new StartupError(`this is not the key of the ${noun}; ${keyHint}`);
  }
};

const isEmpty = async (blobs: BlobStore): Promise<boolean> => {
  for await (const _ of blobs.list()) return false;
  return true;
};

/** Returns the archive at this location, for reading. */
export const openArchive = async (blobs: BlobStore, key: Buffer, kind = BACKUP): Promise<BackupArchive> => {
  const header = await readHeader(blobs, kind);
  if (!header) throw new StartupError(kind.missing);
  requireKey(header, key, kind);
  return new BackupArchive(blobs, header, key, kind);
};

/** Returns the unfinished archive at this location, or begins one if nothing is there. */
export const createArchive = async (blobs: BlobStore, key: Buffer, kind = BACKUP): Promise<BackupArchive> => {
  const stored = await readHeader(blobs, kind);
  if (stored) {
    requireKey(stored, key, kind);
    return new BackupArchive(blobs, stored, key, kind);
  }
  if (!(await isEmpty(blobs))) {
    throw new StartupError('the destination contains other files; name a new or empty folder, or another prefix');
  }
  const header = createHeader(key, kind.format);
  await blobs.put(kind.header, Buffer.from(`${JSON.stringify(header)}\n`));
  return new BackupArchive(blobs, header, key, kind);
};
