import { requirePermission, can, type Identity, type Permission, type PermissionScope } from '#api/access/rules';
import type { TeamSettings } from '../teams/team.js';

/** Attributes of a team that permissions depend on. `grants` contains the caller's membership. */
export type TeamScope = TeamReadScope &
  Pick<TeamSettings, 'allowMemberTokenManagement'> & {
    /** Whether the team's members own the organization. */
    readonly isOwners: boolean;
  };

/** Attributes that decide whether a caller sees the team. */
export type TeamReadScope = PermissionScope & Pick<TeamSettings, 'visibility'> & { readonly organization: string };

const listReadPermissions = ({ visibility }: TeamReadScope): readonly Permission[] =>
  visibility === 'secret' ? ['read-teams', 'read-secret-teams'] : ['read-teams'];

/**
 * Returns the permission that a change requires. The owners team requires `manage-owners`, because its members and its
 * tokens own the organization.
 */
const resolveChangePermission = (permission: Permission, { isOwners }: TeamScope): Permission =>
  isOwners ? 'manage-owners' : permission;

/**
 * Returns the scope without the caller's grants if the permission concerns tokens and the team does not let its members
 * manage them. Only users count as members: a token could outlive itself by creating other tokens.
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

/** Returns whether the caller may make this change to a team that the caller sees. */
export const canChangeTeam = (actor: Identity, permission: Permission, team: TeamScope): boolean =>
  can(actor, resolveChangePermission(permission, team), toPermissionScope(actor, permission, team));

export const requireTeamChange = (actor: Identity, permission: Permission, team: TeamScope): void => {
  requireTeamRead(actor, team);
  requirePermission(actor, resolveChangePermission(permission, team), toPermissionScope(actor, permission, team));
};
