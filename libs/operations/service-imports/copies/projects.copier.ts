import { getText, type ForeignResource } from '../source/source-documents.js';
import type { NewResource } from '../target/target.requests.js';
import {
  continueAfter,
  copyResource,
  findCopyAmong,
  indexByAttribute,
  indexById,
  pickAttributes,
  type ImportContext,
} from './resources.copier.js';

const KIND = 'projects';
/** Each organization has a project with this name. */
const DEFAULT_PROJECT = 'default project';

/** Returns the key-value tags of a project or workspace, as a relationship of a request. */
export const readTagBindings = async (
  { source }: ImportContext,
  path: string,
): Promise<readonly { readonly key: string; readonly value: string }[]> => {
  const bindings: { key: string; value: string }[] = [];
  for await (const binding of source.list(`${path}/tag-bindings`)) {
    const key = getText(binding, 'key');
    const value = getText(binding, 'value');
    if (key !== null && value !== null && value !== '') bindings.push({ key, value });
  }
  return bindings;
};

export const toTagBindings = (bindings: readonly { readonly key: string; readonly value: string }[]): object => ({
  data: bindings.map((attributes) => ({ type: 'tag-bindings', attributes })),
});

const toNewProject = async (context: ImportContext, source: ForeignResource): Promise<NewResource> => {
  const mode = getText(source, 'default-execution-mode');
  return {
    type: 'projects',
    attributes: {
      ...pickAttributes(source, ['name', 'description']),
      ...(mode === 'remote' || mode === 'local'
        ? pickAttributes(source, ['default-execution-mode', 'setting-overwrites'])
        : {}),
    },
    relationships: { 'tag-bindings': toTagBindings(await readTagBindings(context, `/api/v2/projects/${source.id}`)) },
  };
};

const copyProject = async (
  context: ImportContext,
  source: ForeignResource,
  {
    present,
    namesake,
  }: { readonly present?: ForeignResource | undefined; readonly namesake?: ForeignResource | undefined },
): Promise<void> => {
  const name = getText(source, 'name') ?? '';
  if (!present && namesake && !context.copies.has(source.id)) {
    const outcome = name.toLowerCase() === DEFAULT_PROJECT ? 'withheld' : 'kept';
    context.report.add(KIND, name, outcome, 'exists already: workspaces are added to it, and it stays as it is');
    context.projects.set(source.id, { id: namesake.id, name, mayChange: false });
    return;
  }
  const path = `/api/v2/organizations/${context.into}/projects`;
  const resource = await toNewProject(context, source);
  const optional = Object.keys(resource.attributes).filter((attribute) => attribute !== 'name');
  const copy = { kind: KIND, name, source, path, resource, present, mayChange: true, optional };
  const id = await copyResource(context, copy);
  if (getText(source, 'auto-destroy-activity-duration') !== null) {
    context.report.add('settings', name, 'withheld', 'auto-destroy-activity-duration of the project');
  }
  if (id !== undefined) context.projects.set(source.id, { id, name, mayChange: true });
};

/** Copies projects. Those that exist under their name, such as the default project, get workspaces, and nothing else. */
export const copyProjects = async (context: ImportContext): Promise<void> => {
  const projects = await context.target.list(`/api/v2/organizations/${context.into}/projects`);
  const byName = indexByAttribute(projects, 'name');
  const byId = indexById(projects);
  for await (const project of context.source.list(`/api/v2/organizations/${context.organization}/projects`)) {
    const namesake = byName.get((getText(project, 'name') ?? '').toLowerCase());
    await continueAfter(context, { kind: KIND, name: getText(project, 'name') ?? project.id }, () =>
      copyProject(context, project, { present: findCopyAmong(context, project, byId), namesake }),
    );
  }
};
