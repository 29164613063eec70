import {
  notFound,
  selectJsonTimestamp,
  sql,
  type ExecutionMode,
  type Principal,
  type Sql,
  type Timestamp,
} from '#platform/kernel';
import { selectSnapshotJson, type StreamSnapshot } from '#storage/event-store';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor, type PermissionScope } from '#api/access';
import { selectStoredAttributes } from '#api/json-api';
import { selectEncryptedSecret } from '#storage/vault';
import { SELECT_TIME_LIMITS, type TimeLimits } from '#organizations/general-settings';
import { SELECT_POLICY_TEXTS, type EncryptedPolicyText } from '#runs/policies';
import type { EnforcedPolicySet } from '#runs/policies/rules';
import type { RunVariableCandidates } from '#workspaces/variables';
import { EXECUTION_MODE, selectToolVersion, type SiteRelease, type ToolVersionSettings } from '#workspaces/workspaces';
import { selectFence } from '../logs/run-logs.queries.js';
import { RUN_OPTIONS, type RunOptions } from '../runs/run-options.js';
import { POLICY_COLUMNS } from '../runs/policy-columns.queries.js';
import { canExecute, RUN_JOINS } from '../runs/runs.queries.js';
import { selectJobValueCandidates } from '../job-values/job-values.service.js';

/** What policies read about the workspace of a run. */
type PolicyInputWorkspace = {
  readonly createdAt: Timestamp;
  readonly description: string | null;
  readonly autoApply: boolean;
  readonly executionMode: ExecutionMode;
  readonly tags: readonly string[];
  readonly vcsRepo: object | null;
};

const WORKSPACE_TAGS = sql.raw('array(select t.key from workspace_tags t where t.workspace = w.id order by t.key)');

/** Without the ids of connections. */
const VCS_REPO = sql.raw(`case when w.settings -> 'vcsRepo' <> 'null' then jsonb_build_object(
  'identifier', w.settings #> '{vcsRepo,identifier}', 'branch', w.settings #> '{vcsRepo,branch}',
  'ingress_submodules', w.settings #> '{vcsRepo,ingressSubmodules}') end`);

/** A run with everything that an executor needs for a phase of it, besides the variables of its workspace. */
export type RunForJob = PermissionScope & {
  readonly id: string;
  readonly organization: string;
  readonly organizationVersion: number;
  readonly workspace: string;
  readonly workspaceVersion: number;
  readonly snapshot: StreamSnapshot;
  readonly options: RunOptions;
  readonly configurationVersion: string;
  readonly organizationName: string;
  readonly projectName: string;
  readonly workspaceName: string;
  readonly workingDirectory: string | null;
  readonly structuredRunOutput: boolean;
  readonly stateVersion: string | null;
  /** The fence of the claim of the plan; null if nobody has claimed it. */
  readonly planFence: number | null;
  readonly sshKey: string | null;
  readonly encryptedSshKey: string | null;
  /** Encrypted values of the run's own variables; null if it has none. */
  readonly encryptedVariables: string | null;
  /** What administrators of the site say about the version of the run; null if nothing. */
  readonly toolVersion: ToolVersionSettings | null;
  readonly timeLimits: TimeLimits;
  /** The policies that the plan must pass, and their texts. */
  readonly enforcedPolicies: readonly EnforcedPolicySet[];
  readonly siteOpaReleases: readonly SiteRelease[];
  readonly policyTexts: readonly EncryptedPolicyText[];
  readonly message: string;
  readonly createdAt: Timestamp;
  readonly createdBy: Principal;
  readonly project: string;
  readonly workspaceFacts: PolicyInputWorkspace;
  readonly commitSha: string | null;
  /** The variables of a run whose values are not stored, because an earlier release created it; null for others. */
  readonly presentVariables: RunVariableCandidates | null;
};

const selectVersion = (stream: string): Sql =>
  sql.raw(`(select s.version from event_store.streams s where s.stream = ${stream})`);

/** Throws not-found for callers other than the executors of the run: the statement reads secrets. */
export const loadRunForJob = async (database: Database, actor: Actor, id: string): Promise<RunForJob> => {
  const row = await database.row<RunForJob>(sql`
    select r.id, r.organization, ${selectVersion('r.organization')} as "organizationVersion",
           r.workspace, ${selectVersion('r.workspace')} as "workspaceVersion", ${selectSnapshotJson('r.id')} as snapshot,
           ${selectStoredAttributes(RUN_OPTIONS, 'r.options')} as options, r.configuration_version as "configurationVersion",
           o.name as "organizationName", p.name as "projectName", w.name as "workspaceName",
           w.settings ->> 'workingDirectory' as "workingDirectory",
           (w.settings ->> 'structuredRunOutputEnabled')::boolean as "structuredRunOutput",
           w.current_state_version as "stateVersion", ${selectFence('plan')} as "planFence", w.ssh_key as "sshKey",
           ${selectEncryptedSecret(sql.raw('w.ssh_key'))} as "encryptedSshKey",
           ${selectEncryptedSecret(sql.raw('r.id'))} as "encryptedVariables",
           ${selectToolVersion(sql.raw(`r.options ->> 'terraformVersion'`))} as "toolVersion",
           ${SELECT_TIME_LIMITS} as "timeLimits", ${POLICY_COLUMNS},
           case when r.status = 'planning' then ${SELECT_POLICY_TEXTS} else '[]' end as "policyTexts",
           r.message, r.created_at as "createdAt", r.created_by as "createdBy", p.id as project,
           jsonb_build_object('createdAt', ${selectJsonTimestamp('w.created_at')},
             'description', w.settings ->> 'description', 'autoApply', (w.settings ->> 'autoApply')::boolean,
             'executionMode', ${EXECUTION_MODE}, 'tags', ${WORKSPACE_TAGS}, 'vcsRepo', ${VCS_REPO}) as "workspaceFacts",
           (select cv.ingress ->> 'commitSha' from configuration_versions cv where cv.id = r.configuration_version) as "commitSha",
           case when not exists (select 1 from runs.job_values v where v.run = r.id)
                then ${selectJobValueCandidates(sql.raw('r.workspace'))} end as "presentVariables"
      from runs r ${RUN_JOINS} where r.id = ${id} and ${canExecute(actor.id)} and ${requireCurrentAccess(actor)}`);
  if (!row) throw notFound();
  return row;
};
