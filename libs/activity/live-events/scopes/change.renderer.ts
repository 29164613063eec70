import type { ChangeWord } from '#platform/kernel';
import { can, type Identity } from '#api/access';
import { canChangeTeam, canReadTeam, type TeamScope } from '#identity/people';
import { hadAccess, listGrants, type ScopeFacts } from './scope-facts.queries.js';
import type { Change, ChangeScope, ResourceReference } from '../messages/change.js';
import { renderServerSentEvent } from '../messages/server-sent-event.js';

/** A caller, with its teams for fast lookups. */
type Viewer = { readonly identity: Identity; readonly teams: ReadonlySet<string> };

export const toViewer = (identity: Identity): Viewer => ({ identity, teams: new Set(identity.teams) });

type VisibleSubject = {
  readonly word: ChangeWord;
  readonly resource: ResourceReference;
  readonly workspace?: string;
  readonly project?: string;
};

type ScopeIn<In extends ChangeScope['in']> = Extract<ChangeScope, { readonly in: In }>;

const within = (workspace: string, project: string | null | undefined) => ({
  workspace,
  ...(project === null || project === undefined ? {} : { project }),
});

/** The caller could read the workspace in the project that it has left. */
const findInLeftProject = (change: Change, viewer: Viewer, scope: ScopeIn<'workspace'>, facts: ScopeFacts) => {
  const { organization, word, resource } = change;
  const { workspace, leftProject } = scope;
  if (leftProject === null) return null;
  const grants = listGrants(facts, viewer.teams, leftProject);
  return can(viewer.identity, 'read-workspace', { organization, grants })
    ? { word, resource, ...within(workspace, leftProject) }
    : null;
};

const findInDeletedWorkspace = (change: Change, viewer: Viewer, scope: ScopeIn<'workspace'>, facts: ScopeFacts) => {
  const { organization, word, resource } = change;
  const { workspace, lastProject, permission } = scope;
  const wasVisible = (): boolean =>
    permission === 'read-workspace' &&
    [workspace, lastProject].some((id) => id !== null && hadAccess(facts, viewer.teams, id));
  return can(viewer.identity, permission, { organization }) || wasVisible()
    ? { word, resource, ...within(workspace, lastProject) }
    : null;
};

const findInWorkspace = (
  change: Change,
  viewer: Viewer,
  scope: ScopeIn<'workspace'>,
  facts: ScopeFacts,
): VisibleSubject | null => {
  const { organization, word, resource } = change;
  const { workspace } = scope;
  const project = facts.projectOf.get(workspace);
  const left = findInLeftProject(change, viewer, scope, facts);
  if (project === undefined) return findInDeletedWorkspace(change, viewer, scope, facts) ?? left;
  const permissionScope = { organization, grants: listGrants(facts, viewer.teams, workspace, project) };
  if (can(viewer.identity, scope.permission, permissionScope)) return { word, resource, ...within(workspace, project) };
  if (scope.changesWorkspace && can(viewer.identity, 'read-workspace', permissionScope)) {
    return { word: 'changed', resource: { type: 'workspaces', id: workspace }, ...within(workspace, project) };
  }
  return left;
};

const findInProject = (
  { organization, word, resource }: Change,
  { identity, teams }: Viewer,
  { project, permission }: ScopeIn<'project'>,
  facts: ScopeFacts,
): VisibleSubject | null => {
  const isDeleted = !facts.projects.has(project);
  const mayRead = can(identity, permission, { organization, grants: listGrants(facts, teams, project) });
  const wasVisible = isDeleted && permission === 'read-project' && hadAccess(facts, teams, project);
  return mayRead || wasVisible ? { word, resource, project } : null;
};

/** A deleted team counts as secret, unless the event itself is its deletion. */
const toTeamScope = (
  { organization, deletedTeam }: Change,
  { identity, teams }: Viewer,
  team: string,
  facts: ScopeFacts,
): TeamScope => {
  const present = facts.teams.get(team);
  const isMember = teams.has(team) || (deletedTeam !== null && deletedTeam.members.includes(identity.id));
  const visibility = present?.visibility ?? deletedTeam?.visibility;
  return {
    organization,
    visibility: visibility === 'organization' ? 'organization' : 'secret',
    allowMemberTokenManagement: present?.allowMemberTokenManagement ?? false,
    isOwners: present?.isOwners ?? false,
    grants: isMember ? [{ on: 'team', level: 'member' }] : [],
  };
};

const isVisibleTeam = (change: Change, viewer: Viewer, team: string, facts: ScopeFacts): boolean =>
  canReadTeam(viewer.identity, toTeamScope(change, viewer, team, facts));

const managesTokens = (change: Change, viewer: Viewer, team: string, facts: ScopeFacts): boolean => {
  const scope = toTeamScope(change, viewer, team, facts);
  return canReadTeam(viewer.identity, scope) && canChangeTeam(viewer.identity, 'manage-team-tokens', scope);
};

const TEAM_ACCESS_PERMISSIONS = {
  workspace: { read: 'read-workspace-access', manage: 'manage-workspace-access' },
  project: { read: 'read-project-access', manage: 'manage-project-access' },
} as const;

const findTeamAccess = (
  change: Change,
  viewer: Viewer,
  scope: ScopeIn<'team-access'>,
  facts: ScopeFacts,
): VisibleSubject | null => {
  const { organization, word, resource } = change;
  const { identity, teams } = viewer;
  const project = scope.target === 'workspace' ? facts.projectOf.get(scope.id) : scope.id;
  const scopes = project === undefined ? [scope.id] : [scope.id, project];
  const permissionScope = { organization, grants: listGrants(facts, teams, ...new Set(scopes)) };
  const permissions = TEAM_ACCESS_PERMISSIONS[scope.target];
  if (!can(identity, permissions.read, permissionScope)) return null;
  if (!can(identity, permissions.manage, permissionScope) && !isVisibleTeam(change, viewer, scope.team, facts))
    return null;
  const location = scope.target === 'workspace' ? within(scope.id, project) : { project: scope.id };
  return { word, resource, ...location };
};

const findSubject = (change: Change, viewer: Viewer, facts: ScopeFacts): VisibleSubject | null => {
  const { scope, organization, word, resource } = change;
  switch (scope.in) {
    case 'organization':
      return can(viewer.identity, scope.permission, { organization }) ? { word, resource } : null;
    case 'workspace':
      return findInWorkspace(change, viewer, scope, facts);
    case 'project':
      return findInProject(change, viewer, scope, facts);
    case 'team':
      return isVisibleTeam(change, viewer, scope.team, facts) ? { word, resource } : null;
    case 'team-tokens':
      return managesTokens(change, viewer, scope.team, facts) ? { word, resource } : null;
    case 'team-access':
      return findTeamAccess(change, viewer, scope, facts);
  }
};

const changesAccessOf = ({ access }: Change, { identity, teams }: Viewer): boolean =>
  (identity.kind === 'user' && access.users.includes(identity.id)) || access.teams.some((team) => teams.has(team));

/** Returns the message about the change for this caller; null if the caller may not read the resource. */
export const renderChange = (change: Change, viewer: Viewer, facts: ScopeFacts): string | null => {
  const { id, type, time } = change;
  const subject = findSubject(change, viewer, facts);
  const isAccess = changesAccessOf(change, viewer);
  if (subject === null) return isAccess ? renderServerSentEvent(id, 'access', { id, type, time }) : null;
  const { word, ...location } = subject;
  return renderServerSentEvent(id, isAccess ? 'access' : word, { id, type, time, ...location });
};
