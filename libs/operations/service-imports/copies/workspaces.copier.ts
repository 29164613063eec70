import type { ImportOrigin } from '#platform/kernel';
import { loadImportedWorkspace, type ImportedWorkspaceState } from '../target/origins.queries.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import type { NewResource } from '../target/target.requests.js';
import {
  continueAfter,
  copyResource,
  describeOrigin,
  pickAttributes,
  toOneRelationship,
  type ImportContext,
} from './resources.copier.js';
import { readTagBindings, toTagBindings } from './projects.copier.js';
import { copyStateVersions } from './state-versions.copier.js';
import { copyTeamAccess } from './teams.copier.js';
import { copyVariables } from './variables.copier.js';

const KIND = 'workspaces';

const COPIED_SETTINGS = [
  'name',
  'description',
  'allow-destroy-plan',
  'auto-apply',
  'auto-apply-run-trigger',
  'file-triggers-enabled',
  'global-remote-state',
  'project-remote-state',
  'queue-all-runs',
  'source-name',
  'source-url',
  'speculative-enabled',
  'structured-run-output-enabled',
  'terraform-version',
  'trigger-patterns',
  'trigger-prefixes',
  'working-directory',
];

/** Settings by which a workspace works on real infrastructure by itself. The copy gets none of them. */
const WITHHELD_SETTINGS = ['assessments-enabled', 'auto-destroy-activity-duration', 'auto-destroy-at', 'vcs-repo'];

/** Leaves out the webhook, whose address is a secret. */
const REPOSITORY_FIELDS = ['identifier', 'branch', 'tags-regex', 'ingress-submodules'];

/** A workspace without them would do something else than that at the source. */
const REQUIRED_SETTINGS: ReadonlySet<string> = new Set([
  'name',
  'allow-destroy-plan',
  'auto-apply',
  'execution-mode',
  'inherits-project-auto-destroy',
  'working-directory',
]);

const isOff = (value: unknown): boolean => value === null || value === undefined || value === false;

const describeWithheld = ({ attributes }: ForeignResource): string | null => {
  const withheld = WITHHELD_SETTINGS.filter((name) => !isOff(attributes[name]));
  if (withheld.length === 0) return null;
  return withheld
    .map((name) => `${name} ${JSON.stringify(attributes[name], name === 'vcs-repo' ? REPOSITORY_FIELDS : null)}`)
    .join('; ');
};

/** A workspace that follows its project keeps doing so. Agents need a pool, which nobody has chosen here. */
const toExecution = ({ attributes }: ForeignResource): Readonly<Record<string, unknown>> => {
  const { 'execution-mode': mode, 'setting-overwrites': overwrites } = attributes;
  const own = (overwrites as { 'execution-mode'?: unknown } | null | undefined)?.['execution-mode'];
  if (own === false) return { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } };
  return { 'execution-mode': mode === 'agent' ? 'local' : mode };
};

const toNewWorkspace = async (
  context: ImportContext,
  source: ForeignResource,
  project: string,
): Promise<NewResource> => {
  const bindings = await readTagBindings(context, `/api/v2/workspaces/${source.id}`);
  const keys = new Set(bindings.map(({ key }) => key));
  const names = source.attributes['tag-names'];
  const flat = (Array.isArray(names) ? names : []).filter(
    (name): name is string => typeof name === 'string' && !keys.has(name),
  );
  return {
    type: 'workspaces',
    attributes: {
      ...pickAttributes(source, COPIED_SETTINGS),
      ...toExecution(source),
      'inherits-project-auto-destroy': false,
    },
    relationships: {
      project: toOneRelationship('projects', project),
      tags: { data: flat.map((name) => ({ type: 'tags', attributes: { name } })) },
      'tag-bindings': toTagBindings(bindings),
    },
  };
};

const NOTHING_COPIED: ImportedWorkspaceState = {
  states: new Map(),
  isNew: true,
  isWithImport: false,
  isComplete: false,
  hasOwnStates: false,
};

/** Reason of the lock with which a copied workspace waits until people use it. */
export const describeImportLock = (from: string): string =>
  `Imported from ${from}, where it is still in use. Unlock it when nobody uses it there any more.`;

/** Reason of the lock until everything is copied. */
const describeOpenLock = (from: string): string =>
  `Being imported from ${from}. Keep the lock: states are missing, and old ones are current.`;

/** Locks the copy, or gives the lock of the import another reason. Returns whether the import has the lock. */
const lockCopy = async (
  { target, report }: ImportContext,
  { name, id }: { readonly name: string; readonly id: string },
  reason: string,
  origin: ImportOrigin,
): Promise<boolean> => {
  const refused = await target.change(`/api/v2/workspaces/${id}/actions/lock`, { reason }, origin);
  if (refused !== null) report.add('locks', name, 'failed', refused);
  return refused === null;
};

/** Locks the copy before it gets its first state. Returns whether the import has the lock. */
const holdCopy = async (context: ImportContext, copy: OpenCopy): Promise<boolean> => {
  const { source, name, id, state } = copy;
  if (id === null || context.mode !== 'apply' || state.isWithImport) return true;
  const origin = describeOrigin(context, source);
  const time = origin.time ?? context.clock.now().toISOString();
  return lockCopy(context, { name, id }, describeOpenLock(context.from), { ...origin, time });
};

/** Gives the lock the reason by which a later run knows that the copy is complete. */
const completeCopy = async (context: ImportContext, { source, name }: OpenCopy, id: string): Promise<void> => {
  const { from } = context;
  await lockCopy(context, { name, id }, describeImportLock(from), { from, id: source.id, time: null });
};

/** The copy of a workspace while its contents are copied. */
type OpenCopy = {
  readonly source: ForeignResource;
  readonly name: string;
  readonly id: string | null;
  readonly state: ImportedWorkspaceState;
  /** Whether nobody uses it yet. */
  readonly mayChange: boolean;
};

const copyContents = async (context: ImportContext, copy: OpenCopy): Promise<void> => {
  const { source, name, id, state, mayChange } = copy;
  if (mayChange && !(await holdCopy(context, copy))) return;
  const failures = context.report.count('failed');
  await copyVariables(context, {
    label: `workspaces/${name}`,
    sourcePath: `/api/v2/workspaces/${source.id}/vars`,
    path: id === null ? null : `/api/v2/workspaces/${id}/vars`,
    mayChange,
  });
  await copyTeamAccess(context, { kind: 'workspace', sourceId: source.id, id, name, mayChange });
  const hasStates = await copyStateVersions(context, { name, id, copied: state.states, mayChange });
  const isComplete = hasStates && context.report.count('failed') === failures;
  if (!isComplete || !mayChange || id === null || state.isComplete || context.mode !== 'apply') return;
  await completeCopy(context, copy, id);
};

/** Returns the copy of a workspace here, which can have another name now, or undefined. */
export const findCopy = async (
  context: ImportContext,
  source: ForeignResource,
): Promise<ForeignResource | undefined> => {
  const id = context.copies.get(source.id);
  return id === undefined ? undefined : ((await context.target.find(`/api/v2/workspaces/${id}`)) ?? undefined);
};

const isNameTaken = async ({ target, into, copies }: ImportContext, { id }: ForeignResource, name: string) =>
  !copies.has(id) &&
  (await target.find(`/api/v2/organizations/${into}/workspaces/${encodeURIComponent(name)}`)) !== null;

/** Reports what belongs to the workspace in other ways than at the source. */
const compareProject = (
  { report, projects }: ImportContext,
  source: ForeignResource,
  present: ForeignResource,
): void => {
  const expected = projects.get(source.related['project']?.[0] ?? '')?.id;
  if (present.related['project']?.[0] === expected) return;
  report.add('projects of workspaces', getText(source, 'name') ?? '', 'differs', 'is in another project here');
};

const loadState = ({ database, from }: ImportContext, present: ForeignResource | undefined) =>
  present ? loadImportedWorkspace(database, present.id, describeImportLock(from)) : Promise.resolve(NOTHING_COPIED);

const reportWithheld = ({ report }: ImportContext, source: ForeignResource, name: string): void => {
  const withheld = describeWithheld(source);
  if (withheld !== null) report.add('settings', name, 'withheld', withheld);
};

const isUntouched = ({ isNew, isWithImport, hasOwnStates }: ImportedWorkspaceState): boolean =>
  isWithImport || (isNew && !hasOwnStates);

const copyWorkspace = async (context: ImportContext, source: ForeignResource): Promise<void> => {
  const { report, into, projects, workspaces } = context;
  const name = getText(source, 'name') ?? '';
  // Such a name cannot be a part of an address.
  if (!name.isWellFormed()) return report.add(KIND, source.id, 'failed', 'its name is no valid text');
  const present = await findCopy(context, source);
  if (await isNameTaken(context, source, name)) {
    return report.add(KIND, name, 'kept', 'another workspace has this name, and stays as it is');
  }
  const state = await loadState(context, present);
  const project = projects.get(source.related['project']?.[0] ?? '');
  if (!project && !present) return report.add(KIND, name, 'failed', 'its project was not copied');
  const resource = await toNewWorkspace(context, source, project?.id ?? '');
  const path = `/api/v2/organizations/${into}/workspaces`;
  const optional = Object.keys(resource.attributes).filter((attribute) => !REQUIRED_SETTINGS.has(attribute));
  const id = await copyResource(context, {
    kind: KIND,
    name,
    source,
    path,
    resource,
    present,
    mayChange: true,
    optional,
  });
  if (present) compareProject(context, source, present);
  reportWithheld(context, source, name);
  if (id === undefined) return;
  // As soon as somebody unlocks it, people use it here.
  const mayChange = isUntouched(state);
  workspaces.set(source.id, { id, name, mayChange });
  await copyContents(context, { source, name, id, state, mayChange });
};

/** Copies the workspaces one after the other, each with its contents, so that memory stays the same for any number. */
export const copyWorkspaces = async (context: ImportContext): Promise<void> => {
  let done = 0;
  for await (const workspace of context.source.list(`/api/v2/organizations/${context.organization}/workspaces`)) {
    await continueAfter(context, { kind: KIND, name: getText(workspace, 'name') ?? workspace.id }, () =>
      copyWorkspace(context, workspace),
    );
    context.progress(KIND, (done += 1), null);
  }
};
