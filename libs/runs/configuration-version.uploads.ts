import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { conflict, Ids, notFound, Refused } from '#kernel';
import { identityNow, may, systemContext } from '#access';
import { digestOf, hashed } from '#blob-store';
import { EventStore, unborn, unchanged, writeOf, type Write } from '#event-store';
import { ToolReleases } from '#workspaces/to-workspace';
import { ConfigurationFiles } from './configuration-version.files.js';
import {
  configurationVersion,
  type ConfigurationStatus,
  type ConfigurationVersionCommand,
} from './configuration-version.js';
import {
  configurationForUpload,
  linkedConfiguration,
  placeOfMaker,
  type ConfigurationForUpload,
} from './configuration-versions.queries.js';
import { DEFAULT_OPTIONS } from './run-options.js';
import { waitsItsTurn } from './run-state.js';
import { run, type RunCommand } from './run.js';

const GZIP = Buffer.from([0x1f, 0x8b]);

class NotAnArchive extends Refused {
  constructor() {
    super('unprocessable', [{ detail: 'The upload is not a gzip archive' }]);
  }
}

/** Passes content on, and fails it where it does not begin as gzip does: then it is not stored. */
const gzipped = async function* (content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  for await (const piece of content) {
    if (head.length < GZIP.length) {
      head = Buffer.concat([head, piece.subarray(0, GZIP.length - head.length)]);
      if (!head.equals(GZIP.subarray(0, head.length))) throw new NotAnArchive();
    }
    yield piece;
  }
  if (head.length < GZIP.length) throw new NotAnArchive();
};

const alreadyUploaded = (): Refused => conflict('This configuration version has been uploaded already');

/** Whether an archive that lies there is nobody's: of a version that is gone, or takes none any more. */
const isHopeless = (status: ConfigurationStatus | null): boolean =>
  status === null || ['errored', 'archived', 'backing_data_permanently_deleted'].includes(status);

/**
 * The archive first, under the version's id, then the event, as state files do (libs/state/state.uploads.ts): whatever
 * the log calls uploaded is there, and who was cut off sends the same again.
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
    const status = await this.statusOf(id);
    if (status === 'pending') return this.upload(id, content);
    if (status === 'errored') throw conflict('What was uploaded could not be used; make another configuration version');
    if (status !== 'uploaded') throw notFound();
    await this.demandStored(id, await digestOf(content));
  }

  private async upload(id: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const sent = createHash('sha256');
    const stored = await this.files.put(id, hashed(gzipped(content), sent)).catch(async (error: unknown) => {
      if (error instanceof NotAnArchive) await this.fail(id, error);
      throw error;
    });
    if (!stored) await this.demandStored(id, sent.digest());
    const size = await this.files.size(id);
    if (size === null) throw notFound();
    try {
      await this.tell(id, { type: 'UploadConfiguration', data: { size } });
    } catch (error) {
      const isLeft = error instanceof Refused && isHopeless(await this.statusOf(id));
      if (isLeft) await this.files.remove(id);
      throw error;
    }
  }

  private async statusOf(id: string): Promise<ConfigurationStatus | null> {
    return (await linkedConfiguration(this.store.database, id))?.status ?? null;
  }

  private async demandStored(id: string, sent: Buffer): Promise<void> {
    if (!(await this.files.digest(id))?.equals(sent)) throw alreadyUploaded();
  }

  /** The vendor's way: a version whose upload is no archive is done with. */
  private fail(id: string, { message }: NotAnArchive): Promise<void> {
    return this.tell(id, { type: 'FailConfiguration', data: { error: 'invalid-archive', message } });
  }

  private tell(id: string, command: ConfigurationVersionCommand): Promise<void> {
    return this.store.untilFirst(async () => {
      const found = await configurationForUpload(this.store.database, id);
      const loaded = await this.store.restore(id, configurationVersion, found.snapshot);
      const write = writeOf(configurationVersion, loaded, found.organization, command);
      if (write.events.length === 0) return;
      const begun = command.type === 'UploadConfiguration' ? await this.begun(found) : [];
      await this.store.append([write, ...begun], systemContext('signed link', this.ids.uuid()));
    });
  }

  /**
   * The run that begins with the upload; where the workspace is busy or locked it waits for its turn. The link is good
   * for a day, and who made the version may have lost what they had: no run begins for who could no longer queue it.
   */
  private async begun(found: ConfigurationForUpload): Promise<readonly Write[]> {
    if (!found.autoQueueRuns || found.executionMode === 'local') return [];
    const maker = await identityNow(this.store.database, found.createdBy);
    const place = await placeOfMaker(this.store.database, maker, found);
    if (!may(maker, 'queue-run', place)) return [];
    const options = {
      ...DEFAULT_OPTIONS,
      planOnly: found.speculative,
      autoApply: found.autoApply && found.mayApply && may(maker, 'apply-run', place),
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
      ...(waitsItsTurn(options) ? [] : [{ type: 'QueueRun', data: {} } as const]),
    ];
    return [
      unchanged(found.organization, found.organizationVersion),
      unchanged(found.workspace, found.workspaceVersion),
      writeOf(run, unborn(this.ids.next('run'), run), found.organization, ...commands),
    ];
  }
}
