import { Module, type DynamicModule, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { EventStore, LogChange } from '#storage/event-store';
import { sql, type Clock, type Sql } from '#platform/kernel';
import type { Resource } from '#api/json-api';
import { DocumentDependencies } from './dependencies.js';
import { DocumentCache } from './document-cache.js';
import type { ResourcesInMemory, ResourceKeys, ResourceReader, LoadedRow } from './resources-in-memory.js';
import { ReadBarrier } from './read.barrier.js';

type DocumentCacheOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  /** Bytes; null to keep no documents. */
  readonly documentCacheBytes: number | null;
  /** Removes from a resource what the edition does not have. */
  readonly editResource: (resource: Resource) => Resource;
};

/** The part of the memory for complete responses. The other part is for resources, of which responses are made. */
const SHARE_OF_RESPONSES = 0.25;

/** The resources and responses that a gateway keeps, and the barrier in front of them. */
export class DocumentMemory implements OnApplicationBootstrap, OnApplicationShutdown, ResourceReader {
  readonly documents: DocumentCache;
  readonly dependencies: DocumentDependencies;
  readonly barrier: ReadBarrier;
  readonly clock: Clock;
  readonly editResource: DocumentCacheOptions['editResource'];
  readonly resourceBytes: number;
  private provided: ResourcesInMemory | null = null;

  constructor({ store, clock, editResource }: DocumentCacheOptions, bytes: number) {
    this.clock = clock;
    this.editResource = editResource;
    const responseBytes = Math.floor(bytes * SHARE_OF_RESPONSES);
    this.resourceBytes = bytes - responseBytes;
    this.dependencies = new DocumentDependencies(store.projections);
    this.documents = new DocumentCache(responseBytes, this.dependencies, clock);
    this.barrier = new ReadBarrier(store.database, this);
  }

  /** Null if no module has provided any. */
  get resources(): ResourcesInMemory | null {
    return this.provided;
  }

  provideResources(provided: ResourcesInMemory): void {
    this.provided = provided;
  }

  onChanges(changes: readonly LogChange[]): void {
    this.documents.onChanges(changes);
    this.provided?.onChanges(changes);
  }

  onUnknownChanges(): void {
    this.documents.onUnknownChanges();
    this.provided?.onUnknownChanges();
  }

  select(keys: ResourceKeys): Sql {
    return this.provided?.select(keys) ?? sql.raw('select null::text as id where false');
  }

  onRead(keys: ResourceKeys, rows: readonly LoadedRow[]): void {
    this.provided?.onRead(keys, rows);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.barrier.open();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.barrier.close();
  }
}

/** Provides the memory of the HTTP server. Without bytes, nothing is provided, and every request reads Postgres. */
@Module({})
export class DocumentCacheModule {
  static with(options: DocumentCacheOptions): DynamicModule {
    const { documentCacheBytes: bytes } = options;
    const providers =
      bytes === null ? [] : [{ provide: DocumentMemory, useFactory: () => new DocumentMemory(options, bytes) }];
    return { module: DocumentCacheModule, global: true, providers, exports: providers };
  }
}
