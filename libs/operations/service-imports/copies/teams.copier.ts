import { getText, type ForeignResource } from '../source/source-documents.js';
import {
  copyResource,
  continueAfter,
  findCopyAmong,
  indexByAttribute,
  indexById,
  pickAttributes,
  toOneRelationship,
  type ImportContext,
} from './resources.copier.js';

const OWNERS = 'owners';
const TEAM_ATTRIBUTES = ['name', 'visibility'];
/** Attributes that give people access to what existed here, or fill the team with people of this site. */
const WITHHELD_ATTRIBUTES = ['sso-team-id', 'allow-member-token-management', 'organization-access'];

const isGiven = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).some(isGiven)
    : value === true || typeof value === 'string';

const reportWithheld = ({ report }: ImportContext, { attributes }: ForeignResource, name: string): void => {
  const withheld = WITHHELD_ATTRIBUTES.filter((attribute) => isGiven(attributes[attribute]));
  if (withheld.length === 0) return;
  const detail = withheld.map((attribute) => `${attribute} ${JSON.stringify(attributes[attribute])}`).join('; ');
  report.add('settings', name, 'withheld', `of the team: ${detail}`);
};

const lower = (source: ForeignResource, name: string): string => (getText(source, name) ?? '').toLowerCase();

const copyTeam = async (
  context: ImportContext,
  team: ForeignResource,
  {
    present,
    namesake,
  }: { readonly present?: ForeignResource | undefined; readonly namesake?: ForeignResource | undefined },
): Promise<void> => {
  const { report, into } = context;
  const name = getText(team, 'name') ?? '';
  if (name === OWNERS) {
    return report.add('teams', name, 'withheld', 'owners are not imported; make people owners yourself');
  }
  if (!present && namesake && !context.copies.has(team.id)) {
    return report.add('teams', name, 'kept', 'exists already, and gets neither members nor access');
  }
  const path = `/api/v2/organizations/${into}/teams`;
  const resource = { type: 'teams', attributes: pickAttributes(team, TEAM_ATTRIBUTES) };
  const copy = { kind: 'teams', name, source: team, path, resource, present, mayChange: true };
  const id = await copyResource(context, copy);
  reportWithheld(context, team, name);
  if (id !== undefined) context.teams.set(team.id, { id, name, mayChange: true });
};

/** Copies teams, without that of the owners: an import makes nobody an owner. */
const copyTeams = async (context: ImportContext): Promise<void> => {
  const { source, target, organization, into } = context;
  const teams = await target.list(`/api/v2/organizations/${into}/teams`);
  const byName = indexByAttribute(teams, 'name');
  const byId = indexById(teams);
  for await (const team of source.list(`/api/v2/organizations/${organization}/teams`)) {
    const name = getText(team, 'name') ?? '';
    const namesake = byName.get(name.toLowerCase());
    await continueAfter(context, { kind: 'teams', name }, () =>
      copyTeam(context, team, { present: findCopyAmong(context, team, byId), namesake }),
    );
  }
};

const listCopiedTeams = ({ teams }: ImportContext, membership: ForeignResource): readonly string[] =>
  (membership.related['teams'] ?? []).flatMap((id) => teams.get(id)?.id ?? []);

/** Somebody can have removed the member here, so that later runs add nobody to a team. */
const compareTeams = (context: ImportContext, membership: ForeignResource, present: ForeignResource): void => {
  const missing = listCopiedTeams(context, membership).filter((id) => !(present.related['teams'] ?? []).includes(id));
  for (const team of missing) {
    const name = getText(membership, 'email') ?? '';
    context.report.add('team members', name, 'differs', `is not in the team ${team} here; add this member yourself`);
  }
};

const copyMembership = async (
  context: ImportContext,
  membership: ForeignResource,
  present: ForeignResource | undefined,
): Promise<void> => {
  const email = getText(membership, 'email') ?? '';
  if (email === '')
    return context.report.add(
      'members',
      membership.id,
      'kept',
      'the source shows no address; invite this member yourself',
    );
  if (present) {
    context.report.add('members', email, 'same');
    return compareTeams(context, membership, present);
  }
  const teams = listCopiedTeams(context, membership).map((id) => ({ type: 'teams', id }));
  const resource = {
    type: 'organization-memberships',
    attributes: { email },
    ...(teams.length > 0 ? { relationships: { teams: { data: teams } } } : {}),
  };
  const path = `/api/v2/organizations/${context.into}/organization-memberships`;
  await copyResource(context, {
    kind: 'members',
    name: email,
    source: membership,
    path,
    resource,
    present,
    mayChange: true,
  });
};

/** Copies teams and members. Members are invited by their address. */
export const copyPeople = async (context: ImportContext): Promise<void> => {
  const { source, target, organization, into } = context;
  await copyTeams(context);
  const members = await target.list(`/api/v2/organizations/${into}/organization-memberships`);
  const presentMembers = indexByAttribute(members, 'email');
  const membersById = indexById(members);
  for await (const membership of source.list(`/api/v2/organizations/${organization}/organization-memberships`)) {
    const present = findCopyAmong(context, membership, membersById) ?? presentMembers.get(lower(membership, 'email'));
    await continueAfter(context, { kind: 'members', name: membership.id }, () =>
      copyMembership(context, membership, present),
    );
  }
};

const ACCESS_FIELDS = [
  'access',
  'runs',
  'variables',
  'state-versions',
  'sentinel-mocks',
  'workspace-locking',
  'run-tasks',
];
const PROJECT_ACCESS_FIELDS = ['access', 'project-access', 'workspace-access'];

/** What a team has access to. */
type AccessScope = {
  readonly kind: 'project' | 'workspace';
  readonly sourceId: string;
  readonly id: string | null;
  readonly name: string;
  readonly mayChange: boolean;
};

const listAccessFields = (kind: AccessScope['kind'], access: ForeignResource): readonly string[] => {
  if (getText(access, 'access') !== 'custom') return ['access'];
  return kind === 'workspace' ? ACCESS_FIELDS : PROJECT_ACCESS_FIELDS;
};

/** Copies the access of teams to a project or workspace. Only a level `custom` has fields of its own. */
export const copyTeamAccess = async (context: ImportContext, scope: AccessScope): Promise<void> => {
  const { source, target, teams, report } = context;
  const { kind, sourceId, id, name, mayChange } = scope;
  const path = `/api/v2/team-${kind}s`;
  const filter = `filter[${kind}][id]`;
  const existing = id === null ? [] : await target.list(`${path}?${filter}=${id}`);
  for await (const access of source.list(path, { [filter]: sourceId })) {
    const team = teams.get(access.related['team']?.[0] ?? '');
    if (!team) {
      report.add('team access', name, 'kept', 'access of a team that was not copied');
      continue;
    }
    const present = existing.find(({ related }) => related['team']?.[0] === team.id);
    if (!present && !mayChange && kind === 'project') {
      report.add('team access', `${team.name} on ${name}`, 'withheld', 'the project existed here');
      continue;
    }
    const relationships = {
      team: toOneRelationship('teams', team.id ?? ''),
      [kind]: toOneRelationship(`${kind}s`, id ?? ''),
    };
    const resource = {
      type: `team-${kind}s`,
      attributes: pickAttributes(access, listAccessFields(kind, access)),
      relationships,
    };
    const label = `${team.name} on ${name}`;
    await copyResource(context, {
      kind: 'team access',
      name: label,
      source: access,
      path,
      resource,
      present,
      mayChange,
    });
  }
};
