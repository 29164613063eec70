import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { badRequest, Clock, notFound, Refusal, unprocessable } from '#platform/kernel';
import {
  readBytes,
  checkContentLength,
  hashWhileReading,
  LINK_LIFETIME_MS,
  MIB,
  limitUpload,
} from '#storage/blob-store';
import { findVendorKey, parseChecksums, verifyDetached } from '#registry/provider-release';
import type { Platform } from '../platforms/registry-provider-platform.js';
import type { RegistryProviderVersionCommand, StoredFile } from '../versions/registry-provider-version.js';
import type { RegistryProviderVersionOperations } from '../versions/registry-provider-versions.commands.js';
import { deriveFileId, ReleaseFiles } from './release.files.js';
import type { ReleaseFile } from './release.links.js';
import { ReleaseUploads, type LoadedUpload } from './release.uploads.js';

type ArchiveFile = Extract<ReleaseFile, { readonly kind: 'binary' }>;
type SmallFile = Exclude<ReleaseFile, ArchiveFile>;

/**
 * SHA256SUMS of a version with the maximum number of platforms has at most 64 KB, and an event contains its entries. A
 * signature by RSA 4096 has less than 1 KB.
 */
const SMALL_FILE_LIMITS = {
  shasums: { name: 'SHA256SUMS', most: MIB / 8 },
  'shasums-sig': { name: 'SHA256SUMS.sig', most: MIB / 16 },
} as const;

/** Size of the largest accepted zip, in bytes. */
export class ReleaseLimits {
  constructor(readonly archive: number) {}
}

const toStoredFile = (bytes: Buffer): StoredFile => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

/** Stores nothing and sets no flag for a file that clients would refuse. */
@Injectable()
export class ReleaseFileReceiver {
  constructor(
    private readonly uploads: ReleaseUploads,
    private readonly files: ReleaseFiles,
    private readonly limits: ReleaseLimits,
    private readonly clock: Clock,
  ) {}

  async receive(input: RegistryProviderVersionOperations['ReceiveReleaseFile']['input']): Promise<void> {
    const { file, sender, content, announced } = input;
    const limit = file.kind === 'binary' ? this.limits.archive : SMALL_FILE_LIMITS[file.kind].most;
    checkContentLength(announced, limit);
    const prepared = await this.uploads.prepare(file.version, sender);
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
      commandFor: async (current, size) => ({
        type: 'AcceptBinary',
        data: { platform, size, flaw: await this.flaw(current, {}) },
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
    return async (current: LoadedUpload): Promise<RegistryProviderVersionCommand> => ({
      type: 'AcceptShasums',
      data: { ...stored, listed, flaw: await this.flaw(current, { shasums }) },
    });
  }

  private acceptSignature(signature: Buffer, stored: StoredFile) {
    return async (current: LoadedUpload): Promise<RegistryProviderVersionCommand> => ({
      type: 'AcceptSignature',
      data: { ...stored, flaw: await this.flaw(current, { signature }) },
    });
  }

  /** Yields the content. Throws at the end if it does not match the declaration, so that the file is not stored. */
  private async *checked(
    content: AsyncIterable<Uint8Array>,
    { filename, shasum }: Pick<Platform, 'filename' | 'shasum'>,
  ): AsyncGenerator<Uint8Array> {
    const sha256 = createHash('sha256');
    const latest = this.clock.now().getTime() + LINK_LIFETIME_MS;
    let size = 0;
    for await (const piece of hashWhileReading(content, sha256)) {
      size += piece.length;
      // After two days the job treats the note as abandoned, even if the client is still sending
      // (abandoned-uploads.job.ts).
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
   * Returns why the signature does not match the checksums, of which one was just sent and the other is stored. Null if
   * it matches, if one of the two is missing, or if the signature is already verified.
   */
  private async flaw(
    { state, target, stream }: LoadedUpload,
    sent: { readonly shasums?: Buffer; readonly signature?: Buffer },
  ): Promise<string | null> {
    const isHere = (sent.shasums ?? state.shasums) && (sent.signature ?? state.signature);
    if (!isHere || state.signature?.verified) return null;
    const { keyId } = target;
    const armor = target.armor ?? findVendorKey(keyId);
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
