import { unprocessable, type Decider, type Message } from '#platform/kernel';
import { newStream, expectVersion, type EventStore } from '#storage/event-store';
import { getViolatedConstraint, type DatabaseRow } from '#platform/postgres';
import { createEventContext, type Actor } from '#api/access';
import { TEAM_POINTER, type ReferencedTeam } from './team-access.js';
import {
  loadTargetForNewAccess,
  selectTeamAccessById,
  findTeamAccess,
  type AccessTargetKind,
} from './team-access.queries.js';

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

/** Resolves to the row of the new access. */
export const addTeamAccess = async <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, target, team, command, actor }: TeamAccessAddition<S, C, E>,
): Promise<readonly DatabaseRow[][]> => {
  const { rows } = await store
    .handle({
      decider,
      load: async () => ({
        ...newStream(id, decider),
        row: await loadTargetForNewAccess(store.database, actor, kind, target, team),
      }),
      command: ({ row }) => {
        if (row.team === null) throw unprocessable('Team does not exist', TEAM_POINTER);
        return command(row.team);
      },
      organization: ({ row }) => row.organization,
      // A deletion of the organization, the target or the team removes only the access that exists by then, so their
      // versions must not change.
      preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: () => [selectTeamAccessById(kind, id)],
    })
    .catch(refuseSecond);
  return rows;
};

type TeamAccessChange<S, C extends Message, E extends Message> = {
  readonly kind: AccessTargetKind;
  readonly decider: Decider<S, C, E>;
  readonly id: string;
  readonly command: (teamName: string) => C;
  readonly actor: Actor;
};

/** Resolves to the row of the access, or to undefined if it has been removed. */
export const changeTeamAccess = async <S, C extends Message, E extends Message>(
  store: EventStore,
  { kind, decider, id, command, actor }: TeamAccessChange<S, C, E>,
): Promise<readonly DatabaseRow[][]> => {
  const { rows } = await store.handle({
    decider,
    load: async () => {
      const row = await findTeamAccess(store.database, actor, kind, 'manage', id);
      return { ...(await store.restore(id, decider, row.snapshot)), row };
    },
    command: ({ row }) => command(row.teamName),
    organization: ({ row }) => row.organization,
    context: createEventContext(actor),
    read: () => [selectTeamAccessById(kind, id)],
  });
  return rows;
};
