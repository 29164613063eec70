import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type DataOf } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion, decideWrite } from '#event-store';
import { createEventContext, requirePermission, can, toActingPrincipal, type Actor } from '#access';
import { ToolReleases, loadWorkspaceLock } from '#workspaces';
import { DEFAULT_OPTIONS, type RunOptions } from './run-options.js';
import { needsWorkspaceLock, waitsForWorkspace } from './run-state.js';
import { run, type RunCommand } from './run.js';
import type { RunSource } from './run-event.js';
import { RunVariables, type RunVariable } from './runs.variables.js';
import { getNewState } from './runs.handler.js';
import {
  loadWorkspaceForNewRun,
  selectRunById,
  type ConfigurationForRun,
  type WorkspaceForNewRun,
  type RunRow,
} from './runs.queries.js';

/** What a request asks for; the workspace and the configuration say what it leaves open. */
export type NewRun = {
  readonly workspace: string;
  readonly configurationVersion: string | null;
  readonly message: string;
  readonly source: RunSource;
  readonly options: Partial<Omit<RunOptions, 'variables'>>;
  readonly variables: readonly RunVariable[];
};

export class CreateRun extends Command<RunRow> {
  constructor(
    readonly input: NewRun,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateRun)
export class CreateRunHandler implements ICommandHandler<CreateRun> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly variables: RunVariables,
    private readonly releases: ToolReleases,
  ) {}

  async execute({ input, actor }: CreateRun): Promise<RunRow> {
    const id = this.ids.next('run');
    return this.store.untilFirst(async () => {
      const place = await loadWorkspaceForNewRun(
        this.store.database,
        actor,
        input.workspace,
        input.configurationVersion,
      );
      const { organization } = place;
      const configuration = requireUsableConfiguration(place, input.configurationVersion, actor);
      const data = toCreateRun(input, place, configuration, actor, this.releases);
      const lock = await loadWorkspaceLock(this.store, place.workspace, organization, place.workspaceSnapshot);
      const starts = !waitsForWorkspace(data.options) || (lock.holder === null && !place.isQueued);
      const commands: RunCommand[] = [
        { type: 'CreateRun', data },
        ...(starts ? [{ type: 'QueueRun', data: {} } as const] : []),
      ];
      const born = decideWrite(run, newStream(id, run), organization, ...commands);
      const takes = needsWorkspaceLock(getNewState(born));
      const writes = [
        expectVersion(organization, place.organizationVersion),
        expectVersion(configuration.id, configuration.version),
        // Held in any case: a run born while its workspace is given back would wait for nobody.
        takes ? lock.passed({ from: null, to: id }) : lock.precondition,
        born,
      ];
      // The row is read with the values, so that they come before it.
      const read = [...this.variables.encryptForRun(id, organization, input.variables), selectRunById(id, actor)];
      const { rows } = await this.store.append(writes, createEventContext(actor), read);
      return getFirstRow<RunRow>(rows.slice(-1));
    });
  }
}

const toCreateRun = (
  { options: asked, message, source, workspace, variables }: NewRun,
  place: WorkspaceForNewRun,
  configuration: ConfigurationForRun,
  actor: Actor,
  releases: ToolReleases,
): DataOf<RunCommand, 'CreateRun'> => {
  const planOnly = asked.planOnly ?? configuration.speculative;
  if (configuration.speculative && !planOnly) {
    throw unprocessable('Plan only must be true, for the configuration version is speculative', 'plan-only');
  }
  if (asked.terraformVersion !== undefined && !planOnly) {
    throw unprocessable('Terraform version is only valid for plan-only runs', 'terraform-version');
  }
  const isDestroy = asked.isDestroy ?? false;
  if (isDestroy && !place.allowDestroyPlan) {
    throw unprocessable('Destroy plans are not allowed in this workspace', 'is-destroy');
  }
  return {
    workspace,
    configurationVersion: configuration.id,
    message,
    source,
    createdBy: toActingPrincipal(actor),
    options: {
      ...DEFAULT_OPTIONS,
      ...asked,
      planOnly,
      // Who may not apply starts nothing that is applied without being asked about.
      autoApply: (asked.autoApply ?? place.autoApply) && can(actor, 'apply-run', place),
      terraformVersion: releases.resolve(asked.terraformVersion ?? place.terraformVersion),
      variables: variables.map(({ key }) => key),
    },
  };
};

const WORKSPACE = '/data/relationships/workspace';
const CONFIGURATION = '/data/relationships/configuration-version';

/** The configuration of a run that the caller may queue there. */
const requireUsableConfiguration = (
  place: WorkspaceForNewRun,
  named: string | null,
  actor: Actor,
): ConfigurationForRun => {
  requirePermission(actor, 'read-runs', place);
  requirePermission(actor, 'queue-run', place);
  if (place.executionMode === 'local') {
    throw unprocessable('Workspace has the local execution mode: no runs can be created in it', WORKSPACE);
  }
  const { configuration } = place;
  if (!configuration || !can(actor, 'read-configuration-version', configuration)) {
    const detail = named === null ? 'is missing: none has been uploaded' : 'does not exist';
    throw unprocessable(`Configuration version ${detail}`, CONFIGURATION);
  }
  if (!configuration.uploaded) throw unprocessable('Configuration version has not been uploaded', CONFIGURATION);
  return configuration;
};
