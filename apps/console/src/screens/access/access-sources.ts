import type { AccessCell, AccessMatrixRow } from '../../api/access.js';
import type { Team } from '../../api/teams.js';
import { formatName } from '../../components/words.js';
import { listRights } from '../teams/organization-access.js';

/** One place from which a team gets access to a row. `id`: the access itself, which can be changed, or null. */
export type AccessSource = {
  readonly from: 'workspace' | 'project' | 'organization';
  readonly level: string;
  readonly id: string | null;
};

/** The permissions in the organization that concern projects and workspaces. */
const CONCERNING: ReadonlySet<string> = new Set([
  'manage-projects',
  'manage-workspaces',
  'manage-run-tasks',
  'read-projects',
  'read-workspaces',
]);

const toSource = ({ on, level, id }: AccessCell): AccessSource => ({ from: on, level, id });

/** Returns every access of the team to the row, as the server lists it, the most specific first. */
export const listAccessSources = (
  row: AccessMatrixRow,
  team: Team,
  owners: string | undefined,
): readonly AccessSource[] => {
  const cells = row.attributes.accesses.filter((cell) => cell.team === team.id);
  const rights =
    team.id === owners
      ? ['Owner']
      : listRights(team)
          .filter((right) => CONCERNING.has(right))
          .map(formatName);
  return [
    ...cells.filter(({ on }) => on === 'workspace').map(toSource),
    ...cells.filter(({ on }) => on === 'project').map(toSource),
    ...rights.map((level): AccessSource => ({ from: 'organization', level, id: null })),
  ];
};

/** Returns the teams in the order of the columns: owners first, then teams with access everywhere, then the others. */
export const sortTeams = (teams: readonly Team[], owners: string | undefined): readonly Team[] => {
  const getRank = (team: Team): number => {
    if (team.id === owners) return 0;
    return listRights(team).some((right) => CONCERNING.has(right)) ? 1 : 2;
  };
  return teams.toSorted((a, b) => getRank(a) - getRank(b));
};

const FROM = { workspace: 'to the workspace', project: 'to the project', organization: 'in the organization' } as const;

/** `write to the workspace, read to the project`. */
export const describeSources = (sources: readonly AccessSource[]): string =>
  sources.length === 0 ? 'no access' : sources.map(({ level, from }) => `${level} ${FROM[from]}`).join(', ');
