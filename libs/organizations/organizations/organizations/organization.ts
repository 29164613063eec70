import {
  checkName,
  conflict,
  hasNoChanges,
  PATH_NAME_RULE,
  pickChanged,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type Message,
  type OrganizationDeleted,
  type Timestamp,
} from '#platform/kernel';
import { ORGANIZATION_SETTINGS, type OrganizationSettings } from './organization-settings.js';
import { checkExecutionDefaults, resolveDefaultPool } from './execution-defaults.js';
import { DEFAULT_MAX_TTLS, type MaxTokenTtls } from './token-ttl-policy.js';

/** Feature sets that an organization can have. `free` has no audit entitlement. */
export const FEATURE_SETS = ['everything', 'free'] as const;
export type FeatureSet = (typeof FEATURE_SETS)[number];

export const TRAIL_STARTS = ['with_change', 'after_change'] as const;
type TrailStart = (typeof TRAIL_STARTS)[number];

export const DEFAULT_SETTINGS: OrganizationSettings = ORGANIZATION_SETTINGS.initial;

export type OrganizationChanges = Partial<OrganizationSettings & { readonly name: string; readonly email: string }>;

/** The export that an organization was imported from. */
export type OrganizationOrigin = {
  /** Id of the export. */
  readonly archive: string;
  /** Public URL of the other site. */
  readonly source: string;
  /** Position of the last exported event in the log of the other site. */
  readonly position: number;
  readonly exportedAt: Timestamp;
  readonly events: number;
  /** The newest checkpoint of the log of the audit trail at the other site, as a signed note; null if there is none. */
  readonly trailCheckpoint: string | null;
};

export type OrganizationEvent =
  | Message<
      'OrganizationCreated',
      {
        name: string;
        email: string;
        featureSet: FeatureSet;
        settings: OrganizationSettings;
        defaultProject: string;
        ownersTeam: string;
      }
    >
  | Message<'OrganizationUpdated', { changes: OrganizationChanges }>
  /** `trailBegins`: whether the change is the first entry of the audit trail that it opens. */
  | Message<'OrganizationFeatureSetChanged', { featureSet: FeatureSet; trailBegins: TrailStart }>
  /** Limits in milliseconds of the token types that changed. */
  | Message<'OrganizationTokenTtlPoliciesChanged', { maxTtls: Partial<MaxTokenTtls> }>
  /** Follows the events that another site recorded. */
  | Message<'OrganizationImported', OrganizationOrigin>
  /** Deletes everything in the organization: projects, workspaces, state, teams and their tokens. */
  | OrganizationDeleted;

export type OrganizationCommand =
  | Message<
      'CreateOrganization',
      {
        name: string;
        email: string;
        featureSet: FeatureSet;
        settings: Partial<OrganizationSettings>;
        defaultProject: string;
        ownersTeam: string;
      }
    >
  | Message<'UpdateOrganization', { changes: OrganizationChanges }>
  | Message<'ChangeFeatureSet', { featureSet: FeatureSet }>
  | Message<'ChangeTokenTtlPolicies', { maxTtls: Partial<MaxTokenTtls> }>
  | Message<'CompleteImport', OrganizationOrigin>
  | Message<'DeleteOrganization', Record<never, never>>;

type ActiveOrganization = {
  readonly status: 'active';
  readonly name: string;
  readonly email: string;
  readonly featureSet: FeatureSet;
  readonly settings: OrganizationSettings;
  readonly maxTtls: MaxTokenTtls;
};
type OrganizationState = { readonly status: 'absent' | 'deleted' } | ActiveOrganization;

export const ORGANIZATION_POOL_POINTER = '/data/relationships/default-agent-pool';

const NAME_RULE = { ...PATH_NAME_RULE, least: 3, most: 40 };

const checkEmail = (email: string): void => {
  if (email.trim() === '') throw unprocessable("Email can't be blank", 'email');
};

/** Turns one kind of pull request status off if the other is turned on. Refuses both at once. */
const resolvePullRequestStatuses = ({
  aggregatedCommitStatusEnabled: aggregated,
  sendPassingStatusesForUntriggeredSpeculativePlans: passing,
}: OrganizationChanges): OrganizationChanges => {
  if (aggregated && passing) {
    throw unprocessable(
      'Aggregated commit status cannot be enabled while passing statuses are sent for untriggered speculative plans',
      'aggregated-commit-status-enabled',
    );
  }
  if (passing) return { aggregatedCommitStatusEnabled: false };
  return aggregated ? { sendPassingStatusesForUntriggeredSpeculativePlans: false } : {};
};

/** Returns the changes of a request together with the changes that follow from them. */
const resolveChanges = (changes: OrganizationChanges): OrganizationChanges => {
  const defaultAgentPool = resolveDefaultPool({ mode: changes.defaultExecutionMode, pool: changes.defaultAgentPool });
  return {
    ...resolvePullRequestStatuses(changes),
    ...changes,
    ...(defaultAgentPool === undefined ? {} : { defaultAgentPool }),
  };
};

const checkSettings = (
  { defaultExecutionMode: mode, defaultAgentPool: pool }: OrganizationSettings,
  changed: OrganizationChanges,
): void => {
  if (changed.defaultExecutionMode === undefined && changed.defaultAgentPool === undefined) return;
  checkExecutionDefaults({ mode, pool }, ORGANIZATION_POOL_POINTER);
};

export const organization: Decider<OrganizationState, OrganizationCommand, OrganizationEvent> = {
  // A snapshot contains all settings, so its version rises with each new setting and older snapshots are ignored.
  version: ORGANIZATION_SETTINGS.version,
  initial: { status: 'absent' },
  decide: {
    CreateOrganization: ({ name, email, featureSet, settings, defaultProject, ownersTeam }, state) => {
      if (state.status !== 'absent') throw conflict('Organization exists already');
      const changes = resolveChanges(settings);
      const all = { ...DEFAULT_SETTINGS, ...changes };
      runAllChecks(
        () => checkName(name, NAME_RULE),
        () => checkEmail(email),
        () => checkSettings(all, changes),
      );
      return [
        {
          type: 'OrganizationCreated',
          data: { name, email, featureSet, settings: all, defaultProject, ownersTeam },
        },
      ];
    },
    UpdateOrganization: ({ changes }, state) => {
      const { settings, name, email } = requireActive(state);
      const changed = pickChanged({ ...settings, name, email }, resolveChanges(changes));
      runAllChecks(
        () => changed.name !== undefined && checkName(changed.name, NAME_RULE),
        () => changed.email !== undefined && checkEmail(changed.email),
        () => checkSettings({ ...settings, ...changed }, changed),
      );
      return hasNoChanges(changed) ? [] : [{ type: 'OrganizationUpdated', data: { changes: changed } }];
    },
    ChangeFeatureSet: ({ featureSet }, state) =>
      requireActive(state).featureSet === featureSet
        ? []
        : [{ type: 'OrganizationFeatureSetChanged', data: { featureSet, trailBegins: 'after_change' } }],
    ChangeTokenTtlPolicies: ({ maxTtls }, state) => {
      const changed = pickChanged(requireActive(state).maxTtls, maxTtls);
      return hasNoChanges(changed) ? [] : [{ type: 'OrganizationTokenTtlPoliciesChanged', data: { maxTtls: changed } }];
    },
    CompleteImport: (origin, state) => {
      const { settings } = requireActive(state);
      const imported = { type: 'OrganizationImported', data: origin } as const;
      // A copy must not assess the resources of the original.
      const stopped = { type: 'OrganizationUpdated', data: { changes: { assessmentsEnforced: false } } } as const;
      return settings.assessmentsEnforced ? [stopped, imported] : [imported];
    },
    DeleteOrganization: (_, state) => [{ type: 'OrganizationDeleted', data: { name: requireActive(state).name } }],
  },
  evolve: {
    OrganizationCreated: ({ name, email, featureSet, settings }) => ({
      status: 'active',
      name,
      email,
      featureSet,
      settings,
      maxTtls: DEFAULT_MAX_TTLS,
    }),
    OrganizationUpdated: ({ changes: { name, email, ...settings } }, state) =>
      state.status === 'active'
        ? {
            ...state,
            name: name ?? state.name,
            email: email ?? state.email,
            settings: { ...state.settings, ...settings },
          }
        : state,
    OrganizationFeatureSetChanged: ({ featureSet }, state) =>
      state.status === 'active' ? { ...state, featureSet } : state,
    OrganizationTokenTtlPoliciesChanged: ({ maxTtls }, state) =>
      state.status === 'active' ? { ...state, maxTtls: { ...state.maxTtls, ...maxTtls } } : state,
    OrganizationImported: (_, state) => state,
    OrganizationDeleted: () => ({ status: 'deleted' }),
  },
};
