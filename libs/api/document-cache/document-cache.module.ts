import { Module, type DynamicModule, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { EventStore } from '#storage/event-store';
import type { Clock } from '#platform/kernel';
import { DocumentDependencies } from './dependencies.js';
import { DocumentCache } from './document-cache.js';
import { ReadBarrier } from './read.barrier.js';

type DocumentCacheOptions = {
  readonly store: EventStore;
  readonly clock: Clock;
  /** Bytes; null to keep no documents. */
  readonly documentCacheBytes: number | null;
};

/** The documents that a gateway keeps, and the barrier in front of them. */
export class DocumentMemory implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly documents: DocumentCache;
  readonly barrier: ReadBarrier;

  constructor({ store, clock }: DocumentCacheOptions, bytes: number) {
    this.documents = new DocumentCache(bytes, new DocumentDependencies(store.projections), clock);
    this.barrier = new ReadBarrier(store.database, this.documents);
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
    return { module: DocumentCacheModule, providers, exports: providers };
  }
}
