import { Injectable } from '@nestjs/common';
import { Clock, conflict, decide, Ids, notFound, Refusal } from '#kernel';
import { createSystemContext } from '#access';
import type { BlobContent } from '#blob-store';
import { EventStore, expectVersion, type LoadedStream } from '#event-store';
import {
  registryProviderVersion,
  type RegistryProviderVersionState,
  type RegistryProviderVersionCommand,
} from '../versions/registry-provider-version.js';
import {
  deleteUploadAttempt,
  recordUploadAttempt,
  loadReleaseUploadTarget,
  type UploadAttempt,
  type ReleaseUploadTarget,
} from './release-files.queries.js';
import { ReleaseFiles } from './release.files.js';
import { KeyedMutex } from './keyed-mutex.js';

type Active = Extract<RegistryProviderVersionState, { readonly status: 'active' }>;

/** A version as somebody uploads to it. */
export type LoadedUpload = LoadedStream<RegistryProviderVersionState> & {
  readonly state: Active;
  readonly target: ReleaseUploadTarget;
};

/** A file as it goes into the store, and what is then told of it; asked again for each attempt to tell it. */
export type ReleaseUpload = {
  readonly id: string;
  readonly content: BlobContent;
  /** `size` as it lies in the store; 0 where it is asked beforehand, whether the file would be taken. */
  readonly commandFor: (prepared: LoadedUpload, size: number) => Promise<RegistryProviderVersionCommand>;
};

/** Whether nothing was stored for certain: of a store that fails nobody knows. */
const isDefiniteFailure = (error: unknown): boolean => error instanceof Refusal && error.kind !== 'unavailable';

/**
 * How a file and the log come to agree, whenever a process is killed: a note that it may come, the file, then the event
 * together with the end of the note. So whatever the log calls uploaded is there. A file that no event came to tell of is
 * found by its note (abandoned-uploads.job.ts), and who uploads it again finds it where it belongs.
 */
@Injectable()
export class ReleaseUploads {
  private readonly turns = new KeyedMutex();

  constructor(
    private readonly store: EventStore,
    private readonly files: ReleaseFiles,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  async prepare(version: string): Promise<LoadedUpload> {
    const target = await loadReleaseUploadTarget(this.store.database, version);
    const loaded = await this.store.restore(version, registryProviderVersion, target.snapshot);
    const { state } = loaded;
    if (state.status !== 'active') throw notFound('This version has been deleted');
    return { ...loaded, state, target };
  }

  async deliver(prepared: LoadedUpload, { id, content, commandFor }: ReleaseUpload): Promise<void> {
    // Refused before it is stored, where it is known already; decided once more on what happens meanwhile.
    decide(registryProviderVersion, await commandFor(prepared, 0), prepared.state);
    const attempt = { id, attempt: this.ids.uuid() };
    await this.put(attempt, content);
    await this.turns.take(prepared.stream, () => this.tell(prepared.stream, attempt, commandFor));
  }

  private async tell(version: string, attempt: UploadAttempt, commandFor: ReleaseUpload['commandFor']): Promise<void> {
    await this.store.handle({
      decider: registryProviderVersion,
      load: async () => {
        const now = await this.prepare(version);
        return { ...now, command: await commandFor(now, await this.sizeOf(attempt.id)) };
      },
      command: ({ command }) => command,
      organization: ({ target }) => target.organization,
      holding: ({ target }) => [expectVersion(target.organization, target.organizationVersion)],
      context: createSystemContext('signed link', this.ids.uuid()),
      read: () => [deleteUploadAttempt(attempt)],
    });
  }

  private async put(attempt: UploadAttempt, content: BlobContent): Promise<void> {
    const { database } = this.store;
    await recordUploadAttempt(database, attempt, this.clock.now());
    try {
      await this.files.put(attempt.id, content);
    } catch (error) {
      // Where this fails as well, the chore finds the note.
      if (isDefiniteFailure(error)) await database.rows(deleteUploadAttempt(attempt)).catch(() => undefined);
      throw error;
    }
  }

  private async sizeOf(id: string): Promise<number> {
    const size = await this.files.size(id);
    if (size === null) throw conflict('The file has just been deleted, with what it belongs to');
    return size;
  }
}
