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
import {
  NO_USES,
  toolVersions,
  type ToolProgram,
  type ToolVersionChanges,
  type ToolVersionSettings,
} from './tool-version.js';
import { listReleases, ToolReleases } from './tool-releases.catalogue.js';
import { countUses, loadToolVersionsForCommand } from './tool-versions.view.js';

type ToolVersionOperations = {
  /** Resolves to the id of the version. */
  AddToolVersion: Operation<
    { program: ToolProgram; version: string; settings: ToolVersionSettings; actor: Actor },
    string
  >;
  ChangeToolVersion: Operation<{ program: ToolProgram; id: string; changes: ToolVersionChanges; actor: Actor }, void>;
  DeleteToolVersion: Operation<{ program: ToolProgram; id: string; actor: Actor }, void>;
};

export class ChangeToolVersions<T extends keyof ToolVersionOperations> extends AggregateCommand<
  ToolVersionOperations,
  T
> {}

@CommandHandler(ChangeToolVersions)
export class ToolVersionsHandler extends AggregateHandler<ToolVersionOperations> {
  protected readonly operations: OperationTable<ToolVersionOperations> = {
    AddToolVersion: async ({ program, version, settings, actor }) => {
      const id = this.ids.next('tool');
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => loadToolVersionsForCommand(this.store.database, program, actor),
        command: () => {
          const isListed = this.isListed(program, version);
          return { type: 'AddToolVersion', data: { program, id, version, settings, isListed } };
        },
      });
      return id;
    },
    ChangeToolVersion: async ({ program, id, changes, actor }) => {
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => this.load(program, id, actor),
        command: ({ release, uses }) => {
          const isListed = changes.version !== undefined && this.isListed(program, changes.version);
          const listed = release?.isListed ? release : null;
          return { type: 'ChangeToolVersion', data: { program, id, changes, listed, isListed, uses } };
        },
      });
    },
    DeleteToolVersion: async ({ program, id, actor }) => {
      await changeResource(this.store, toolVersions, {
        actor,
        load: () => this.load(program, id, actor),
        command: ({ release, uses }) => {
          const listed = release?.isListed ? release : null;
          return { type: 'DeleteToolVersion', data: { program, id, listed, uses } };
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
  private isListed(program: ToolProgram, version: string): boolean {
    return listReleases(this.releases, program, []).some((release) => release.version === version);
  }

  private async load(program: ToolProgram, id: string, actor: Actor) {
    const { database } = this.store;
    const row = await loadToolVersionsForCommand(database, program, actor);
    const release = listReleases(this.releases, program, row.siteReleases).find((one) => one.id === id);
    // Nothing names a version of OPA.
    const isUsable = release !== undefined && program === 'terraform';
    return { ...row, release, uses: isUsable ? await countUses(database, this.runs, release.version) : NO_USES };
  }
}
