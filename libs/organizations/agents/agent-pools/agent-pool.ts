import {
  checkName,
  conflict,
  pickChanged,
  PATH_NAME_RULE,
  hasNoChanges,
  requireActive,
  unprocessable,
  type Decider,
  type Message,
} from '#platform/kernel';

/** Lists of ids that define which workspaces may use a pool (the rule is in usable-pools.queries.ts). */
export const SCOPES = ['allowedWorkspaces', 'allowedProjects', 'excludedWorkspaces'] as const;
export type PoolScope = (typeof SCOPES)[number];
export type PoolScopes = { readonly [S in PoolScope]: readonly string[] };

export type AgentPoolSettings = PoolScopes & {
  readonly name: string;
  readonly organizationScoped: boolean;
  /** Whether the pool's agents execute the organization's runs in `remote` mode. Only owners may change it. */
  readonly remoteRunsEnabled: boolean;
};
export type AgentPoolChanges = Partial<AgentPoolSettings>;
export type NewAgentPool = AgentPoolChanges & { readonly name: string };

/** Users of the pool, which would have no pool after its deletion. */
export type PoolUse = { readonly workspaces: number; readonly projects: number; readonly organization: boolean };

/**
 * A pool of agents. They execute the runs of workspaces in networks that only the agents can reach. A pool of the site
 * belongs to no organization: its agents execute runs in `remote` mode for all organizations that do not have pools for
 * them, and that have not turned `siteExecutorsEnabled` off.
 *
 *   absent ──create──► active ──delete (while it is unused)──► deleted
 */
export type AgentPoolEvent =
  | Message<'AgentPoolCreated', AgentPoolSettings>
  | Message<'AgentPoolUpdated', { changes: AgentPoolChanges }>
  | Message<'AgentPoolDeleted', { name: string }>;

export type AgentPoolDeleted = Extract<AgentPoolEvent, { type: 'AgentPoolDeleted' }>;

type AgentPoolCommand =
  | Message<'CreateAgentPool', { settings: NewAgentPool; ofSite: boolean }>
  | Message<'UpdateAgentPool', { changes: AgentPoolChanges; ofSite: boolean }>
  | Message<'DeleteAgentPool', { use: PoolUse }>;

type ActiveAgentPool = AgentPoolSettings & { readonly status: 'active' };
type AgentPoolState = { readonly status: 'absent' | 'deleted' } | ActiveAgentPool;

const DEFAULTS: Omit<AgentPoolSettings, 'name'> = {
  organizationScoped: true,
  remoteRunsEnabled: false,
  allowedWorkspaces: [],
  allowedProjects: [],
  excludedWorkspaces: [],
};

/** A pool of the site has no lists, because it serves organizations and not workspaces. */
const SITE_DEFAULTS: typeof DEFAULTS = { ...DEFAULTS, remoteRunsEnabled: true };

const NAME_RULE = { ...PATH_NAME_RULE, most: 90 };

/** Sorts the ids and removes duplicates, so that equal lists compare as equal. */
const normalizeScopes = (changes: AgentPoolChanges): AgentPoolChanges => ({
  ...changes,
  ...Object.fromEntries(
    SCOPES.flatMap((scope) => {
      const ids = changes[scope];
      return ids ? [[scope, [...new Set(ids)].toSorted()]] : [];
    }),
  ),
});

const checkSitePool = (changes: AgentPoolChanges): void => {
  const { name: _, ...changed } = changes;
  if (hasNoChanges(changed)) return;
  throw unprocessable(
    'A pool of the site has only a name: it executes runs in remote mode for organizations. An organization opts out with site-executors-enabled',
  );
};

const formatCount = (count: number, noun: string): string[] =>
  count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];

const describeUsers = ({ workspaces, projects, organization }: PoolUse): string[] => [
  ...formatCount(workspaces, 'workspace'),
  ...formatCount(projects, 'project'),
  ...(organization ? ['the organization'] : []),
];

export const agentPool: Decider<AgentPoolState, AgentPoolCommand, AgentPoolEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateAgentPool: ({ settings: { name, ...settings }, ofSite }, state) => {
      if (state.status !== 'absent') throw conflict('Agent pool exists already');
      checkName(name, NAME_RULE);
      const defaults = ofSite ? SITE_DEFAULTS : DEFAULTS;
      if (ofSite) checkSitePool(pickChanged(defaults, normalizeScopes(settings)));
      return [{ type: 'AgentPoolCreated', data: { ...defaults, ...normalizeScopes(settings), name } }];
    },
    UpdateAgentPool: ({ changes, ofSite }, state) => {
      const changed = pickChanged(requireActive(state), normalizeScopes(changes));
      if (ofSite) checkSitePool(changed);
      if (changed.name !== undefined) checkName(changed.name, NAME_RULE);
      return hasNoChanges(changed) ? [] : [{ type: 'AgentPoolUpdated', data: { changes: changed } }];
    },
    DeleteAgentPool: ({ use }, state) => {
      const { name } = requireActive(state);
      const users = describeUsers(use);
      if (users.length > 0) {
        throw unprocessable(`Agent pool is used by ${users.join(', ')}; let them use another one before it is deleted`);
      }
      return [{ type: 'AgentPoolDeleted', data: { name } }];
    },
  },
  evolve: {
    AgentPoolCreated: (settings) => ({ status: 'active', ...settings }),
    AgentPoolUpdated: ({ changes }, state) => (state.status === 'active' ? { ...state, ...changes } : state),
    AgentPoolDeleted: () => ({ status: 'deleted' }),
  },
};
