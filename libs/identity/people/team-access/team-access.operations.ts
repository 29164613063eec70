import { unprocessable, type Decider, type Message } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { getViolatedConstraint, type DatabaseRow } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import { TEAM_POINTER, type ReferencedTeam } from './team-access.js';
import {
  loadTargetForNewAccess,
  selectTeamAccessById,
  findTeamAccess,
  type AccessTargetKind,
} from './team-access.view.js';

/** Refuses a second access of the same team to the same workspace or project. */
const refuseSecond = (error: unknown): never => {
  if (/^team_(?:workspaces|projects)_team_\w+_key$/.test(getViolatedConstraint(error) ?? '')) {
    throw unprocessable('Team has already been added', TEAM_POINTER);
  }
  throw error;
};

type TeamAccessAddition<S, C extends Message, E extends Message> = {
  readonly kind: AccessTargetKind;
  readonly decider: Decider<S, C, E>;
  readonly id: string;
  /** Id of the workspace or project. */
  readonly target: string;
  readonly team: string;
  readonly command: (team: ReferencedTeam) => C;
  readonly actor: Actor;
};

/** Resolves to the rows of the statement that reads the new access. */
export const addTeamAccess = <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, target, team, command, actor }: TeamAccessAddition<S, C, E>,
): Promise<readonly DatabaseRow[][]> =>
  createResource(store, decider, {
    id,
    actor,
    // A deletion of the organization, the target or the team removes only the access that exists by then. Therefore the
    // row lists their versions.
    load: () => loadTargetForNewAccess(store.database, actor, kind, target, team),
    command: (row) => {
      if (row.team === null) throw unprocessable('Team does not exist', TEAM_POINTER);
      return command(row.team);
    },
    read: () => [selectTeamAccessById(kind, id)],
  }).catch(refuseSecond);

type TeamAccessChange<S, C extends Message, E extends Message> = {
  readonly kind: AccessTargetKind;
  readonly decider: Decider<S, C, E>;
  readonly id: string;
  readonly command: (teamName: string) => C;
  readonly actor: Actor;
};

/** Resolves to the rows of the statement that reads the access, which has no row if the access has been removed. */
export const changeTeamAccess = <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, command, actor }: TeamAccessChange<S, C, E>,
): Promise<readonly DatabaseRow[][]> =>
  changeResource(store, decider, {
    actor,
    load: () => findTeamAccess(store.database, actor, kind, 'manage', id),
    command: ({ teamName }) => command(teamName),
    read: () => [selectTeamAccessById(kind, id)],
  });
