import { Injectable } from '@nestjs/common';
import { Clock, conflict, decide, Ids, notFound, Refused } from '#kernel';
import { systemContext } from '#access';
import type { BlobContent } from '#blob-store';
import { EventStore, unchanged, type Loaded } from '#event-store';
import {
  registryProviderVersion,
  type RegistryProviderVersion,
  type RegistryProviderVersionCommand,
} from './registry-provider-version.js';
import { closeUpload, openUpload, uploadTarget, type Attempt, type UploadTarget } from './release-files.queries.js';
import { ReleaseFiles } from './release.files.js';
import { Turns } from './turns.js';

type Active = Extract<RegistryProviderVersion, { readonly status: 'active' }>;

/** A version as somebody uploads to it. */
export type Prepared = Loaded<RegistryProviderVersion> & { readonly state: Active; readonly target: UploadTarget };

/** A file as it goes into the store, and what is then told of it; asked again for each attempt to tell it. */
export type Delivery = {
  readonly id: string;
  readonly content: BlobContent;
  /** `size` as it lies in the store; 0 where it is asked beforehand, whether the file would be taken. */
  readonly commandFor: (prepared: Prepared, size: number) => Promise<RegistryProviderVersionCommand>;
};

/** Whether nothing was stored for certain: of a store that fails nobody knows. */
const isCertain = (error: unknown): boolean => error instanceof Refused && error.kind !== 'unavailable';

/**
 * How a file and the log come to agree, whenever a process is killed: a note that it may come, the file, then the event
 * together with the end of the note. So whatever the log calls uploaded is there. A file that no event came to tell of is
 * found by its note (abandoned-uploads.chore.ts), and who uploads it again finds it where it belongs.
 */
@Injectable()
export class ReleaseUploads {
  private readonly turns = new Turns();

  constructor(
    private readonly store: EventStore,
    private readonly files: ReleaseFiles,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  async prepare(version: string): Promise<Prepared> {
    const target = await uploadTarget(this.store.database, version);
    const loaded = await this.store.restore(version, registryProviderVersion, target.snapshot);
    const { state } = loaded;
    if (state.status !== 'active') throw notFound('This version has been deleted');
    return { ...loaded, state, target };
  }

  async deliver(prepared: Prepared, { id, content, commandFor }: Delivery): Promise<void> {
    // Refused before it is stored, where it is known already; decided once more on what happens meanwhile.
    decide(registryProviderVersion, await commandFor(prepared, 0), prepared.state);
    const attempt = { id, attempt: this.ids.uuid() };
    await this.put(attempt, content);
    await this.turns.take(prepared.stream, () => this.tell(prepared.stream, attempt, commandFor));
  }

  private async tell(version: string, attempt: Attempt, commandFor: Delivery['commandFor']): Promise<void> {
    await this.store.handle({
      decider: registryProviderVersion,
      load: async () => {
        const now = await this.prepare(version);
        return { ...now, command: await commandFor(now, await this.sizeOf(attempt.id)) };
      },
      command: ({ command }) => command,
      organization: ({ target }) => target.organization,
      holding: ({ target }) => [unchanged(target.organization, target.organizationVersion)],
      context: systemContext('signed link', this.ids.uuid()),
      read: () => [closeUpload(attempt)],
    });
  }

  private async put(attempt: Attempt, content: BlobContent): Promise<void> {
    const { database } = this.store;
    await openUpload(database, attempt, this.clock.now());
    try {
      await this.files.put(attempt.id, content);
    } catch (error) {
      // Where this fails as well, the chore finds the note.
      if (isCertain(error)) await database.rows(closeUpload(attempt)).catch(() => undefined);
      throw error;
    }
  }

  private async sizeOf(id: string): Promise<number> {
    const size = await this.files.size(id);
    if (size === null) throw conflict('The file has just been deleted, with what it belongs to');
    return size;
  }
}
