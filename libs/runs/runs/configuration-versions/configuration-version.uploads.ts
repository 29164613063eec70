import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { conflict, forbidden, Ids, notFound, Refusal, sql } from '#platform/kernel';
import { findCurrentIdentity, can, createSystemContext, requireAddressOfLink } from '#api/access';
import { computeDigest, hashWhileReading } from '#storage/blob-store';
import {
  EventStore,
  raiseConflictWhen,
  newStream,
  expectVersion,
  decideWrite,
  type StreamWrite,
} from '#storage/event-store';
import { ToolReleases } from '#workspaces/workspaces';
import { ConfigurationFiles } from './configuration-version.files.js';
import {
  createArchiveInUseRefusal,
  configurationVersion,
  createConcurrentArchiveRefusal,
  type ConfigurationStatus,
  type ConfigurationVersionCommand,
} from './configuration-version.js';
import {
  loadConfigurationForUpload,
  hasRuns,
  findLinkedConfiguration,
  loadCreatorScope,
  type ConfigurationForUpload,
  type LinkedConfiguration,
} from './configuration-versions.queries.js';
import { DEFAULT_OPTIONS } from '../runs/run-options.js';
import { waitsForWorkspace } from '../runs/run-state.js';
import { createStageCommands } from '../runs/new-task-stages.ids.js';
import { run, type RunCommand } from '../runs/run.js';

const GZIP = Buffer.from([0x1f, 0x8b]);

class NotAnArchiveRefusal extends Refusal {
  constructor() {
    super('unprocessable', [{ detail: 'The upload is not a gzip archive' }]);
  }
}

/** Passes content on, and throws if it does not begin with the gzip header; such content is not stored. */
const requireGzip = async function* (content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  for await (const piece of content) {
    if (head.length < GZIP.length) {
      head = Buffer.concat([head, piece.subarray(0, GZIP.length - head.length)]);
      if (!head.equals(GZIP.subarray(0, head.length))) throw new NotAnArchiveRefusal();
    }
    yield piece;
  }
  if (head.length < GZIP.length) throw new NotAnArchiveRefusal();
};

/** Whether a version in this status can never get an archive. */
const isNeverUploadable = (status: ConfigurationStatus): boolean =>
  ['errored', 'archived', 'backing_data_permanently_deleted'].includes(status);

class AlreadyStoredError extends Error {
  constructor(readonly archive: number) {
    super(`archive ${archive} has the same content`);
  }
}

/**
 * Stores the archive under a number of its own before it appends the event, as state files do
 * (libs/workspaces/state/uploads/state.uploads.ts), so every archive that the log names exists. A client whose upload was
 * interrupted sends its archive again; equal content reuses the stored file. Files that no event names do no harm, for
 * a later upload takes a free number.
 */
@Injectable()
export class ConfigurationUploads {
  constructor(
    private readonly store: EventStore,
    private readonly files: ConfigurationFiles,
    private readonly ids: Ids,
    private readonly releases: ToolReleases,
  ) {}

  /** `address`: the address of the client. */
  async receive(id: string, content: AsyncIterable<Uint8Array>, address: string | null): Promise<void> {
    const version = await findLinkedConfiguration(this.store.database, id);
    if (!version) throw notFound();
    requireAddressOfLink(version.allowedRanges, address);
    if (version.status === 'errored')
      throw conflict('What was uploaded could not be used; make another configuration version');
    if (version.status !== 'pending' && version.status !== 'uploaded') throw notFound();
    const free = version.hasRuns ? null : await this.files.free(id, version.archive);
    if (free === null) return this.demandSame(version, content);
    const archive = await this.storeArchive(version, free, content);
    const size = await this.files.size(id, archive);
    if (size === null) throw notFound();
    try {
      await this.execute(id, ({ hasRuns }) => ({ type: 'UploadConfiguration', data: { size, archive, hasRuns } }));
    } catch (error) {
      if (error instanceof Refusal) await this.removeUseless(id);
      throw error;
    }
  }

  /** Stores the content of a commit. Does nothing if it is stored, or if the version has ended. */
  async receiveCommit(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const version = await findLinkedConfiguration(this.store.database, id);
    if (version?.status !== 'pending') return;
    const free = await this.files.free(id, version.archive);
    if (free === null) throw createConcurrentArchiveRefusal();
    const archive = await this.storeArchive(version, free, content);
    const size = await this.files.size(id, archive);
    if (size === null) throw notFound();
    await this.execute(id, ({ hasRuns }) => ({ type: 'UploadConfiguration', data: { size, archive, hasRuns } }));
  }

  /** Ends the version of a commit that cannot be fetched. Does nothing if it has ended. */
  async failFetch(id: string, message: string): Promise<void> {
    const version = await findLinkedConfiguration(this.store.database, id);
    if (version?.status !== 'pending') return;
    await this.execute(id, () => ({ type: 'FailConfiguration', data: { error: 'fetch-failed', message } }));
  }

  /**
   * Accepts a repeated upload of the present archive and refuses any other, for a version that takes no other archive.
   */
  private async demandSame(
    { id, archive, hasRuns }: LinkedConfiguration,
    content: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const sent = await computeDigest(content);
    if ((await this.files.digest(id, archive))?.equals(sent)) return;
    throw hasRuns
      ? createArchiveInUseRefusal()
      : conflict('Too many archives were uploaded. Create another configuration version');
  }

  /** Returns the number of the file with this content: `free`, unless the content is stored already. */
  private async storeArchive(
    { id, archive, status }: LinkedConfiguration,
    free: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const sent = createHash('sha256');
    const digest = (): Buffer => sent.copy().digest();
    const files = this.files;
    // Throws at the end of known content, so the blob store discards the copy.
    const unlessStored = async function* (): AsyncGenerator<Uint8Array> {
      yield* hashWhileReading(requireGzip(content), sent);
      for (let number = Math.max(archive, 1); number < free; number += 1) {
        if ((await files.digest(id, number))?.equals(digest())) throw new AlreadyStoredError(number);
      }
    };
    try {
      if (await files.put(id, free, unlessStored())) return free;
    } catch (error) {
      if (error instanceof AlreadyStoredError) return error.archive;
      if (error instanceof NotAnArchiveRefusal && status === 'pending') await this.fail(id, error);
      throw error;
    }
    if ((await files.digest(id, free))?.equals(digest())) return free;
    throw createConcurrentArchiveRefusal();
  }

  /** Deletes the archives that no event can name any more. */
  private async removeUseless(id: string): Promise<void> {
    const version = await findLinkedConfiguration(this.store.database, id);
    if (!version || isNeverUploadable(version.status)) await this.files.remove(id);
    else await this.files.removeBefore(id, version.archive);
  }

  /** Marks the version as errored, as the vendor does for an upload that is not an archive. */
  private fail(id: string, { message }: NotAnArchiveRefusal): Promise<void> {
    return this.execute(id, () => ({ type: 'FailConfiguration', data: { error: 'invalid-archive', message } }));
  }

  private execute(
    id: string,
    commandOn: (configuration: ConfigurationForUpload) => ConfigurationVersionCommand,
  ): Promise<void> {
    return this.store.retryOnConflict(async () => {
      const configuration = await loadConfigurationForUpload(this.store.database, id);
      const loaded = await this.store.restore(id, configurationVersion, configuration.snapshot);
      const write = decideWrite(configurationVersion, loaded, configuration.organization, commandOn(configuration));
      const [event] = write.events;
      if (!event) return;
      await this.requireCreatorAccess(configuration);
      const uploadStarted =
        event.type === 'ConfigurationVersionUploaded' ? await this.markUploadStarted(configuration) : [];
      // A run that is created at the same time uses the present archive.
      const guards = event.type === 'ConfigurationVersionReplaced' ? [raiseConflictWhen(hasRuns(sql`${id}`))] : [];
      await this.store.append(
        [write, ...uploadStarted],
        createSystemContext(configuration.ingress ? 'commits' : 'signed link', this.ids.uuid()),
        guards,
      );
    });
  }

  /** The link is valid for a day, so the creator of the version may have lost the permission to create it. */
  private async requireCreatorAccess(configuration: ConfigurationForUpload): Promise<void> {
    if (configuration.ingress) return;
    const { database } = this.store;
    const maker = await findCurrentIdentity(database, configuration.createdBy);
    if (!can(maker, 'create-configuration-version', await loadCreatorScope(database, maker, configuration))) {
      throw forbidden('The creator of this configuration version may not create configuration versions any more');
    }
  }

  /**
   * Prepares the run that starts with the upload; it is queued if the workspace is busy or locked. The link is valid
   * for a day, so the creator of the version may have lost permissions meanwhile: no run starts for a creator who could
   * not queue it now.
   */
  private async markUploadStarted(configuration: ConfigurationForUpload): Promise<readonly StreamWrite[]> {
    if (!configuration.autoQueueRuns || configuration.executionMode === 'local') return [];
    if (configuration.ingress)
      return this.prepareRun(
        configuration,
        configuration.autoApply && !configuration.speculative,
        configuration.ingress.commitMessage,
      );
    const maker = await findCurrentIdentity(this.store.database, configuration.createdBy);
    const creatorScope = await loadCreatorScope(this.store.database, maker, configuration);
    if (!can(maker, 'queue-run', creatorScope)) return [];
    const autoApply = configuration.autoApply && configuration.mayApply && can(maker, 'apply-run', creatorScope);
    return this.prepareRun(configuration, autoApply, 'Queued by the upload of its configuration');
  }

  private prepareRun(
    configuration: ConfigurationForUpload,
    autoApply: boolean,
    message: string,
  ): readonly StreamWrite[] {
    const options = {
      ...DEFAULT_OPTIONS,
      planOnly: configuration.speculative,
      autoApply,
      terraformVersion: this.releases.with(configuration.siteReleases).resolve(configuration.terraformVersion),
    };
    const data = {
      workspace: configuration.workspace,
      configurationVersion: configuration.id,
      message,
      source: 'tfe-configuration-version',
      createdBy: configuration.createdBy,
      options,
    } as const;
    const id = this.ids.next('run');
    const commands: RunCommand[] = [
      { type: 'CreateRun', data },
      ...createStageCommands(id, configuration),
      ...(waitsForWorkspace(options) ? [] : [{ type: 'QueueRun', data: {} } as const]),
    ];
    return [
      expectVersion(configuration.organization, configuration.organizationVersion),
      expectVersion(configuration.workspace, configuration.workspaceVersion),
      decideWrite(run, newStream(id, run), configuration.organization, ...commands),
    ];
  }
}
