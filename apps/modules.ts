import { agentsDefinition } from '#organizations/agents';
import {
  auditTrailSettingsDefinition,
  createAuditTrailDefinition,
  createLeafRecorder,
  createLogStartsJob,
  createMissingLeavesJob,
  createPruningJob,
} from '#activity/audit-trail';
import {
  auditTrailLogDefinition,
  auditTrailLogEventsDefinition,
  createLeafPruningJob,
  createTrailCheckpointJob,
  createTopicGuard,
  createTimeStampJob,
  createTrailWitnessJob,
  createWitnessGuard,
} from '#activity/audit-trail-log';
import { auditTrailArchiveDefinition, createAuditArchiveJob } from '#activity/audit-trail-archive';
import { backupDefinition, createDeferredDeletionsJob, DeferringBlobs } from '#operations/backup';
import { ArchiveBucket, type BlobStore } from '#storage/blob-store';
import type { EncryptionKeys } from '#platform/encryption';
import {
  buildEventRegistry,
  createLogFormatJob,
  createViewUpgradeJob,
  listViews,
  type EventStore,
  type Follower,
  type ModuleDefinition,
} from '#storage/event-store';
import { buildSecurityOptions } from '#storage/message-log';
import { createNameErasureJob, type NameEraser } from '#storage/personal-data';
import type { Database, ScheduledJob } from '#platform/postgres';
import { retentionDefinition } from '#organizations/data-retention-policies';
import { factsDefinition } from '#activity/facts';
import { createHistoryDefinition } from '#activity/history';
import { generalSettingsDefinition } from '#organizations/general-settings';
import { ipAllowlistsDefinition } from '#organizations/ip-allowlists';
import { liveEventsDefinition } from '#activity/live-events';
import type { Settings } from '#platform/settings';
import type { Clock, Ids, Logger } from '#platform/kernel';
import {
  createDestinationFetch,
  createNotificationDeliveriesDefinition,
  createNotificationDeliveriesJob,
  createNotificationRetentionJob,
  notificationsDefinition,
} from '#activity/notifications';
import { createMailer } from '#platform/outbound';
import { createProviderAccessJob, identityProvidersDefinition, SignInGroups } from '#identity/identity-providers';
import { oauthDefinition } from '#identity/oauth';
import { createExpiredProjectsJob, organizationsDefinition } from '#organizations/organizations';
import { createEndedSessionsJob, createInvitedAccountsJob, peopleDefinition } from '#identity/people';
import { createModuleSweeper, MODULE_FILES, modulesDefinition } from '#registry/modules';
import {
  createAbandonedUploadsJob,
  createDeletedProvidersJob,
  createExpiredProvidersJob,
  registryDefinition,
  createReleaseSweeper,
} from '#registry/registry';
import { createExpiryJob, createRetentionJob } from '#operations/retention';
import {
  CONFIGURATION_FILES,
  createConfigurationSweeper,
  createEndedLogsJob,
  createRunFileSweeper,
  createRunLogs,
  createRunTasksJob,
  RUN_FILES,
  createAssessmentsJob,
  runsDefinition,
  createLostExecutorsJob,
  createWaitingRemoteRunsJob,
} from '#runs/runs';
import { automaticDestroyDefinition, createAutomaticDestroyJob } from '#runs/automatic-destroy';
import { commitsDefinition, createCommitsJobs } from '#runs/commits';
import { policiesDefinition } from '#runs/policies';
import { runTasksDefinition } from '#runs/run-tasks';
import { createTriggeredRunsFollower, runTriggersDefinition } from '#runs/run-triggers';
import { savedViewsDefinition } from '#organizations/saved-views';
import { createScimDefinition } from '#identity/scim';
import { createAccountMailsJob, signInDefinition } from '#identity/sign-in';
import { siteDefinition } from '#operations/site';
import { sshKeysDefinition } from '#organizations/ssh-keys';
import { stateTopicsDefinition } from '#api/state-topics';
import { createAbandonedStateVersionsJob, STATE_FILES, stateDefinition, createStateSweeper } from '#workspaces/state';
import { tagsDefinition } from '#workspaces/tags';
import { createExpiredVariableSetsJob, variablesDefinition } from '#workspaces/variables';
import { connectionsDefinition } from '#vcs/connections';
import { vaultDefinition } from '#storage/vault';
import { createExpiredWorkloadTokensJob, workloadIdentitiesDefinition } from '#identity/workload-identities';
import { oidcIssuerDefinition } from '#identity/oidc-issuer';
import {
  createExpiredLocksJob,
  createExpiredWorkspacesJob,
  ToolReleases,
  workspacesDefinition,
} from '#workspaces/workspaces';

const eventDefinitions: readonly ModuleDefinition[] = [
  organizationsDefinition,
  peopleDefinition,
  createScimDefinition(new SignInGroups()),
  workspacesDefinition,
  tagsDefinition,
  stateDefinition,
  runTasksDefinition,
  policiesDefinition,
  runsDefinition,
  runTriggersDefinition,
  automaticDestroyDefinition,
  agentsDefinition,
  sshKeysDefinition,
  connectionsDefinition,
  variablesDefinition,
  retentionDefinition,
  registryDefinition,
  modulesDefinition,
  factsDefinition,
  auditTrailSettingsDefinition,
  auditTrailLogEventsDefinition,
  signInDefinition,
  workloadIdentitiesDefinition,
  oidcIssuerDefinition,
  identityProvidersDefinition,
  notificationsDefinition,
  savedViewsDefinition,
  ipAllowlistsDefinition,
  generalSettingsDefinition,
];

/** Every event type that can be in the log. */
export const eventRegistry = buildEventRegistry(eventDefinitions);

/**
 * All modules, in the order in which migrations create their tables. The audit trail records the events of the others.
 */
export const moduleDefinitions: readonly ModuleDefinition[] = [
  vaultDefinition,
  backupDefinition,
  ...eventDefinitions,
  commitsDefinition,
  oauthDefinition,
  siteDefinition,
  createHistoryDefinition(eventRegistry),
  createNotificationDeliveriesDefinition(eventRegistry),
  liveEventsDefinition,
  stateTopicsDefinition,
  createAuditTrailDefinition(eventRegistry),
  auditTrailLogDefinition,
  auditTrailArchiveDefinition,
];

/** Every table that is computed from the log. */
export const views = listViews(moduleDefinitions);

/** First segments of the keys of files that are encrypted. Files of providers are public. */
export const ENCRYPTED_FILES: readonly string[] = [STATE_FILES, CONFIGURATION_FILES, RUN_FILES, MODULE_FILES];

/** Followers that remove files. They need the file store, so definitions of modules cannot list them. */
const createFileSweepers = (blobs: BlobStore, database: Database): readonly Follower[] => {
  const deferring = new DeferringBlobs(blobs, database);
  return [
    createConfigurationSweeper(deferring),
    createRunFileSweeper(deferring),
    createStateSweeper(deferring),
    createReleaseSweeper(deferring),
    createModuleSweeper(deferring),
  ];
};

type FollowerDependencies = {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly settings: Pick<Settings, 'toolReleases'>;
};

/** Returns all followers but those of the publisher. */
export const createFollowers = ({ store, blobs, settings }: FollowerDependencies): readonly Follower[] => [
  ...moduleDefinitions.flatMap(({ followers }) => followers),
  ...createFileSweepers(blobs, store.database),
  createTriggeredRunsFollower(new ToolReleases(settings.toolReleases)),
];

type ScheduledJobDependencies = {
  readonly store: EventStore;
  readonly forgetting: NameEraser;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly encryptionKeys: EncryptionKeys;
};

type JobSettings = Pick<
  Settings,
  | 'assessmentHours'
  | 'auditArchive'
  | 'edition'
  | 'kafka'
  | 'logLimit'
  | 'retentionCheckMs'
  | 'softDeletedDays'
  | 'sessions'
  | 'siteRunsPerOrganization'
  | 'outboundPrivateHosts'
  | 'publicUrl'
  | 'smtp'
  | 'trailSigningKey'
  | 'trailWitnessesFile'
  | 'timeStamps'
  | 'toolReleases'
  | 'transit'
>;

/** Returns the jobs that apply data retention. The hosted edition has none. */
const createRetentionJobs = (
  { store, clock, ids }: ScheduledJobDependencies,
  { edition, retentionCheckMs, softDeletedDays }: JobSettings,
): readonly ScheduledJob[] =>
  edition === 'hosted'
    ? []
    : [
        createRetentionJob(store, clock, ids, retentionCheckMs),
        createExpiryJob(store, clock, ids, { everyMs: retentionCheckMs, days: softDeletedDays }),
      ];

/** Returns the jobs that store or delete files, and those that delete what never got its file. */
const createFileJobs = (
  { store, blobs, clock, ids, encryptionKeys }: ScheduledJobDependencies,
  { logLimit }: JobSettings,
): readonly ScheduledJob[] => [
  createAbandonedUploadsJob(store.database, blobs, clock),
  createDeferredDeletionsJob(store.database, blobs),
  createDeletedProvidersJob(store),
  createEndedLogsJob(createRunLogs(store, { blobs, encryptionKeys, logLimit })),
  createAbandonedStateVersionsJob(store, clock, ids),
];

/** Returns the job that starts health assessments, or ends those that wait. */
const createAssessmentJob = (
  { store, clock, ids }: ScheduledJobDependencies,
  { assessmentHours, siteRunsPerOrganization, toolReleases }: JobSettings,
): ScheduledJob =>
  createAssessmentsJob(
    { store, clock, ids, releases: new ToolReleases(toolReleases), siteRunsPerOrganization },
    assessmentHours,
  );

/** Returns the jobs that send mails and notifications, and delete old notifications. */
const createMessageJobs = (
  { store, clock, logger, encryptionKeys }: ScheduledJobDependencies,
  { outboundPrivateHosts, publicUrl, smtp }: JobSettings,
): readonly ScheduledJob[] => {
  const { database } = store;
  const { random } = Math;
  const fetch = createDestinationFetch(outboundPrivateHosts);
  const mailer = smtp && createMailer(smtp);
  return [
    createAccountMailsJob({ store, clock, logger, mailer, publicUrl, random }),
    createNotificationDeliveriesJob({ database, clock, encryptionKeys, publicUrl, fetch, mailer, random }),
    createNotificationRetentionJob(database, clock),
  ];
};

/** Returns the job that delivers audit trails to a bucket, if there is one. */
const createArchiveJobs = (
  { store, clock, logger }: ScheduledJobDependencies,
  { auditArchive }: JobSettings,
): readonly ScheduledJob[] => {
  if (!auditArchive) return [];
  const archive = new ArchiveBucket(auditArchive.location, auditArchive.lockDays, clock);
  return [createAuditArchiveJob({ store, archive, clock, logger })];
};

/** Returns the job that lets witnesses cosign the log of the site, if there are witnesses. */
const createWitnessJobs = (
  { store, blobs, logger }: ScheduledJobDependencies,
  { trailWitnessesFile }: JobSettings,
): readonly ScheduledJob[] =>
  trailWitnessesFile === null
    ? []
    : [createTrailWitnessJob({ database: store.database, blobs, logger }, trailWitnessesFile)];

/** Returns the job that lets an authority stamp the log of the site, if there is one. */
const createTimeStampJobs = (
  { store, clock, logger }: ScheduledJobDependencies,
  { timeStamps }: JobSettings,
): readonly ScheduledJob[] =>
  timeStamps ? [createTimeStampJob({ database: store.database, clock, logger }, timeStamps)] : [];

/** Returns the guards that compare the logs with checkpoints which the database may have lost in a restore. */
const createHistoryGuards = (dependencies: ScheduledJobDependencies, settings: JobSettings) => {
  const { store, blobs, logger } = dependencies;
  const { kafka, trailWitnessesFile } = settings;
  const witnesses =
    trailWitnessesFile === null
      ? []
      : [createWitnessGuard({ database: store.database, blobs, logger }, trailWitnessesFile)];
  // The publisher of this edition sends no checkpoints.
  if (!kafka || settings.edition === 'self-hosted') return witnesses;
  const { brokers, topicPrefix } = kafka;
  const connection = { brokers, clientId: 'cadastre-checkpoint-guard', ...buildSecurityOptions(kafka) };
  return [...witnesses, createTopicGuard(dependencies, { ...settings, connection, topicPrefix })];
};

/** Returns the jobs that depend on time. */
export const createScheduledJobs = (
  dependencies: ScheduledJobDependencies,
  settings: JobSettings,
): readonly ScheduledJob[] => {
  const { store, forgetting, clock, ids, logger } = dependencies;
  const { idleMinutes } = settings.sessions;
  return [
    createLogFormatJob(store.database, logger),
    createViewUpgradeJob({ store, clock, logger }, views),
    createNameErasureJob(forgetting),
    createPruningJob(store.database, clock),
    createLogStartsJob(store, ids),
    createMissingLeavesJob(store, createLeafRecorder()),
    createTrailCheckpointJob({ ...dependencies, guards: createHistoryGuards(dependencies, settings) }, settings),
    createLeafPruningJob(store.database),
    ...createArchiveJobs(dependencies, settings),
    ...createWitnessJobs(dependencies, settings),
    ...createTimeStampJobs(dependencies, settings),
    ...createRetentionJobs(dependencies, settings),
    ...createFileJobs(dependencies, settings),
    createEndedSessionsJob({ store, clock, ids, idleMinutes }),
    createInvitedAccountsJob({ store, ids }),
    createExpiredWorkloadTokensJob({ store, clock, ids }),
    createProviderAccessJob({ store, clock, ids }),
    createExpiredLocksJob(store, clock, ids),
    createExpiredWorkspacesJob(store, clock, ids),
    createExpiredProjectsJob(store, clock, ids),
    createExpiredProvidersJob(store, clock, ids),
    createExpiredVariableSetsJob(store, clock, ids),
    createAutomaticDestroyJob({ store, clock, ids, releases: new ToolReleases(settings.toolReleases) }),
    createAssessmentJob(dependencies, settings),
    createLostExecutorsJob(store, clock, ids),
    createRunTasksJob({ ...dependencies, ...settings }),
    createWaitingRemoteRunsJob(store.database, clock, logger),
    ...createCommitsJobs({ ...dependencies, ...settings }),
    ...createMessageJobs(dependencies, settings),
  ];
};
