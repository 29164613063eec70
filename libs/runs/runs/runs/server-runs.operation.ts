import {
  sql,
  type DataOf,
  type EventContext,
  type ExecutionMode,
  type Principal,
  type Timestamp,
} from '#platform/kernel';
import { decideWrite, expectVersion, newStream, type EventStore, type StreamWrite } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { HAS_ENFORCED_POLICIES } from '#runs/policies';
import { SELECT_CONSULTED_TASKS } from '#runs/run-tasks';
import type { ConsultedTask } from '#runs/run-tasks/rules';
import { EXECUTION_MODE, SELECT_SITE_RELEASES, type SiteRelease, type ToolReleases } from '#workspaces/workspaces';
import { DESTROY_AT } from './destroy-times.queries.js';
import { DEFAULT_OPTIONS, type RunOptions } from './run-options.js';
import { createStageCommands } from './new-task-stages.ids.js';
import { run, type RunCommand } from './run.js';
import { ASSESSMENT, type RunSource } from './run-event.js';
import { isOpen } from './runs.queries.js';

/** The workspace in which the server creates a run. */
type WorkspaceForServerRun = {
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspaceVersion: number;
  readonly project: string;
  readonly projectVersion: number;
  readonly executionMode: ExecutionMode;
  readonly autoApplyRunTrigger: boolean;
  /** When its resources are destroyed automatically; null if they are not. */
  readonly destroyAt: Timestamp | null;
  /** Whether the workspace is locked, or has a run that waits or executes. */
  readonly isBusy: boolean;
  readonly terraformVersion: string;
  readonly siteReleases: readonly SiteRelease[];
  readonly consultedTasks: readonly ConsultedTask[];
  /** Whether its plans must pass policies. */
  readonly hasPolicies: boolean;
  /** Whether the run exists, or did before the workspace was recovered. */
  readonly exists: boolean;
  /** The number of runs that wait for their turn. */
  readonly waiting: number;
  /** The current configuration version; null if none is uploaded. */
  readonly configuration: { readonly id: string; readonly version: number } | null;
};

/** A run for which no client sends options. Its cause decides its id, so that the same cause creates no second run. */
type ServerRun = {
  readonly id: string;
  readonly workspace: string;
  readonly message: string;
  readonly source: RunSource;
  /** Who creates the run: the part of the server, or the person who wants it. */
  readonly createdBy: Principal;
  /** Returns the options that differ from the defaults; null if the workspace gets no run. */
  readonly decideOptions: (workspace: WorkspaceForServerRun) => Partial<RunOptions> | null;
  /** Returns the change of the workspace that belongs to the new run. */
  readonly prepareChange?: (organization: string) => Promise<StreamWrite>;
};

const loadWorkspaceForServerRun = (
  database: Database,
  workspace: string,
  id: string,
): Promise<WorkspaceForServerRun | undefined> =>
  database.row<WorkspaceForServerRun>(sql`
    select w.organization, so.version as "organizationVersion", sw.version as "workspaceVersion",
           w.project, sp.version as "projectVersion", ${DESTROY_AT} as "destroyAt",
           w.lock is not null
             or exists (select 1 from runs r where r.workspace = w.id and r.queues and ${isOpen('r')}) as "isBusy",
           ${EXECUTION_MODE} as "executionMode", (w.settings ->> 'autoApplyRunTrigger')::boolean as "autoApplyRunTrigger",
           w.settings ->> 'terraformVersion' as "terraformVersion", ${SELECT_SITE_RELEASES} as "siteReleases",
           ${SELECT_CONSULTED_TASKS} as "consultedTasks", ${HAS_ENFORCED_POLICIES} as "hasPolicies",
           exists (select 1 from event_store.streams where stream = ${id}) as exists,
           (select count(*) from runs r where r.workspace = w.id and r.queues and r.status = 'pending' and ${isOpen('r')}) as waiting,
           (select jsonb_build_object('id', c.id, 'version', s.version)
              from configuration_versions c join event_store.streams s on s.stream = c.id
             where c.workspace = w.id and c.status = 'uploaded' and c.current_since is not null
             order by c.current_since desc, c.id desc limit 1) as configuration
      from workspaces w join projects p on p.id = w.project join organizations o on o.id = w.organization
      join event_store.streams so on so.stream = w.organization join event_store.streams sw on sw.stream = w.id
      join event_store.streams sp on sp.stream = w.project
     where w.id = ${workspace}`);

const listCommands = (
  id: string,
  data: DataOf<RunCommand, 'CreateRun'>,
  target: WorkspaceForServerRun,
): readonly RunCommand[] => [
  { type: 'CreateRun', data },
  // An assessment waits for nothing, so nothing else starts it. Nobody decides about it, so it asks no run tasks and no policies.
  ...(data.source === ASSESSMENT ? [{ type: 'QueueRun', data: {} } as const] : createStageCommands(id, target)),
];

/**
 * Creates the run, which waits for its turn or, if it needs none, for an executor. Resolves to false if the run exists, if the
 * workspace does not, or if it cannot have runs: because it has no configuration, because its execution mode is `local`, or because
 * `decideOptions` returns null.
 */
export const createServerRun = (
  store: EventStore,
  releases: ToolReleases,
  { id, workspace, message, source, createdBy, decideOptions, prepareChange }: ServerRun,
  context: EventContext,
): Promise<boolean> =>
  store.retryOnConflict(async () => {
    const target = await loadWorkspaceForServerRun(store.database, workspace, id);
    if (!target?.configuration || target.exists || target.executionMode === 'local') return false;
    const terraformVersion = releases.with(target.siteReleases).resolve(target.terraformVersion);
    const decided = decideOptions({ ...target, terraformVersion });
    if (!decided) return false;
    const { organization, configuration } = target;
    const data = {
      workspace,
      configurationVersion: configuration.id,
      message,
      source,
      createdBy,
      options: {
        ...DEFAULT_OPTIONS,
        planOnly: false,
        autoApply: false,
        terraformVersion,
        ...decided,
      },
    };
    const writes = [
      expectVersion(organization, target.organizationVersion),
      expectVersion(target.project, target.projectVersion),
      // The version that the decision has seen: a change after it makes the append conflict, and all is decided again.
      prepareChange
        ? { ...(await prepareChange(organization)), expected: target.workspaceVersion }
        : expectVersion(workspace, target.workspaceVersion),
      expectVersion(configuration.id, configuration.version),
      decideWrite(run, newStream(id, run), organization, ...listCommands(id, data, target)),
    ];
    await store.append(writes, context);
    return true;
  });
