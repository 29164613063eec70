import { CommandHandler } from '@nestjs/cqrs';
import { Ids } from '#platform/kernel';
import { changeResource, type Actor } from '#api/access';
import {
  AggregateCommand,
  AggregateHandler,
  EventStore,
  type Operation,
  type OperationTable,
} from '#storage/event-store';
import { CurrentRuns } from '../ports/current-runs.port.js';
import { NO_USES, toolVersions, type ToolVersionSettings } from './tool-version.js';
import { ToolReleases } from './tool-releases.catalogue.js';
import { countUses, loadToolVersionsForCommand } from './tool-versions.view.js';

type ToolVersionOperations = {
  /** Resolves to the id of the version. */
  AddToolVersion: Operation<{ version: string; settings: ToolVersionSettings; actor: Actor }, string>;
  ChangeToolVersion: Operation<
    { id: string; changes: Partial<ToolVersionSettings> & { readonly version?: string }; actor: Actor },
    void
  >;
  DeleteToolVersion: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeToolVersions<T extends keyof ToolVersionOperations> extends AggregateCommand<
  ToolVersionOperations,
  T
> {}

@CommandHandler(ChangeToolVersions)
export class ToolVersionsHandler extends AggregateHandler<ToolVersionOperations> {
  protected readonly operations: OperationTable<ToolVersionOperations> = {
    AddToolVersion: async ({ version, settings, actor }) => {
      const id = this.ids.next('tool');
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => loadToolVersionsForCommand(this.store.database, actor),
        command: () => ({ type: 'AddToolVersion', data: { id, version, settings, isListed: this.isListed(version) } }),
      });
      return id;
    },
    ChangeToolVersion: async ({ id, changes, actor }) => {
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => this.load(id, actor),
        command: ({ release, uses }) => {
          const isListed = changes.version !== undefined && this.isListed(changes.version);
          const listed = release?.isListed ? release : null;
          return { type: 'ChangeToolVersion', data: { id, changes, listed, isListed, uses } };
        },
      });
    },
    DeleteToolVersion: async ({ id, actor }) => {
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => this.load(id, actor),
        command: ({ release, uses }) => {
          const listed = release?.isListed ? release : null;
          return { type: 'DeleteToolVersion', data: { id, listed, uses } };
        },
      });
    },
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly releases: ToolReleases,
    private readonly runs: CurrentRuns,
  ) {
    super();
  }

  /** Whether the server or the setting of the operator lists the version. */
  private isListed(version: string): boolean {
    return this.releases.list.some((release) => release.version === version);
  }

  private async load(id: string, actor: Actor) {
    const row = await loadToolVersionsForCommand(this.store.database, actor);
    const release = this.releases.with(row.siteReleases).find(id);
    return {
      ...row,
      release,
      uses: release ? await countUses(this.store.database, this.runs, release.version) : NO_USES,
    };
  }
}
