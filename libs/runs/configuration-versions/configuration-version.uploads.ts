import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { conflict, Ids, notFound, Refusal, sql } from '#kernel';
import { findCurrentIdentity, can, createSystemContext } from '#access';
import { computeDigest, hashWhileReading } from '#blob-store';
import { EventStore, raiseConflictWhen, newStream, expectVersion, decideWrite, type StreamWrite } from '#event-store';
import { ToolReleases } from '#workspaces';
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
import { run, type RunCommand } from '../runs/run.js';

const GZIP = Buffer.from([0x1f, 0x8b]);

class NotAnArchiveRefusal extends Refusal {
  constructor() {
    super('unprocessable', [{ detail: 'The upload is not a gzip archive' }]);
  }
}

/** Passes content on, and fails it where it does not begin as gzip does: then it is not stored. */
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

/** Whether a version in this status never has an archive again. */
const isNeverUploadable = (status: ConfigurationStatus): boolean =>
  ['errored', 'archived', 'backing_data_permanently_deleted'].includes(status);

class AlreadyStoredError extends Error {
  constructor(readonly archive: number) {
    super(`archive ${archive} has the same content`);
  }
}

/**
 * The archive first, under a number of its own, then the event, as state files do (libs/state/uploads/state.uploads.ts): whatever
 * the log calls uploaded is there. A client that was cut off sends its archive again, and equal content is stored once: it
 * finds the file that is there. Files that no event names block nothing, for other content gets the next number.
 */
@Injectable()
export class ConfigurationUploads {
  constructor(
    private readonly store: EventStore,
    private readonly files: ConfigurationFiles,
    private readonly ids: Ids,
    private readonly releases: ToolReleases,
  ) {}

  async receive(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const version = await findLinkedConfiguration(this.store.database, id);
    if (!version) throw notFound();
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

  /** For a version that takes no other archive: the client may still repeat the upload that is there. */
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

  /** Returns the number of the file with this content: `free`, unless it is stored already. */
  private async storeArchive(
    { id, archive, status }: LinkedConfiguration,
    free: number,
    content: AsyncIterable<Uint8Array>,
  ): Promise<number> {
    const sent = createHash('sha256');
    const digest = (): Buffer => sent.copy().digest();
    const files = this.files;
    // Failing at its end leaves nothing of it behind.
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

  /** The vendor's way: a version whose upload is no archive is done with. */
  private fail(id: string, { message }: NotAnArchiveRefusal): Promise<void> {
    return this.execute(id, () => ({ type: 'FailConfiguration', data: { error: 'invalid-archive', message } }));
  }

  private execute(
    id: string,
    commandOn: (found: ConfigurationForUpload) => ConfigurationVersionCommand,
  ): Promise<void> {
    return this.store.untilFirst(async () => {
      const found = await loadConfigurationForUpload(this.store.database, id);
      const loaded = await this.store.restore(id, configurationVersion, found.snapshot);
      const write = decideWrite(configurationVersion, loaded, found.organization, commandOn(found));
      const [event] = write.events;
      if (!event) return;
      const begun = event.type === 'ConfigurationVersionUploaded' ? await this.markUploadStarted(found) : [];
      // A run that begins meanwhile has the archive that is there.
      const guards = event.type === 'ConfigurationVersionReplaced' ? [raiseConflictWhen(hasRuns(sql`${id}`))] : [];
      await this.store.append([write, ...begun], createSystemContext('signed link', this.ids.uuid()), guards);
    });
  }

  /**
   * The run that begins with the upload; where the workspace is busy or locked it waits for its turn. The link is good
   * for a day, and who made the version may have lost what they had: no run begins for who could no longer queue it.
   */
  private async markUploadStarted(found: ConfigurationForUpload): Promise<readonly StreamWrite[]> {
    if (!found.autoQueueRuns || found.executionMode === 'local') return [];
    const maker = await findCurrentIdentity(this.store.database, found.createdBy);
    const place = await loadCreatorScope(this.store.database, maker, found);
    if (!can(maker, 'queue-run', place)) return [];
    const options = {
      ...DEFAULT_OPTIONS,
      planOnly: found.speculative,
      autoApply: found.autoApply && found.mayApply && can(maker, 'apply-run', place),
      terraformVersion: this.releases.resolve(found.terraformVersion),
    };
    const data = {
      workspace: found.workspace,
      configurationVersion: found.id,
      message: 'Queued by the upload of its configuration',
      source: 'tfe-configuration-version',
      createdBy: found.createdBy,
      options,
    } as const;
    const commands: RunCommand[] = [
      { type: 'CreateRun', data },
      ...(waitsForWorkspace(options) ? [] : [{ type: 'QueueRun', data: {} } as const]),
    ];
    return [
      expectVersion(found.organization, found.organizationVersion),
      expectVersion(found.workspace, found.workspaceVersion),
      decideWrite(run, newStream(this.ids.next('run'), run), found.organization, ...commands),
    ];
  }
}
