import { BINDING_POINTERS, unprocessable, type Ids } from '#platform/kernel';
import { expectVersion, getFirstRow, type EventStore } from '#storage/event-store';
import { createResource } from '#api/access';
import { expectPoolVersion } from '#organizations/agents';
import { listTagIds, raiseConflictWhenFixedKeysChanged, resolveTagNames } from '#organizations/tag-bindings';
import { requireConnectionUse } from '#vcs/connections';
import { getRequestedToken } from '../settings/settings.js';
import type { SettingsInput } from '../settings/workspace-settings.js';
import type { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';
import type { SiteRelease } from '../tool-versions/tool-versions.view.js';
import { describeVersionProblem } from './change-workspace.operation.js';
import { workspace } from './workspace.js';
import type { NewWorkspaceInput, WorkspaceOperations } from './workspaces.commands.js';
import {
  loadOrganizationForNewWorkspace,
  selectWorkspaceById,
  type OrganizationForNewWorkspace,
  type WorkspaceRow,
} from './workspaces.queries.js';
import { POOL_ERROR_TEXTS, refuseProject, refuseTakenWorkspaceName } from './workspaces.refusals.js';

type WorkspaceCreationDependencies = {
  readonly store: EventStore;
  readonly ids: Ids;
  readonly releases: ToolReleases;
  /** Whether new workspaces share their state with the whole organization if the request does not say. */
  readonly globalRemoteState: boolean;
};

const refuseTag = (id: string, index: number) =>
  unprocessable(`Tag ${id} does not exist`, `${BINDING_POINTERS.tags}/${index}/id`);

/** Returns the site's defaults. Sharing the state with the project excludes sharing it with the organization. */
const getDefaults = (
  { releases, globalRemoteState }: WorkspaceCreationDependencies,
  { projectRemoteState }: SettingsInput,
  siteReleases: readonly SiteRelease[],
): SettingsInput => ({
  globalRemoteState: globalRemoteState && projectRemoteState !== true,
  terraformVersion: releases.with(siteReleases).latest,
});

const toCreateCommand = (
  dependencies: WorkspaceCreationDependencies,
  { flatTags, findVersionProblem, ...data }: NewWorkspaceInput,
  { project, followedMode, fixed, tagNames, siteReleases }: OrganizationForNewWorkspace,
) => {
  if (project === null) throw refuseProject();
  const names = resolveTagNames(flatTags, tagNames, refuseTag);
  const settings = { ...getDefaults(dependencies, data.settings, siteReleases), ...data.settings };
  const context = { project, followedMode, fixed, names, ...describeVersionProblem(findVersionProblem, siteReleases) };
  return { type: 'CreateWorkspace', data: { ...data, settings, ...context } } as const;
};

export const createWorkspace = async (
  dependencies: WorkspaceCreationDependencies,
  { organization, data, actor }: WorkspaceOperations['CreateWorkspace']['input'],
): Promise<WorkspaceRow> => {
  const { store, ids } = dependencies;
  const id = ids.next('ws');
  const references = {
    project: data.project,
    pool: data.settings.agentPoolId ?? null,
    tags: data.flatTags.length + data.bindings.length > 0,
    tagIds: listTagIds(data.flatTags),
    vcsRepo: data.settings.vcsRepo ?? null,
  };
  const rows = await createResource(store, workspace, {
    id,
    actor,
    load: () => loadOrganizationForNewWorkspace(store.database, actor, organization, references),
    command: (parent) => {
      const token = getRequestedToken(null, data.settings.vcsRepo);
      if (token !== null) requireConnectionUse(actor, parent.organization, token, parent.isConnectionPermitted);
      return toCreateCommand(dependencies, data, parent);
    },
    writes: (parent) => [
      expectVersion(parent.organization, parent.organizationVersion),
      ...(parent.project && parent.projectVersion ? [expectVersion(parent.project, parent.projectVersion)] : []),
      ...expectPoolVersion(references.pool, parent.poolVersion, POOL_ERROR_TEXTS),
    ],
    read: ({ project, fixed }) => [
      selectWorkspaceById(id, actor),
      ...(references.tags && project ? [raiseConflictWhenFixedKeysChanged(project, fixed)] : []),
    ],
  }).catch(refuseTakenWorkspaceName);
  return getFirstRow<WorkspaceRow>(rows);
};
