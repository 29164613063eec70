import { Module, type DynamicModule, type Provider, type Type } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { EncryptionKeys } from '#platform/encryption';
import { Clock, Ids, Quotas } from '#platform/kernel';
import { defineAggregate, EventStore, toProjection, type ModuleDefinition } from '#storage/event-store';
import { Database } from '#platform/postgres';
import { Vault } from '#storage/vault';
import { EncryptedBlobs, SignedLinks, type BlobStore } from '#storage/blob-store';
import { CurrentRuns, ToolReleases } from '#workspaces/workspaces';
import { AssessmentResultsController } from './assessments/assessment-results.controller.js';
import { Assessments } from './assessments/assessments.service.js';
import { assessment, assessmentEvents } from './assessments/assessment.js';
import { assessmentsFollower } from './assessments/assessments.follower.js';
import { assessmentResults } from './assessments/assessments.view.js';
import { WorkspaceRuns } from './assessments/workspace-runs.renderer.js';
import { configurationVersion, configurationVersionEvents } from './configuration-versions/configuration-version.js';
import { configurationVersions } from './configuration-versions/configuration-versions.projection.js';
import { selectOrganizationFiles } from './run-files/organization-files.queries.js';
import { configurationReads, erroredStateReads, planOutputReads } from './reads.events.js';
import { run } from './runs/run.js';
import { runTokens } from './run-tokens/run-tokens.projection.js';
import { runQueueFollower } from './queue/run-queue.follower.js';
import { runEvents } from './runs.events.js';
import { runs, runSecrets } from './runs.projection.js';
import { AdminRunsController } from './administration/admin-runs.controller.js';
import { AppliesController } from './phases/applies.controller.js';
import { CommentsController } from './comments/comments.controller.js';
import { CommitVersions } from './configuration-versions/commit-versions.service.js';
import { ConfigurationFiles } from './configuration-versions/configuration-version.files.js';
import { ConfigurationFilesController } from './configuration-versions/configuration-files.controller.js';
import { ConfigurationLinks } from './configuration-versions/configuration-version.links.js';
import { ConfigurationUploads } from './configuration-versions/configuration-version.uploads.js';
import { ConfigurationVersionsController } from './configuration-versions/configuration-versions.controller.js';
import { ConfigurationVersionsHandler } from './configuration-versions/configuration-versions.handler.js';
import { OrganizationCapacityController } from './queue/organization-capacity.controller.js';
import { PlanDocumentLinks } from './plan-documents/plan-documents.links.js';
import { PlanDocumentRedirects } from './plan-documents/plan-document-redirects.service.js';
import { PlanDocuments } from './plan-documents/plan-documents.service.js';
import { PlanDocumentsController } from './plan-documents/plan-documents.controller.js';
import { PlanRedactor } from './plan-documents/plan-redactor.threads.js';
import { PlanFileLinks } from './plan-files/plan-files.links.js';
import { PlanFiles } from './plan-files/plan-files.service.js';
import { PlanFilesController } from './plan-files/plan-files.controller.js';
import { PlansController } from './phases/plans.controller.js';
import { RunEventsController } from './run-events/run-events.controller.js';
import { RunStatisticsController } from './statistics/run-statistics.controller.js';
import { ExecutorWaits } from './run-leases/executor-waits.service.js';
import { RunLeasesController } from './run-leases/run-leases.controller.js';
import { RunTokensController } from './run-tokens/run-tokens.controller.js';
import { ErroredStateLinks } from './errored-states/errored-states.links.js';
import { ErroredStates } from './errored-states/errored-states.service.js';
import { ErroredStatesController } from './errored-states/errored-states.controller.js';
import { jobValues } from './jobs/job-values.projection.js';
import { JOB_VALUES_PURPOSE, JobValuesStore } from './job-values/job-values.service.js';
import { RunIdentityTokens } from './identity-tokens/run-identity-tokens.service.js';
import { RunIdentityTokensController } from './identity-tokens/run-identity-tokens.controller.js';
import { RunJobRenderer } from './jobs/run-jobs.renderer.js';
import { RunJobs } from './jobs/run-jobs.service.js';
import { RunJobsController } from './jobs/run-jobs.controller.js';
import { RunChanges } from './runs/run-changes.service.js';
import type { LinkSigner } from './runs/recipient.links.js';
import { RunLogLinks } from './runs/run-logs.links.js';
import { LOGS_PURPOSE, RunLogs } from './logs/run-logs.service.js';
import { RunLogsController } from './logs/run-logs.controller.js';
import { RunFiles } from './run-files/run.files.js';
import { listChunkOwners, runLogChunks } from './logs/log-chunks.projection.js';
import { runLeases } from './runs/run-leases.projection.js';
import { SiteRunLimit } from './runs/run-leases.queries.js';
import { RunRenderer } from './runs/runs.renderer.js';
import { RunVariables } from './runs/runs.variables.js';
import { RunsController } from './runs/runs.controller.js';
import { RunsHandler } from './runs/runs.handler.js';
import { PolicyOverridesController } from './runs/policy-overrides.controller.js';
import { PolicyEvaluationsController } from './policy-evaluations/policy-evaluations.controller.js';
import { PolicySetOutcomesController } from './policy-evaluations/policy-set-outcomes.controller.js';
import { policyEvaluationEvents } from './task-results/policy-evaluations.events.js';
import { policyEvaluations } from './task-results/policy-evaluations.projection.js';
import { TaskCallbacksController } from './task-results/task-callbacks.controller.js';
import { TaskReports } from './task-results/task-reports.service.js';
import { taskStageEvents } from './task-results/task-stages.events.js';
import { taskData, taskStages } from './task-results/task-stages.projection.js';
import { TaskTokens } from './task-results/task-tokens.links.js';
import { OUTCOME_BODIES_PURPOSE, TaskOutcomeBodies } from './task-stages/task-outcome.bodies.js';
import { TaskOutcomeBodiesController } from './task-stages/task-outcome-bodies.controller.js';
import { TaskResultOutcomesController } from './task-stages/task-result-outcomes.controller.js';
import { TaskResultsController } from './task-stages/task-results.controller.js';
import { TaskStagesController } from './task-stages/task-stages.controller.js';

/** Runs, their plans, applies and comments, and the configuration versions that they use. */
export const runsDefinition: ModuleDefinition = {
  name: 'runs',
  kinds: {
    ...runEvents,
    ...taskStageEvents,
    ...policyEvaluationEvents,
    ...configurationVersionEvents,
    ...configurationReads,
    ...planOutputReads,
    ...erroredStateReads,
    ...assessmentEvents,
  },
  aggregates: [
    defineAggregate('run', run),
    defineAggregate('cv', configurationVersion),
    defineAggregate('asmtres', assessment),
  ],
  projections: [
    toProjection(runSecrets),
    toProjection(runTokens),
    toProjection(jobValues),
    toProjection(runLeases),
    toProjection(runs),
    toProjection(taskStages),
    toProjection(policyEvaluations),
    toProjection(taskData),
    toProjection(runLogChunks),
    toProjection(configurationVersions),
    toProjection(assessmentResults),
  ],
  followers: [runQueueFollower, assessmentsFollower],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'runs.kept_archives',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
    {
      table: 'runs.kept_run_files',
      backup: 'rows',
      organizationExport: { without: 'a follower fills it from the events' },
    },
    { table: 'runs.log_chunks', backup: 'rows', organizationExport: { listOwners: listChunkOwners } },
    {
      table: 'runs.job_values',
      backup: 'rows',
      organizationExport: { listOwners: ({ run, workspace }) => [run, workspace] },
    },
    {
      table: 'runs.task_outcome_bodies',
      backup: 'rows',
      organizationExport: { listOwners: ({ run, workspace }) => [run, workspace] },
    },
    { table: 'runs.task_requests', backup: 'empty', because: 'the services get their requests again after a restore' },
    { table: 'runs.leases', backup: 'empty', because: 'executors must claim runs again after a restore' },
    { table: 'runs.claim_turns', backup: 'empty', because: 'all organizations begin equally after a restore' },
    {
      table: 'runs.assessments_begun',
      backup: 'empty',
      because: 'a restored site must not assess workspaces before somebody has queued a run in them',
    },
  ],
  encryptedColumns: [
    { table: 'runs.log_chunks', id: 'id', column: 'content', purpose: LOGS_PURPOSE },
    { table: 'runs.job_values', id: 'run', column: 'content', purpose: JOB_VALUES_PURPOSE },
    { table: 'runs.task_outcome_bodies', id: 'id', column: 'content', purpose: OUTCOME_BODIES_PURPOSE },
  ],
  selectOrganizationFiles,
};

export type RunsOptions = {
  /** Stores the archives of configuration versions. */
  readonly blobs: BlobStore;
  readonly encryptionKeys: EncryptionKeys;
  /** Origin under which clients reach the server, without a trailing slash. */
  readonly publicUrl: string;
  /** Bytes of the longest log. */
  readonly logLimit: number;
  /** Bytes of the largest archive with a plan. */
  readonly planFileLimit: number;
  /** Phases of one organization that executors of the site execute at once; null for any number. */
  readonly siteRunsPerOrganization: number | null;
  /** The time between two health assessments of a workspace; null if the site has none. */
  readonly assessmentHours: number | null;
  readonly quotas: Quotas;
};

/** Creates the logs for a gateway, or for the job that moves them to files. */
export const createRunLogs = (
  store: EventStore,
  { blobs, encryptionKeys, logLimit }: Pick<RunsOptions, 'blobs' | 'encryptionKeys' | 'logLimit'>,
  changes = new RunChanges(store.database),
): RunLogs =>
  new RunLogs({
    store,
    changes,
    files: new RunFiles(new EncryptedBlobs(blobs, encryptionKeys)),
    encryptionKeys,
    limit: logLimit,
  });

/** Creates the configuration versions of commits, for the job that fetches commits. */
export const createCommitVersions = ({
  store,
  ids,
  toolReleases,
  ...options
}: Pick<RunsOptions, 'blobs' | 'encryptionKeys'> & {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly toolReleases: readonly string[];
}): CommitVersions => {
  const files = new ConfigurationFiles(new EncryptedBlobs(options.blobs, options.encryptionKeys));
  return new CommitVersions(store, new ConfigurationUploads(store, files, ids, new ToolReleases(toolReleases)), ids);
};

const CONTROLLERS = [
  AdminRunsController,
  AppliesController,
  AssessmentResultsController,
  CommentsController,
  ConfigurationFilesController,
  ErroredStatesController,
  ConfigurationVersionsController,
  OrganizationCapacityController,
  PlanDocumentsController,
  PlanFilesController,
  PlansController,
  PolicyEvaluationsController,
  PolicyOverridesController,
  PolicySetOutcomesController,
  RunEventsController,
  RunIdentityTokensController,
  RunJobsController,
  RunLogsController,
  RunStatisticsController,
  RunLeasesController,
  RunTokensController,
  RunsController,
  TaskCallbacksController,
  TaskOutcomeBodiesController,
  TaskResultOutcomesController,
  TaskResultsController,
  TaskStagesController,
];

const SERVICES = [
  ErroredStates,
  ConfigurationUploads,
  ConfigurationVersionsHandler,
  ExecutorWaits,
  RunIdentityTokens,
  RunJobs,
  RunChanges,
  RunRenderer,
  RunsHandler,
  PlanDocumentRedirects,
  PlanDocuments,
  PlanRedactor,
  WorkspaceRuns,
];

/** Provides the signed links to configurations, plan documents and logs. */
const provideLinks = ({ encryptionKeys, publicUrl }: RunsOptions): readonly Provider[] => {
  const provide = <T>(links: Type<T>, create: (sign: LinkSigner) => T): Provider => ({
    provide: links,
    useFactory: (clock: Clock) => create((purpose) => new SignedLinks(encryptionKeys, purpose, clock)),
    inject: [Clock],
  });
  return [
    provide(ConfigurationLinks, (sign) => ConfigurationLinks.with(publicUrl, sign)),
    provide(PlanDocumentLinks, (sign) => PlanDocumentLinks.with(publicUrl, sign)),
    provide(TaskTokens, TaskTokens.with),
    provide(PlanFileLinks, (sign) => new PlanFileLinks(publicUrl, sign('plan file'))),
    provide(ErroredStateLinks, (sign) => new ErroredStateLinks(publicUrl, sign('errored state'))),
    provide(RunLogLinks, (sign) => new RunLogLinks(publicUrl, sign('run log'))),
  ];
};

/** Provides what the jobs of executors need. */
const provideJobs = ({ encryptionKeys, planFileLimit, publicUrl }: RunsOptions): readonly Provider[] => [
  {
    provide: JobValuesStore,
    useFactory: (database: Database, vault: Vault) => new JobValuesStore({ database, encryptionKeys, vault }),
    inject: [Database, Vault],
  },
  {
    provide: RunJobRenderer,
    useFactory: (configurations: ConfigurationLinks, planFiles: PlanFileLinks) =>
      new RunJobRenderer(publicUrl, configurations, planFiles),
    inject: [ConfigurationLinks, PlanFileLinks],
  },
  {
    provide: PlanFiles,
    useFactory: (database: Database, documents: PlanDocuments, files: RunFiles) =>
      new PlanFiles({ database, documents, files, limit: planFileLimit }),
    inject: [Database, PlanDocuments, RunFiles],
  },
];

@Module({})
export class RunsModule {
  static with(options: RunsOptions): DynamicModule {
    const encrypted = new EncryptedBlobs(options.blobs, options.encryptionKeys);
    return {
      module: RunsModule,
      // Workspaces show their current runs through a port that they declare; they do not import this module.
      global: true,
      imports: [CqrsModule],
      controllers: CONTROLLERS,
      providers: [
        ...SERVICES,
        ...provideLinks(options),
        { provide: ConfigurationFiles, useValue: new ConfigurationFiles(encrypted) },
        {
          provide: RunLogs,
          useFactory: (store: EventStore, changes: RunChanges) => createRunLogs(store, options, changes),
          inject: [EventStore, RunChanges],
        },
        { provide: RunFiles, useValue: new RunFiles(encrypted) },
        {
          provide: Assessments,
          useFactory: (store: EventStore, releases: ToolReleases, clock: Clock) =>
            new Assessments(store, releases, clock, options.assessmentHours !== null),
          inject: [EventStore, ToolReleases, Clock],
        },
        { provide: CurrentRuns, useExisting: WorkspaceRuns },
        { provide: SiteRunLimit, useValue: new SiteRunLimit(options.siteRunsPerOrganization) },
        { provide: Quotas, useValue: options.quotas },
        RunVariables,
        { provide: TaskOutcomeBodies, useValue: new TaskOutcomeBodies(options.encryptionKeys) },
        {
          provide: TaskReports,
          useFactory: (store: EventStore, ids: Ids, bodies: TaskOutcomeBodies) => new TaskReports(store, ids, bodies),
          inject: [EventStore, Ids, TaskOutcomeBodies],
        },
        ...provideJobs(options),
      ],
      exports: [CurrentRuns],
    };
  }
}
