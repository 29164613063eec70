import { createHash } from 'node:crypto';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Readable } from 'node:stream';
import { badRequest, Clock, notFound, Refusal, unprocessable } from '#kernel';
import { readBytes, checkContentLength, hashWhileReading, LINK_LIFETIME_MS, MIB, limitUpload } from '#blob-store';
import { parseChecksums, verifyDetached } from '#provider-release';
import type { Platform } from '../platforms/registry-provider-platform.js';
import type { RegistryProviderVersionCommand, StoredFile } from '../versions/registry-provider-version.js';
import { deriveFileId, ReleaseFiles } from './release.files.js';
import type { ReleaseFile } from './release.links.js';
import { ReleaseUploads, type LoadedUpload } from './release.uploads.js';

/** A file that a signed link lets somebody upload. */
export class ReceiveReleaseFile extends Command<void> {
  constructor(
    readonly file: ReleaseFile,
    readonly content: Readable,
    /** Bytes, as the client says beforehand; null where it does not. */
    readonly announced: number | null,
  ) {
    super();
  }
}

type ArchiveFile = Extract<ReleaseFile, { readonly kind: 'binary' }>;
type SmallFile = Exclude<ReleaseFile, ArchiveFile>;

/**
 * SHA256SUMS of as many platforms as a version may have has 64 KB at most, and an event holds what it says; a signature
 * by RSA 4096 has less than one.
 */
const SMALL_FILE_LIMITS = {
  shasums: { name: 'SHA256SUMS', most: MIB / 8 },
  'shasums-sig': { name: 'SHA256SUMS.sig', most: MIB / 16 },
} as const;

/** The largest zip of a platform that is taken, in bytes. */
export class ReleaseLimits {
  constructor(readonly archive: number) {}
}

const toStoredFile = (bytes: Buffer): StoredFile => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

/** Nothing is stored, and no flag turns, for a file that clients would refuse (contract §3.2; clients.md §5). */
@CommandHandler(ReceiveReleaseFile)
export class ReceiveReleaseFileHandler implements ICommandHandler<ReceiveReleaseFile> {
  constructor(
    private readonly uploads: ReleaseUploads,
    private readonly files: ReleaseFiles,
    private readonly limits: ReleaseLimits,
    private readonly clock: Clock,
  ) {}

  async execute({ file, content, announced }: ReceiveReleaseFile): Promise<void> {
    const limit = file.kind === 'binary' ? this.limits.archive : SMALL_FILE_LIMITS[file.kind].most;
    checkContentLength(announced, limit);
    const prepared = await this.uploads.prepare(file.version);
    await (file.kind === 'binary'
      ? this.receiveArchive(file, prepared, limitUpload(content, limit))
      : this.receiveSmall(file, prepared, await readBytes(limitUpload(content, limit))));
  }

  private async receiveArchive({ platform }: ArchiveFile, prepared: LoadedUpload, content: AsyncIterable<Uint8Array>) {
    const its = prepared.state.platforms[platform];
    if (!its) throw notFound('This platform has been deleted');
    await this.uploads.deliver(prepared, {
      id: platform,
      content: this.checked(content, its),
      commandFor: async (now, size) => ({
        type: 'AcceptBinary',
        data: { platform, size, flaw: await this.flaw(now, {}) },
      }),
    });
  }

  private async receiveSmall(file: SmallFile, prepared: LoadedUpload, bytes: Buffer): Promise<void> {
    if (bytes.length === 0) throw unprocessable(`${SMALL_FILE_LIMITS[file.kind].name} is empty`);
    const stored = toStoredFile(bytes);
    await this.uploads.deliver(prepared, {
      id: deriveFileId(file, stored.sha256),
      content: bytes,
      commandFor: file.kind === 'shasums' ? this.acceptShasums(bytes, stored) : this.acceptSignature(bytes, stored),
    });
  }

  private acceptShasums(shasums: Buffer, stored: StoredFile) {
    const listed = parseChecksums(shasums);
    return async (now: LoadedUpload): Promise<RegistryProviderVersionCommand> => ({
      type: 'AcceptShasums',
      data: { ...stored, listed, flaw: await this.flaw(now, { shasums }) },
    });
  }

  private acceptSignature(signature: Buffer, stored: StoredFile) {
    return async (now: LoadedUpload): Promise<RegistryProviderVersionCommand> => ({
      type: 'AcceptSignature',
      data: { ...stored, flaw: await this.flaw(now, { signature }) },
    });
  }

  /** Passes content on, and at its end fails it where it is not what was declared: then it is not stored. */
  private async *checked(
    content: AsyncIterable<Uint8Array>,
    { filename, shasum }: Pick<Platform, 'filename' | 'shasum'>,
  ): AsyncGenerator<Uint8Array> {
    const sha256 = createHash('sha256');
    const latest = this.clock.now().getTime() + LINK_LIFETIME_MS;
    let size = 0;
    for await (const piece of hashWhileReading(content, sha256)) {
      size += piece.length;
      // Its note is taken for abandoned some time, whether anybody still sends or not (abandoned-uploads.job.ts).
      if (this.clock.now().getTime() > latest) throw badRequest('The upload has taken longer than a day');
      yield piece;
    }
    if (size === 0) throw unprocessable(`${filename} is empty`);
    const sum = sha256.digest('hex');
    if (sum !== shasum) {
      throw unprocessable(`${filename} has checksum ${sum}, its platform was declared with ${shasum}`);
    }
  }

  /**
   * Why the signature is none of the checksums: of what has just come and what is here already. Null where it is, where
   * one of the two is missing, or where it has been proved before.
   */
  private async flaw(
    { state, target, stream }: LoadedUpload,
    sent: { readonly shasums?: Buffer; readonly signature?: Buffer },
  ): Promise<string | null> {
    const isHere = (sent.shasums ?? state.shasums) && (sent.signature ?? state.signature);
    if (!isHere || state.signature?.verified) return null;
    const { keyId, armor } = target;
    if (armor === null) return `the organization has no GPG key ${keyId}; add it, then upload this file again`;
    const content = sent.shasums ?? (await this.stored(stream, state.shasums));
    const signature = sent.signature ?? (await this.stored(stream, state.signature));
    try {
      await verifyDetached({ armor, content, signature, now: this.clock.now() });
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      throw error;
    }
  }

  private stored(version: string, file: StoredFile | null): Promise<Buffer> {
    return this.files.bytes(`${version}/${file?.sha256}`);
  }
}
