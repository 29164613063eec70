import { getText, type ForeignResource } from '../source/source-documents.js';
import {
  copyResource,
  indexByAttribute,
  pickAttributes,
  toOneRelationship,
  type ImportContext,
} from './resources.copier.js';
import { isCopyOf } from './projects.copier.js';

const OWNERS = 'owners';
const TEAM_ATTRIBUTES = ['name', 'visibility', 'sso-team-id', 'allow-member-token-management', 'organization-access'];

const lower = (source: ForeignResource, name: string): string => (getText(source, name) ?? '').toLowerCase();

/** Copies teams, without that of the owners: an import makes nobody an owner. */
const copyTeams = async (context: ImportContext): Promise<void> => {
  const { source, target, report, organization, into } = context;
  const path = `/api/v2/organizations/${into}/teams`;
  const presentTeams = indexByAttribute(await target.list(path), 'name');
  for await (const team of source.list(`/api/v2/organizations/${organization}/teams`)) {
    const name = getText(team, 'name') ?? '';
    const present = presentTeams.get(name.toLowerCase());
    if (name === OWNERS) {
      report.add('teams', name, 'kept', 'owners are not imported; make people owners yourself');
    } else if (present && !(await isCopyOf(context, present, team))) {
      report.add('teams', name, 'kept', 'exists already, and gets neither members nor access');
    } else {
      const resource = { type: 'teams', attributes: pickAttributes(team, TEAM_ATTRIBUTES) };
      const id = await copyResource(context, {
        kind: 'teams',
        name,
        source: team,
        path,
        resource,
        present,
        mayChange: true,
      });
      if (id !== undefined) context.teams.set(team.id, { id, name, mayChange: true });
    }
  }
};

const listCopiedTeams = ({ teams }: ImportContext, membership: ForeignResource): readonly string[] =>
  (membership.related['teams'] ?? []).flatMap((id) => teams.get(id)?.id ?? []);

/** Adds a member of the organization to the copies of their teams. */
const completeTeams = async (
  context: ImportContext,
  membership: ForeignResource,
  present: ForeignResource,
): Promise<void> => {
  const { target, report, mode } = context;
  const missing = listCopiedTeams(context, membership).filter((id) => !(present.related['teams'] ?? []).includes(id));
  for (const team of missing) {
    const name = getText(membership, 'email') ?? '';
    const body = { data: [{ type: 'organization-memberships', id: present.id }] };
    const path = `/api/v2/teams/${team}/relationships/organization-memberships`;
    const refused = mode === 'apply' ? await target.change(path, body) : null;
    if (mode === 'verify') report.add('team members', name, 'differs', 'is missing in a team here');
    else report.add('team members', name, refused === null ? 'created' : 'failed', refused);
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
    return completeTeams(context, membership, present);
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
  for await (const membership of source.list(`/api/v2/organizations/${organization}/organization-memberships`)) {
    await copyMembership(context, membership, presentMembers.get(lower(membership, 'email')));
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
    const fields = kind === 'workspace' ? ACCESS_FIELDS : PROJECT_ACCESS_FIELDS;
    const names = getText(access, 'access') === 'custom' ? fields : ['access'];
    const present = existing.find(({ related }) => related['team']?.[0] === team.id);
    const relationships = {
      team: toOneRelationship('teams', team.id ?? ''),
      [kind]: toOneRelationship(`${kind}s`, id ?? ''),
    };
    const resource = { type: `team-${kind}s`, attributes: pickAttributes(access, names), relationships };
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
