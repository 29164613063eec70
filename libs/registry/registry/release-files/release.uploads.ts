import { Injectable } from '@nestjs/common';
import { Clock, conflict, decide, forbidden, Ids, isDefiniteFailure, KeyedMutex, notFound } from '#platform/kernel';
import { can, createSystemContext, findCurrentIdentity, requireAddressOfLink } from '#api/access';
import type { BlobContent } from '#storage/blob-store';
import { EventStore, expectVersion, type LoadedStream } from '#storage/event-store';
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
import type { ReleaseLinkRecipient } from './release.links.js';

type Active = Extract<RegistryProviderVersionState, { readonly status: 'active' }>;

/** The recipient of an upload link, and the address from which the file comes. */
export type ReleaseSender = { readonly recipient: ReleaseLinkRecipient; readonly address: string | null };

export type LoadedUpload = LoadedStream<RegistryProviderVersionState> & {
  readonly state: Active;
  readonly target: ReleaseUploadTarget;
  readonly sender: ReleaseSender;
};

/** A file to store, and the command that records it. `commandFor` runs again for each attempt to append. */
type ReleaseUpload = {
  readonly id: string;
  readonly content: BlobContent;
  /** `size` is the size in the store; 0 for the check before the file is stored. */
  readonly commandFor: (prepared: LoadedUpload, size: number) => Promise<RegistryProviderVersionCommand>;
};

/**
 * Keeps files and log consistent even if a process is killed at any time: first a note, then the file, then the event
 * together with the deletion of the note. So every file that the log calls uploaded exists. A file without an event is
 * found by its note (abandoned-uploads.job.ts); a client that uploads it again reuses it.
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

  /**
   * Throws `forbidden` if the recipient of the link may not manage providers any more, because a link lives for a day, or
   * if the organization refuses the address.
   */
  async prepare(version: string, sender: ReleaseSender): Promise<LoadedUpload> {
    const { recipient, address } = sender;
    const target = await loadReleaseUploadTarget(this.store.database, version, recipient);
    requireAddressOfLink(target.allowedRanges, address);
    const uploader = await findCurrentIdentity(this.store.database, recipient);
    if (!can(uploader, 'manage-providers', target)) {
      throw forbidden('The recipient of this upload link may not manage providers any more');
    }
    const loaded = await this.store.restore(version, registryProviderVersion, target.snapshot);
    const { state } = loaded;
    if (state.status !== 'active') throw notFound('This version has been deleted');
    return { ...loaded, state, target, sender };
  }

  async deliver(prepared: LoadedUpload, { id, content, commandFor }: ReleaseUpload): Promise<void> {
    // Rejects the file before storing it if possible. The decision is made again afterwards, because the version may
    // have changed.
    decide(registryProviderVersion, await commandFor(prepared, 0), prepared.state);
    const attempt = { id, attempt: this.ids.uuid() };
    await this.put(attempt, content);
    await this.turns.take(prepared.stream, () => this.record(prepared, attempt, commandFor));
  }

  private async record(
    { stream: version, sender }: LoadedUpload,
    attempt: UploadAttempt,
    commandFor: ReleaseUpload['commandFor'],
  ): Promise<void> {
    await this.store.handle({
      decider: registryProviderVersion,
      load: async () => {
        const current = await this.prepare(version, sender);
        return { ...current, command: await commandFor(current, await this.sizeOf(attempt.id)) };
      },
      command: ({ command }) => command,
      organization: ({ target }) => target.organization,
      preconditions: ({ target }) => [expectVersion(target.organization, target.organizationVersion)],
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
      // If this fails too, the scheduled job finds the note.
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
