import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AgentPoolWorkspaces } from '#organizations/agents';
import { RemoteStateConsumersController } from './remote-state-consumers/remote-state-consumers.controller.js';
import { TerraformVersionsController } from './tool-versions/terraform-versions.controller.js';
import { ToolReleases } from './tool-versions/tool-releases.catalogue.js';
import { selectRelatedWorkspaces } from './workspaces/workspaces.related.js';
import { WorkspacesController } from './workspaces/workspaces.controller.js';
import { GLOBAL_REMOTE_STATE, WorkspacesHandler } from './workspaces/workspaces.handler.js';

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
      controllers: [RemoteStateConsumersController, TerraformVersionsController, WorkspacesController],
      providers: [
        WorkspacesHandler,
        { provide: AgentPoolWorkspaces, useValue: { related: selectRelatedWorkspaces } satisfies AgentPoolWorkspaces },
        { provide: GLOBAL_REMOTE_STATE, useValue: globalRemoteState },
        { provide: ToolReleases, useValue: new ToolReleases(toolReleases) },
      ],
      exports: [AgentPoolWorkspaces, ToolReleases],
    };
  }
}
