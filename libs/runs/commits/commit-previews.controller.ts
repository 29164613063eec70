import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { unprocessable } from '#platform/kernel';
import { can, CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { parseBody, renderDocument, resourceBody, type Document, type Resource } from '#api/json-api';
import { findOauthClientForUse, refuseConnectionUse } from '#vcs/connections';
import { resolveTriggers, triggerAttributes, WORKSPACE_SETTINGS, type WorkspaceSettings } from '#workspaces/workspaces';
import { findWorkspaceForPreview } from './commit-previews.queries.js';
import { CommitPreviews, type CommitPreview, type PreviewSubject } from './commit-previews.service.js';

export const previewBody = resourceBody('commit-previews', triggerAttributes.default({}));

const renderPreview = (workspace: string, identifier: string, { branch, commits }: CommitPreview): Resource => ({
  id: workspace,
  type: 'commit-previews',
  attributes: {
    branch,
    commits: commits.map(({ sha, tag, message, url, changedFiles, startsRun, reason }) => ({
      sha,
      tag,
      message,
      url,
      'changed-files': changedFiles,
      'starts-run': startsRun,
      reason,
    })),
    identifier,
  },
});

type PreviewedWorkspace = Awaited<ReturnType<typeof findWorkspaceForPreview>>;

/** Which of the newest commits start runs with triggers that a workspace has, or is to get. */
@Controller('api/v2')
export class CommitPreviewsController {
  constructor(
    private readonly database: Database,
    private readonly previews: CommitPreviews,
  ) {}

  @Post('workspaces/:id/commit-previews')
  @HttpCode(200)
  async create(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { attributes } = parseBody(previewBody, body).data;
    const workspace = await findWorkspaceForPreview(this.database, actor, id);
    const before = { ...WORKSPACE_SETTINGS.initial, ...workspace.settings };
    const settings = resolveTriggers(before, attributes);
    if (workspace.executionMode === 'local')
      throw unprocessable('Commits start no runs in this workspace, because its execution mode is local');
    const subject = await this.findSubject(actor, workspace, before, settings);
    return renderDocument(renderPreview(id, subject.identifier, await this.previews.preview(subject)));
  }

  /** A repository that the workspace does not have yet needs the rights that a change of the workspace needs. */
  private async findSubject(
    actor: Actor,
    { organization, project, hasRuns }: PreviewedWorkspace,
    before: WorkspaceSettings,
    { vcsRepo, ...triggers }: WorkspaceSettings,
  ): Promise<PreviewSubject> {
    const token = vcsRepo?.oauthTokenId;
    if (!token)
      throw unprocessable(
        'Vcs repo: the workspace has no repository. Name its identifier and oauth-token-id',
        'vcs-repo',
      );
    const { identifier, branch, tagsRegex } = vcsRepo;
    const client = await findOauthClientForUse(this.database, token, { organization, project });
    const isSame = token === before.vcsRepo?.oauthTokenId && identifier === before.vcsRepo.identifier;
    if (!client || !(isSame || can(actor, 'read-vcs-connections', { organization }))) throw refuseConnectionUse(token);
    // Each commit is decided as if it was pushed alone, to a workspace that has an earlier one.
    const target = { ...triggers, branch, tagsRegex, hasRuns, isLocked: false, usesCommit: false, isFirst: false };
    return { client, identifier, target };
  }
}
