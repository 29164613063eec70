import type { ChangeWord, IdSource, LogPosition, ScopeRule, SentRule, Timestamp } from '#platform/kernel';
import type { Permission } from '#api/access/rules';

/** Fields of an event: ids, or a type with an id. */
export type EventFields = Readonly<Record<string, unknown>>;

/** An event with the fields that its rule needs, and no others. */
type SelectedEvent = LogPosition & {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly organization: string | null;
  readonly time: Timestamp;
  readonly data: EventFields | null;
  /** Fields of the first event of its stream, if the rule needs them. */
  readonly first: EventFields | null;
  /** Fields of the first event of the stream of its owner, a variable set. */
  readonly owner: EventFields | null;
};

export type ResourceReference = { readonly type: string; readonly id: string };

/** Where the resource of a change is, with the ids of the event. */
export type ChangeScope =
  | { readonly in: 'organization'; readonly permission: Permission }
  | {
      readonly in: 'workspace';
      readonly workspace: string;
      readonly permission: Permission;
      readonly lastProject: string | null;
      readonly leftProject: string | null;
      readonly changesWorkspace: boolean;
    }
  | { readonly in: 'project'; readonly project: string; readonly permission: Permission }
  | { readonly in: 'team' | 'team-tokens'; readonly team: string }
  | {
      readonly in: 'team-access';
      readonly target: 'workspace' | 'project';
      readonly id: string;
      readonly team: string;
    };

/** A team as it was when it was deleted. */
export type DeletedTeam = { readonly visibility: string; readonly members: readonly string[] };

/** An event that can become a message. */
export type Change = LogPosition & {
  readonly id: string;
  readonly type: string;
  readonly organization: string;
  readonly time: Timestamp;
  readonly word: ChangeWord;
  readonly resource: ResourceReference;
  readonly scope: ChangeScope;
  /** The users and teams whose access the event changes. */
  readonly access: { readonly users: readonly string[]; readonly teams: readonly string[] };
  /** Set for events that delete a team. */
  readonly deletedTeam: DeletedTeam | null;
};

/** Thrown for an event that lacks an id that its rule needs. */
export class MissingIdError extends Error {
  override readonly name = 'MissingIdError';
}

const getValue = (source: IdSource, event: SelectedEvent): unknown => {
  if (source === 'stream') return event.stream;
  if (source === 'organization') return event.organization;
  return 'field' in source ? event.data?.[source.field] : event.first?.[source.first];
};

const getId = (source: IdSource, event: SelectedEvent): string => {
  const id = getValue(source, event);
  if (typeof id !== 'string') throw new MissingIdError(`the event ${event.id} (${event.type}) has no id to send`);
  return id;
};

const getReference = (source: IdSource, event: SelectedEvent): ResourceReference => {
  const { type, id } = (getValue(source, event) ?? {}) as Partial<ResourceReference>;
  if (type === undefined || id === undefined) {
    throw new MissingIdError(`the event ${event.id} (${event.type}) names no owner`);
  }
  return { type, id };
};

const getIdOrNull = (source: IdSource | undefined, event: SelectedEvent): string | null =>
  source === undefined ? null : getId(source, event);

const inWorkspace = (workspace: string, permission: Permission): ChangeScope => ({
  in: 'workspace',
  workspace,
  permission,
  lastProject: null,
  leftProject: null,
  changesWorkspace: false,
});

/** Variable sets belong to a project or to the organization. */
const inVariableSet = (project: unknown): ChangeScope =>
  typeof project === 'string'
    ? { in: 'project', project, permission: 'read-variable-sets' }
    : { in: 'organization', permission: 'read-variable-sets' };

type Subject = Pick<Change, 'word' | 'resource' | 'scope'>;

/** A message about a variable of a set is about the set, because clients read its variables with it. */
const describeVariable = (rule: SentRule, owner: ResourceReference, event: SelectedEvent): Subject =>
  owner.type === 'varsets'
    ? { word: 'changed', resource: owner, scope: inVariableSet(event.owner?.['project']) }
    : {
        word: rule.word,
        resource: { type: rule.resource.type, id: getId(rule.resource.id, event) },
        scope: inWorkspace(owner.id, 'read-variables'),
      };

/** The definitions of events name permissions of the access module (`onResource`). */
const toScope = (rule: ScopeRule, event: SelectedEvent): ChangeScope => {
  switch (rule.in) {
    case 'organization':
      return { in: 'organization', permission: rule.permission as Permission };
    case 'workspace':
      return {
        in: 'workspace',
        workspace: getId(rule.id, event),
        permission: rule.permission as Permission,
        lastProject: getIdOrNull(rule.project, event),
        leftProject: getIdOrNull(rule.left, event),
        changesWorkspace: rule.changesWorkspace ?? false,
      };
    case 'project':
      return { in: 'project', project: getId(rule.id, event), permission: rule.permission as Permission };
    case 'team':
      return { in: 'team', team: event.stream };
    case 'team-tokens':
      return { in: 'team-tokens', team: getId(rule.team, event) };
    case 'team-access':
      return { in: 'team-access', target: rule.target, id: getId(rule.id, event), team: getId(rule.team, event) };
    case 'variable-set':
      return inVariableSet(getValue(rule.project, event));
    case 'variable':
      return inWorkspace(getReference(rule.owner, event).id, 'read-variables');
    case 'policy': {
      const target = getReference(rule.target, event);
      return target.type === 'workspaces'
        ? inWorkspace(target.id, 'read-workspace')
        : { in: 'organization', permission: 'read-organization' };
    }
  }
};

const toSubject = (rule: SentRule, event: SelectedEvent): Subject => {
  if (rule.scope.in === 'variable') return describeVariable(rule, getReference(rule.scope.owner, event), event);
  const resource = { type: rule.resource.type, id: getId(rule.resource.id, event) };
  return { word: rule.word, resource, scope: toScope(rule.scope, event) };
};

/**
 * Returns what a message about the event can say, without content of the event. Returns null for events of the site.
 * Throws MissingIdError if the log lacks the first event of a stream.
 */
export const toChange = (
  rule: SentRule,
  event: SelectedEvent,
  deletedTeam: DeletedTeam | null = null,
): Change | null => {
  const { organization } = event;
  if (organization === null) return null;
  const { user, team } = rule.access ?? {};
  const users = user === undefined ? [] : [getId(user, event)];
  return {
    transaction: event.transaction,
    position: event.position,
    id: event.id,
    type: event.type,
    organization,
    time: event.time,
    ...toSubject(rule, event),
    access: {
      users: [...users, ...(deletedTeam?.members ?? [])],
      teams: team === undefined ? [] : [getId(team, event)],
    },
    deletedTeam,
  };
};
