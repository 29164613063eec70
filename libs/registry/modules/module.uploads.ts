import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { conflict, decide, forbidden, Ids, isDefiniteFailure, notFound } from '#platform/kernel';
import { can, createSystemContext, findCurrentIdentity, requireAddressOfLink } from '#api/access';
import { checkContentLength, hashWhileReading, limitUpload } from '#storage/blob-store';
import { EventStore, expectVersion, type LoadedStream } from '#storage/event-store';
import { checkWhileReading } from './module.archives.js';
import { ModuleFiles } from './module.files.js';
import type { ModuleLink } from './module.links.js';
import { findModuleUpload, type ModuleUpload } from './module-files.queries.js';
import {
  findUploadedArchive,
  registryModule,
  type ModuleUploadCommand,
  type RegistryModuleState,
} from './registry-module.js';

/** Size of the largest accepted archive, in bytes. */
export class ModuleLimits {
  constructor(readonly archive: number) {}
}

export type ReceivedArchive = {
  readonly link: ModuleLink;
  readonly address: string | null;
  readonly content: Readable;
  /** The declared length in bytes; null if the client declared none. */
  readonly announced: number | null;
};

type LoadedModule = LoadedStream<RegistryModuleState> & { readonly target: ModuleUpload };

const decideUpload = (state: RegistryModuleState, data: ModuleUploadCommand['data']): void => {
  decide(registryModule, { type: 'UploadModuleVersion', data }, state);
};

/**
 * Stores an archive under a number of its own before it appends the event, as configuration versions do, so every archive that
 * the log names exists. Files that no event names are removed with their version (module-sweeper.follower.ts), except a file that
 * a process stores after this removal before it is killed.
 */
@Injectable()
export class ModuleUploads {
  private readonly logger = new Logger('ModuleUploads');

  constructor(
    private readonly store: EventStore,
    private readonly files: ModuleFiles,
    private readonly limits: ModuleLimits,
    private readonly ids: Ids,
  ) {}

  async receive({ link, address, content, announced }: ReceivedArchive): Promise<void> {
    checkContentLength(announced, this.limits.archive);
    const { versionId } = link;
    const { state } = await this.prepare(link, address);
    const uploaded = findUploadedArchive(state, versionId);
    if (uploaded) {
      decideUpload(state, { versionId, archive: 0, size: 0, sha256: await this.readDigest(content) });
      return;
    }
    // Rejects an upload that cannot be recorded before it is read.
    decideUpload(state, { versionId, archive: 0, size: 0, sha256: '' });
    const archive = await this.files.findFreeNumber(versionId);
    if (archive === null) throw conflict('Too many uploads of this version have failed. Create the version again');
    const sha256 = await this.storeArchive(versionId, archive, content);
    try {
      const size = await this.files.size(versionId, archive);
      if (size === null) throw notFound('This version has been deleted');
      await this.record(link, address, { archive, size, sha256 });
    } catch (error) {
      // After any other error the event may be in the log, which then names the file.
      if (isDefiniteFailure(error)) await this.removeUseless(link, archive);
      throw error;
    }
    await this.removeUseless(link, archive);
  }

  /** Removes a stored archive that the log does not name. Without an answer of the log or the store, the file remains. */
  private async removeUseless({ versionId, recipient }: ModuleLink, archive: number): Promise<void> {
    try {
      if ((await this.findRecorded(versionId, recipient)) !== archive) await this.files.removeOne(versionId, archive);
    } catch (error) {
      this.logger.error(error);
    }
  }

  private async findRecorded(versionId: string, recipient: ModuleLink['recipient']): Promise<number | null> {
    const target = await findModuleUpload(this.store.database, versionId, recipient);
    if (!target) return null;
    const { state } = await this.store.restore(target.module, registryModule, target.snapshot);
    return findUploadedArchive(state, versionId)?.number ?? null;
  }

  private async readDigest(content: Readable): Promise<string> {
    const digest = createHash('sha256');
    for await (const _ of hashWhileReading(limitUpload(content, this.limits.archive), digest));
    return digest.digest('hex');
  }

  private async storeArchive(versionId: string, archive: number, content: Readable): Promise<string> {
    const digest = createHash('sha256');
    const limited = limitUpload(content, this.limits.archive);
    const isStored = await this.files.put(versionId, archive, checkWhileReading(hashWhileReading(limited, digest)));
    if (!isStored) throw conflict('Another upload of this version has just been stored');
    return digest.digest('hex');
  }

  private async record(
    link: ModuleLink,
    address: string | null,
    file: { readonly archive: number; readonly size: number; readonly sha256: string },
  ): Promise<void> {
    await this.store.handle({
      decider: registryModule,
      load: () => this.prepare(link, address),
      command: () => ({ type: 'UploadModuleVersion' as const, data: { versionId: link.versionId, ...file } }),
      organization: ({ target }) => target.organization,
      preconditions: ({ target }) => [expectVersion(target.organization, target.organizationVersion)],
      context: createSystemContext('signed link', this.ids.uuid()),
    });
  }

  /** Throws `forbidden` if the recipient of the link may not manage modules any more, because a link lives for a day. */
  private async prepare({ versionId, recipient }: ModuleLink, address: string | null): Promise<LoadedModule> {
    const { database } = this.store;
    const target = await findModuleUpload(database, versionId, recipient);
    if (!target) throw notFound('This version has been deleted');
    requireAddressOfLink(target.allowedRanges, address);
    if (!can(await findCurrentIdentity(database, recipient), 'manage-modules', target))
      throw forbidden('The recipient of this upload link may not manage modules any more');
    return { ...(await this.store.restore(target.module, registryModule, target.snapshot)), target };
  }
}
