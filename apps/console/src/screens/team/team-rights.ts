import type { Team } from '../../api/teams.js';

type TeamRight = keyof Team['attributes']['organization-access'];

const GROUPS = ['Projects and workspaces', 'People and teams', 'Agents, keys and providers', 'Without effect'] as const;

type DescribedRight = { readonly group: (typeof GROUPS)[number]; readonly allows: string };

/** The rights in the whole organization, in the order of the screen. */
const RIGHTS: Readonly<Record<TeamRight, DescribedRight>> = {
  'read-workspaces': {
    group: 'Projects and workspaces',
    allows: 'Read all projects and workspaces, with runs, variables and state.',
  },
  'read-projects': {
    group: 'Projects and workspaces',
    allows: 'The same: read all projects and workspaces, with runs, variables and state.',
  },
  'manage-workspaces': {
    group: 'Projects and workspaces',
    allows: 'Everything on all workspaces except moving them. Also variable sets and reserved tag keys.',
  },
  'manage-projects': {
    group: 'Projects and workspaces',
    allows: 'The same. Also create, change and delete all projects, give access to them, and move workspaces.',
  },
  'manage-membership': {
    group: 'People and teams',
    allows: 'Invite and remove people, and change members of teams. Its members can join every team except owners.',
  },
  'manage-teams': {
    group: 'People and teams',
    allows: 'Create, change and delete teams, and create tokens of every team except owners.',
  },
  'manage-organization-access': {
    group: 'People and teams',
    allows: 'Together with Manage teams: change the rights on this screen.',
  },
  'access-secret-teams': {
    group: 'People and teams',
    allows: 'See all secret teams, so that the three rights above apply to them too.',
  },
  'manage-agent-pools': {
    group: 'Agents, keys and providers',
    allows: 'Agent pools and their tokens, with which people can read the state of the workspaces that use the pool.',
  },
  'manage-vcs-settings': { group: 'Agents, keys and providers', allows: 'SSH keys.' },
  'manage-run-tasks': {
    group: 'Agents, keys and providers',
    allows: 'Run tasks of the organization, and the run tasks of every workspace.',
  },
  'manage-providers': {
    group: 'Agents, keys and providers',
    allows: 'Providers with their versions and files, and GPG keys.',
  },
  'manage-modules': { group: 'Agents, keys and providers', allows: 'Modules with their versions and archives.' },
  'manage-policies': {
    group: 'Agents, keys and providers',
    allows: 'Policies and policy sets, which can stop the runs of every workspace.',
  },
  'manage-policy-overrides': {
    group: 'Agents, keys and providers',
    allows: 'Overrides of failed policies, in the workspaces whose runs the team can read.',
  },
  'delegate-policy-overrides': { group: 'Without effect', allows: 'Stored for clients.' },
};

type RightGroup = { readonly title: string; readonly rights: readonly (readonly [right: TeamRight, allows: string])[] };

export const RIGHT_GROUPS: readonly RightGroup[] = GROUPS.map((title) => ({
  title,
  rights: Object.entries(RIGHTS).flatMap(([right, { group, allows }]) =>
    group === title ? [[right as TeamRight, allows] as const] : [],
  ),
}));
