import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { Database } from '#platform/postgres';
import { DocumentMemory } from '#api/document-cache';
import { WorkspaceMemory } from './workspace-memory.js';

/** Provides workspaces to the memory of the gateway, if it has one. */
@Injectable()
export class WorkspaceMemoryProvider implements OnModuleInit {
  constructor(
    @Optional() @Inject(DocumentMemory) private readonly memory: DocumentMemory | undefined,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.memory?.provideResources(new WorkspaceMemory(this.memory, this.database));
  }
}
