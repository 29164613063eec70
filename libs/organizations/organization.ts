import { conflict, notFound, unprocessable, type Decider, type Message } from '#kernel';

/** What an organization starts on and may be moved to (clients.md §3). `free` has no audit entitlement. */
export const FEATURE_SETS = ['everything', 'free'] as const;
export type FeatureSet = (typeof FEATURE_SETS)[number];

/** The settings that owners change, as they read back. */
export type OrganizationSettings = {
  readonly collaboratorAuthPolicy: 'password' | 'two_factor_mandatory';
  readonly costEstimationEnabled: boolean;
  readonly assessmentsEnforced: boolean;
  readonly allowForceDeleteWorkspaces: boolean;
  readonly sendPassingStatusesForUntriggeredSpeculativePlans: boolean;
  readonly aggregatedCommitStatusEnabled: boolean;
  readonly speculativePlanManagementEnabled: boolean;
  readonly ownersTeamSamlRoleId: string | null;
  readonly sessionTimeout: number | null;
  readonly sessionRemember: number | null;
  readonly defaultExecutionMode: 'remote' | 'local' | 'agent';
  readonly defaultAgentPool: string | null;
  readonly userTokensEnabled: boolean;
};

export const DEFAULT_SETTINGS: OrganizationSettings = {
  collaboratorAuthPolicy: 'password',
  costEstimationEnabled: false,
  assessmentsEnforced: false,
  allowForceDeleteWorkspaces: false,
  sendPassingStatusesForUntriggeredSpeculativePlans: false,
  aggregatedCommitStatusEnabled: true,
  speculativePlanManagementEnabled: true,
  ownersTeamSamlRoleId: null,
  sessionTimeout: null,
  sessionRemember: null,
  defaultExecutionMode: 'remote',
  defaultAgentPool: null,
  userTokensEnabled: true,
};

export type OrganizationChanges = Partial<OrganizationSettings & { readonly name: string; readonly email: string }>;

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
  | Message<'OrganizationFeatureSetChanged', { featureSet: FeatureSet }>
  /** Takes everything in it along: projects, workspaces, state, teams and their tokens. */
  | Message<'OrganizationDeleted', { name: string }>;

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
  | Message<'DeleteOrganization', Record<never, never>>;

type Active = {
  readonly status: 'active';
  readonly name: string;
  readonly email: string;
  readonly featureSet: FeatureSet;
  readonly settings: OrganizationSettings;
};
export type Organization = { readonly status: 'absent' | 'deleted' } | Active;

const NAME = /^[A-Za-z0-9_-]{3,40}$/;

const checkName = (name: string): void => {
  if (name === '') throw unprocessable("Name can't be blank", 'name');
  if (!/^[A-Za-z0-9_-]+$/.test(name)) {
    throw unprocessable('Name may only contain letters, numbers, dashes and underscores', 'name');
  }
  if (!NAME.test(name)) throw unprocessable('Name must be from 3 to 40 characters long', 'name');
};

const checkEmail = (email: string): void => {
  if (email.trim() === '') throw unprocessable("Email can't be blank", 'email');
};

const active = (state: Organization): Active => {
  if (state.status !== 'active') throw notFound();
  return state;
};

/** Only what differs from how it stands: an update that changes nothing is no event. */
const differences = (state: Active, changes: OrganizationChanges): OrganizationChanges => {
  const before: Readonly<Record<string, unknown>> = { ...state.settings, name: state.name, email: state.email };
  return Object.fromEntries(Object.entries(changes).filter(([key, value]) => before[key] !== value));
};

export const organization: Decider<Organization, OrganizationCommand, OrganizationEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateOrganization: ({ name, email, featureSet, settings, defaultProject, ownersTeam }, state) => {
      if (state.status !== 'absent') throw conflict('Organization exists already');
      checkName(name);
      checkEmail(email);
      const all = { ...DEFAULT_SETTINGS, ...settings };
      return [
        {
          type: 'OrganizationCreated',
          data: { name, email, featureSet, settings: all, defaultProject, ownersTeam },
        },
      ];
    },
    UpdateOrganization: ({ changes }, state) => {
      const changed = differences(active(state), changes);
      if (changed.name !== undefined) checkName(changed.name);
      if (changed.email !== undefined) checkEmail(changed.email);
      return Object.keys(changed).length === 0 ? [] : [{ type: 'OrganizationUpdated', data: { changes: changed } }];
    },
    ChangeFeatureSet: ({ featureSet }, state) =>
      active(state).featureSet === featureSet ? [] : [{ type: 'OrganizationFeatureSetChanged', data: { featureSet } }],
    DeleteOrganization: (_, state) => [{ type: 'OrganizationDeleted', data: { name: active(state).name } }],
  },
  evolve: {
    OrganizationCreated: ({ name, email, featureSet, settings }) => ({
      status: 'active',
      name,
      email,
      featureSet,
      settings,
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
    OrganizationDeleted: () => ({ status: 'deleted' }),
  },
};
