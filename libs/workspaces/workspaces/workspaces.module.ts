import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { WORKSPACE_NAMES } from '#api/access';
import { AgentPoolWorkspaces } from '#organizations/agents';
import { AdminWorkspacesController } from './administration/admin-workspaces.controller.js';
import { remoteStateConsumers } from './remote-state-consumers/remote-state-consumers.view.js';
import { WorkspaceMemoryProvider } from './memory/workspace-memory.service.js';
import { workspace } from './workspaces/workspace.js';
import { workspaceEvents } from './workspaces.events.js';
import { workspaceCounts, workspaceNames, workspaces, workspaceTags } from './workspaces.projection.js';
import { RemoteStateConsumersController } from './remote-state-consumers/remote-state-consumers.controller.js';
import { OpaVersionsController } from './tool-versions/opa-versions.controller.js';
import { TerraformVersionsController } from './tool-versions/terraform-versions.controller.js';
import { toolVersionEvents, toolVersions } from './tool-versions/tool-version.js';
import { ToolReleases } from './tool-versions/tool-releases.catalogue.js';
import { ToolVersionsHandler } from './tool-versions/tool-versions.handler.js';
import { ToolVersions } from './tool-versions/tool-versions.service.js';
import { siteOpaVersions, siteToolVersions } from './tool-versions/tool-versions.view.js';
import { selectRelatedWorkspaces } from './workspaces/workspaces.related.js';
import { WorkspacesController } from './workspaces/workspaces.controller.js';
import { GLOBAL_REMOTE_STATE, WorkspacesHandler } from './workspaces/workspaces.handler.js';

export const workspacesDefinition: ModuleDefinition = {
  name: 'workspaces',
  kinds: { ...workspaceEvents, ...toolVersionEvents },
  aggregates: [defineAggregate('ws', workspace), defineAggregate('tool', toolVersions)],
  projections: [
    toProjection(workspaces),
    toProjection(workspaceNames),
    toProjection(workspaceTags),
    toProjection(workspaceCounts),
    toProjection(remoteStateConsumers),
    toProjection(siteToolVersions),
    toProjection(siteOpaVersions),
  ],
  followers: [],
  uniqueNames: [WORKSPACE_NAMES],
  migrations: new URL('./sql/', import.meta.url),
};

type WorkspacesOptions = {
  /** Tool releases that workspaces may choose besides the built-in ones. */
  readonly toolReleases: readonly string[];
  /** Default of `global-remote-state` for new workspaces. */
  readonly globalRemoteState: boolean;
};

@Module({})
export class WorkspacesModule {
  static with({ toolReleases, globalRemoteState }: WorkspacesOptions): DynamicModule {
    return {
      module: WorkspacesModule,
      // Runs resolve version constraints with ToolReleases; agent pools include workspaces.
      global: true,
      imports: [CqrsModule],
      controllers: [
        AdminWorkspacesController,
        OpaVersionsController,
        RemoteStateConsumersController,
        TerraformVersionsController,
        WorkspacesController,
      ],
      providers: [
        ToolVersions,
        ToolVersionsHandler,
        WorkspaceMemoryProvider,
        WorkspacesHandler,
        { provide: AgentPoolWorkspaces, useValue: { related: selectRelatedWorkspaces } satisfies AgentPoolWorkspaces },
        { provide: GLOBAL_REMOTE_STATE, useValue: globalRemoteState },
        { provide: ToolReleases, useValue: new ToolReleases(toolReleases) },
      ],
      exports: [AgentPoolWorkspaces, ToolReleases],
    };
  }
}
