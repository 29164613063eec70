import { findOrigin } from '../target/origins.queries.js';
import { getText, type ForeignResource } from '../source/source-documents.js';
import type { NewResource } from '../target/target.requests.js';
import { copyResource, indexByAttribute, pickAttributes, type ImportContext } from './resources.copier.js';

const KIND = 'projects';

/** Returns whether the resource here is the copy of that at the source, and not another one with its name. */
export const isCopyOf = async (
  { database, from }: ImportContext,
  present: ForeignResource,
  source: ForeignResource,
): Promise<boolean> => {
  const origin = await findOrigin(database, present.id);
  return origin?.from === from && origin.id === source.id;
};

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
  present: ForeignResource | undefined,
): Promise<void> => {
  const name = getText(source, 'name') ?? '';
  const isCopy = present === undefined || (await isCopyOf(context, present, source));
  if (present && !isCopy) {
    context.report.add(KIND, name, 'kept', 'exists already: workspaces are added to it, and it stays as it is');
    context.projects.set(source.id, { id: present.id, name, mayChange: false });
    return;
  }
  const path = `/api/v2/organizations/${context.into}/projects`;
  const resource = await toNewProject(context, source);
  const id = await copyResource(context, { kind: KIND, name, source, path, resource, present, mayChange: true });
  if (getText(source, 'auto-destroy-activity-duration') !== null) {
    context.report.add('settings', name, 'withheld', 'auto-destroy-activity-duration of the project');
  }
  if (id !== undefined) context.projects.set(source.id, { id, name, mayChange: true });
};

/** Copies projects. Those that exist under their name, such as the default project, get workspaces, and nothing else. */
export const copyProjects = async (context: ImportContext): Promise<void> => {
  const present = indexByAttribute(await context.target.list(`/api/v2/organizations/${context.into}/projects`), 'name');
  for await (const project of context.source.list(`/api/v2/organizations/${context.organization}/projects`)) {
    await copyProject(context, project, present.get((getText(project, 'name') ?? '').toLowerCase()));
  }
};
