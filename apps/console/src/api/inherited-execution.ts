import type { ApiResource } from '#packages/client';
import { findIncluded } from './included.js';
import type { WorkspaceDocument } from './workspaces.js';

export type WorkspaceExecutionMode = ApiResource<'Workspace'>['attributes']['execution-mode'];

/** The execution of a workspace without a mode of its own. */
export type InheritedExecution = {
  readonly mode: WorkspaceExecutionMode;
  /** The id of the agent pool. */
  readonly pool: string | null;
  /** The resource that it comes from. */
  readonly source: string;
};

/** Returns the execution that a workspace inherits, or null if the person may not see it. */
export const readInheritedExecution = (workspace: WorkspaceDocument): InheritedExecution | null => {
  const project = findIncluded(workspace, workspace.data.relationships.project.data);
  if (!project) return null;
  const { attributes, relationships } = project;
  return {
    mode: attributes['default-execution-mode'],
    pool: relationships['default-agent-pool'].data?.id ?? null,
    source: attributes['setting-overwrites']['default-execution-mode']
      ? `the project ${attributes.name}`
      : 'the organization',
  };
};
