import { can, pickGrants, type GrantOfTeam, type Identity } from '#api/access';
import type { Resource } from '#api/json-api';
import { describeAccess, renderWorkspaceFor, type WorkspaceAccessView } from '../workspaces/workspaces.document.js';
import type { SharedWorkspaceRow, WorkspaceRow } from '../workspaces/workspaces.queries.js';
import { createTemplate, markText, Slot, toJsonCharacters, type JsonTemplate } from './json-template.js';

/** Fields that are parts of links and relationships. */
const FIELDS = [
  'id',
  'name',
  'project',
  'currentConfigurationVersion',
  'currentStateVersion',
  'currentRun',
  'currentAssessmentResult',
  'sshKey',
  'agentPool',
] as const satisfies readonly (keyof WorkspaceRow)[];

const RELATIONSHIPS = ['outputs', 'vars', 'locked-by'] as const;

/** Attributes that differ from workspace to workspace. The others have few different values. */
const ATTRIBUTES = [
  'created-at',
  'updated-at',
  'latest-change-at',
  'last-assessment-result-at',
  'description',
  'working-directory',
  'resource-count',
  'tag-names',
  'trigger-patterns',
  'trigger-prefixes',
  'source-name',
  'source-url',
  'vcs-repo',
  'vcs-repo-identifier',
  'auto-destroy-at',
  'auto-destroy-fixed-at',
  'locked-reason',
  'lock-expires-at',
  'apply-duration-average',
  'plan-duration-average',
  'policy-check-failures',
  'run-failures',
  'workspace-kpis-runs-count',
] as const;

const ACCESS_ATTRIBUTES = ['permissions', 'can-queue-destroy-plan'] as const;

// The values of a workspace are in this order: fields, relationships, attributes. Those of the caller follow.
const OUTPUTS = FIELDS.length;
const VARIABLES = OUTPUTS + 1;
const FIRST_ATTRIBUTE = FIELDS.length + RELATIONSHIPS.length;
const PERMISSIONS = FIRST_ATTRIBUTE + ATTRIBUTES.length;
const QUEUE_DESTROY = PERMISSIONS + 1;

/** JSON texts, ids and names contain no line feed. */
const SEPARATOR = '\n';
const NOTHING = '{"data":[]}';

const FULL_ACCESS: WorkspaceAccessView = { permissions: {}, readsOutputs: true, readsVariables: true };

type AccessTexts = Omit<WorkspaceAccessView, 'permissions'> & {
  readonly permissions: string;
  readonly queueDestroy: string;
};

/**
 * What workspaces have in common: their organization, most settings, and the grants of teams. The access of a caller to
 * all workspaces with this shape is the same.
 */
export type WorkspaceShape = {
  readonly key: string;
  readonly template: JsonTemplate;
  /** One of the workspaces, with which permissions are checked. */
  readonly example: WorkspaceRow;
  readonly grantsOfTeams: readonly GrantOfTeam[];
  /** Null for callers that may not read the workspaces. */
  readonly access: WeakMap<Identity, AccessTexts | null>;
};

/** A workspace as the values that the template of its shape lacks. */
export type CompactWorkspace = { readonly shape: WorkspaceShape; readonly values: string };

const describeCallersAccess = ({ example, grantsOfTeams }: WorkspaceShape, identity: Identity): AccessTexts | null => {
  const row = { ...example, grants: pickGrants(identity, grantsOfTeams) };
  if (identity.closedTo.has(row.organization) || !can(identity, 'read-workspace', row)) return null;
  const { permissions, ...access } = describeAccess(row, identity);
  const queueDestroy = JSON.stringify(permissions['can-queue-destroy']);
  return { ...access, permissions: JSON.stringify(permissions), queueDestroy };
};

const findAccess = (shape: WorkspaceShape, identity: Identity): AccessTexts | null => {
  const cached = shape.access.get(identity);
  if (cached !== undefined) return cached;
  const access = describeCallersAccess(shape, identity);
  shape.access.set(identity, access);
  return access;
};

/** Returns the workspace as the caller sees it, as JSON; null if the caller may not read it. */
export const renderCompact = ({ shape, values }: CompactWorkspace, identity: Identity): string | null => {
  const access = findAccess(shape, identity);
  if (access === null) return null;
  const texts = values.split(SEPARATOR);
  if (!access.readsOutputs) texts[OUTPUTS] = NOTHING;
  if (!access.readsVariables) texts[VARIABLES] = NOTHING;
  texts[PERMISSIONS] = access.permissions;
  texts[QUEUE_DESTROY] = access.queueDestroy;
  const { pieces, slots } = shape.template;
  let text = pieces[0] as string;
  for (let n = 0; n < slots.length; n += 1) text += (texts[slots[n] as number] as string) + (pieces[n + 1] as string);
  return text;
};

/** Returns the row with marks in place of its fields. A field without a value stays as it is. */
const markFields = (row: SharedWorkspaceRow): WorkspaceRow => {
  const marked = FIELDS.map((field, slot) => [field, row[field] ? markText(slot) : row[field]]);
  return { ...row, ...(Object.fromEntries(marked) as Pick<WorkspaceRow, (typeof FIELDS)[number]>), grants: [] };
};

type MemberValues = Readonly<Record<string, unknown>>;

const putSlots = (members: MemberValues, names: readonly string[], first: number): MemberValues => {
  const slots = names.flatMap((name, n) => (name in members ? [[name, new Slot(first + n)] as const] : []));
  return { ...members, ...Object.fromEntries(slots) };
};

const toJson = (members: MemberValues, names: readonly string[]): readonly string[] =>
  names.map((name) => JSON.stringify(members[name] ?? null));

/** Returns the shape and the values of a workspace. `edit` removes what the edition does not have. */
export const compactWorkspace = (row: SharedWorkspaceRow, edit: (resource: Resource) => Resource): CompactWorkspace => {
  const marked = markFields(row);
  const resource = edit(renderWorkspaceFor(marked, FULL_ACCESS));
  const { attributes = {}, relationships = {} } = resource;
  const template = createTemplate({
    ...resource,
    attributes: putSlots(attributes, [...ATTRIBUTES, ...ACCESS_ATTRIBUTES], FIRST_ATTRIBUTE),
    relationships: putSlots(relationships, RELATIONSHIPS, OUTPUTS),
  });
  const { grantsOfTeams, organization, allowForceDelete } = row;
  const scope = JSON.stringify([organization, allowForceDelete, grantsOfTeams, template.slots]);
  const example = { ...marked, outputs: [], variables: [], tags: [], projectTags: [] };
  const shape = {
    key: scope + template.pieces.join(SEPARATOR),
    template,
    example,
    grantsOfTeams,
    access: new WeakMap(),
  };
  const values = [
    ...FIELDS.map((field) => toJsonCharacters(row[field] ?? '')),
    ...toJson(relationships, RELATIONSHIPS),
    ...toJson(attributes, ATTRIBUTES),
  ];
  return { shape, values: values.join(SEPARATOR) };
};
