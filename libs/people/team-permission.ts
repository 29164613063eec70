import { demand, may, type Identity, type Permission, type Place } from '#access/rules';
import type { TeamSettings } from './team.js';

/** What is asked about a team. `grants`: that the caller is in it. */
export type TeamPlace = SeenTeamPlace &
  Pick<TeamSettings, 'allowMemberTokenManagement'> & {
    /** Whether its members own the organization. */
    readonly isOwners: boolean;
  };

/** The part of it that says whether the team is seen. */
export type SeenTeamPlace = Place & Pick<TeamSettings, 'visibility'> & { readonly organization: string };

const reading = ({ visibility }: SeenTeamPlace): readonly Permission[] =>
  visibility === 'secret' ? ['read-teams', 'read-secret-teams'] : ['read-teams'];

/** Who gets into the owners, changes them or speaks with their token owns the organization: it takes an owner. */
const changing = (permission: Permission, { isOwners }: TeamPlace): Permission =>
  isOwners ? 'manage-owners' : permission;

/**
 * A team can leave its tokens to its members, or keep them away while they see it as before. To people: a token could
 * outlive itself by making others.
 */
const placeFor = (actor: Identity, permission: Permission, team: TeamPlace): Place => {
  if (permission !== 'manage-team-tokens') return team;
  return team.allowMemberTokenManagement && actor.kind === 'user' ? team : { ...team, grants: [] };
};

export const mayReadTeam = (actor: Identity, team: SeenTeamPlace): boolean =>
  reading(team).every((permission) => may(actor, permission, team));

export const demandReadTeam = (actor: Identity, team: SeenTeamPlace): void => {
  for (const permission of reading(team)) demand(actor, permission, team);
};

/** Whether the caller may change that about a team that they see. */
export const mayChangeTeam = (actor: Identity, permission: Permission, team: TeamPlace): boolean =>
  may(actor, changing(permission, team), placeFor(actor, permission, team));

export const demandChangeTeam = (actor: Identity, permission: Permission, team: TeamPlace): void => {
  demandReadTeam(actor, team);
  demand(actor, changing(permission, team), placeFor(actor, permission, team));
};
