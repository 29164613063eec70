import { requirePermission, can, type Identity, type Permission, type PermissionScope } from '#access/rules';
import type { TeamSettings } from '../teams/team.js';

/** What is asked about a team. `grants`: that the caller is in it. */
export type TeamScope = TeamReadScope &
  Pick<TeamSettings, 'allowMemberTokenManagement'> & {
    /** Whether its members own the organization. */
    readonly isOwners: boolean;
  };

/** The part of it that says whether the team is seen. */
export type TeamReadScope = PermissionScope & Pick<TeamSettings, 'visibility'> & { readonly organization: string };

const listReadPermissions = ({ visibility }: TeamReadScope): readonly Permission[] =>
  visibility === 'secret' ? ['read-teams', 'read-secret-teams'] : ['read-teams'];

/** Who gets into the owners, changes them or speaks with their token owns the organization: it takes an owner. */
const resolveChangePermission = (permission: Permission, { isOwners }: TeamScope): Permission =>
  isOwners ? 'manage-owners' : permission;

/**
 * A team can leave its tokens to its members, or keep them away while they see it as before. To people: a token could
 * outlive itself by making others.
 */
const toPermissionScope = (actor: Identity, permission: Permission, team: TeamScope): PermissionScope => {
  if (permission !== 'manage-team-tokens') return team;
  return team.allowMemberTokenManagement && actor.kind === 'user' ? team : { ...team, grants: [] };
};

export const canReadTeam = (actor: Identity, team: TeamReadScope): boolean =>
  listReadPermissions(team).every((permission) => can(actor, permission, team));

export const requireTeamRead = (actor: Identity, team: TeamReadScope): void => {
  for (const permission of listReadPermissions(team)) requirePermission(actor, permission, team);
};

/** Whether the caller may change that about a team that they see. */
export const canChangeTeam = (actor: Identity, permission: Permission, team: TeamScope): boolean =>
  can(actor, resolveChangePermission(permission, team), toPermissionScope(actor, permission, team));

export const requireTeamChange = (actor: Identity, permission: Permission, team: TeamScope): void => {
  requireTeamRead(actor, team);
  requirePermission(actor, resolveChangePermission(permission, team), toPermissionScope(actor, permission, team));
};
