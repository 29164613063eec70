import { loadImportedWorkspace, type ImportedWorkspaceState } from '../target/origins.queries.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import type { NewResource } from '../target/target.requests.js';
import { copyResource, pickAttributes, toOneRelationship, type ImportContext } from './resources.copier.js';
import { isCopyOf, readTagBindings, toTagBindings } from './projects.copier.js';
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

const NOTHING_COPIED: ImportedWorkspaceState = { states: new Map(), wasLocked: false, hasOwnStates: false };

/** Reason of the lock with which a copied workspace waits until people use it. */
export const describeImportLock = (from: string): string =>
  `Imported from ${from}, where it is still in use. Unlock it when nobody uses it there any more.`;

/** The copy of a workspace while its contents are copied. */
type OpenCopy = {
  readonly source: ForeignResource;
  readonly name: string;
  readonly id: string | null;
  readonly state: ImportedWorkspaceState;
  /** Whether it is not complete, so that nobody uses it yet. */
  readonly mayChange: boolean;
};

const copyContents = async (
  context: ImportContext,
  { source, name, id, state, mayChange }: OpenCopy,
): Promise<void> => {
  await copyVariables(context, {
    label: `workspaces/${name}`,
    sourcePath: `/api/v2/workspaces/${source.id}/vars`,
    path: id === null ? null : `/api/v2/workspaces/${id}/vars`,
    mayChange,
  });
  await copyTeamAccess(context, { kind: 'workspace', sourceId: source.id, id, name, mayChange });
  const isComplete = await copyStateVersions(context, { name, id, copied: state.states, mayChange });
  if (!isComplete || id === null || state.wasLocked || context.mode !== 'apply') return;
  // The last step: a later run knows by it that the copy is complete.
  const refused = await context.target.change(`/api/v2/workspaces/${id}/actions/lock`, {
    reason: describeImportLock(context.from),
  });
  if (refused !== null) context.report.add('locks', name, 'failed', refused);
};

/** Returns the copy of a workspace here, or undefined. */
export const findCopy = async (
  context: ImportContext,
  source: ForeignResource,
  name: string,
): Promise<{ readonly present: ForeignResource | undefined; readonly isForeign: boolean }> => {
  const path = `/api/v2/organizations/${context.into}/workspaces/${encodeURIComponent(name)}`;
  const present = (await context.target.find(path)) ?? undefined;
  return { present, isForeign: present !== undefined && !(await isCopyOf(context, present, source)) };
};

const copyWorkspace = async (context: ImportContext, source: ForeignResource): Promise<void> => {
  const { report, into, projects, workspaces, database, from } = context;
  const name = getText(source, 'name') ?? '';
  const { present, isForeign } = await findCopy(context, source, name);
  if (isForeign) return report.add(KIND, name, 'kept', 'another workspace has this name, and stays as it is');
  const state = present ? await loadImportedWorkspace(database, present.id) : NOTHING_COPIED;
  const project = projects.get(source.related['project']?.[0] ?? '');
  if (!project) return report.add(KIND, name, 'failed', 'its project was not copied');
  const resource = await toNewWorkspace(context, source, project.id ?? '');
  const path = `/api/v2/organizations/${into}/workspaces`;
  const id = await copyResource(context, { kind: KIND, name, source, path, resource, present, mayChange: true });
  const withheld = describeWithheld(source);
  if (withheld !== null) report.add('settings', name, 'withheld', withheld);
  if (id === undefined) return;
  // As soon as somebody unlocks it, people use it here.
  const mayChange = !state.wasLocked || present?.attributes['locked-reason'] === describeImportLock(from);
  workspaces.set(source.id, { id, name, mayChange });
  await copyContents(context, { source, name, id, state, mayChange });
};

/** Copies the workspaces one after the other, each with its contents, so that memory stays the same for any number. */
export const copyWorkspaces = async (context: ImportContext): Promise<void> => {
  let done = 0;
  for await (const workspace of context.source.list(`/api/v2/organizations/${context.organization}/workspaces`)) {
    await copyWorkspace(context, workspace);
    context.progress(KIND, (done += 1), null);
  }
};
