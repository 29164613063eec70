import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, toActingPrincipal, type Actor } from '#api/access';
import { recordDocumentScope } from '#api/document-cache';
import { Database } from '#platform/postgres';
import { Clock, collectRefusals, formatTimestamp, notFound, type Timestamp } from '#platform/kernel';
import {
  renderDocument,
  LIST_BODY_BYTES,
  renderPage,
  parsePage,
  parseBody,
  HistoryReader,
  type Document,
  type PointInTime,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { toBindings } from '#organizations/tag-bindings';
import { CurrentRuns } from '../ports/current-runs.port.js';
import { CurrentStates } from '../ports/current-states.port.js';
import { WorkspaceVariables } from '../ports/workspace-variables.port.js';
import { ChangeWorkspace } from './workspaces.commands.js';
import { ToolReleases } from '../tool-versions/tool-releases.catalogue.js';
import {
  createBody,
  lockBody,
  lockRenewalBody,
  parseMovedWorkspaces,
  checkAttributes,
  toNewWorkspace,
  toRequestedTags,
  toSettingsInput,
  sshKeyBody,
  updateBody,
  buildVersionCheck,
} from './workspaces.body.js';
import { renderWorkspace } from './workspaces.document.js';
import { loadWorkspaceIncluded, parseWorkspaceIncludes, type WorkspaceInclude } from './workspaces.include.js';
import { parseWorkspaceFilter, WORKSPACE_FILTERS } from '../lists/workspaces.filter.js';
import { listWorkspaces, WORKSPACE_LIST_DOCUMENT } from '../lists/workspace-lists.queries.js';
import { findWorkspace, WORKSPACE_DOCUMENT, type WorkspaceTarget, type WorkspaceRow } from './workspaces.queries.js';

/** The header in which both CLIs send their version. */
const TOOL_VERSION = 'terraform-version';

@Controller('api/v2')
export class WorkspacesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly history: HistoryReader,
    private readonly runs: CurrentRuns,
    private readonly states: CurrentStates,
    private readonly variables: WorkspaceVariables,
    private readonly clock: Clock,
    private readonly releases: ToolReleases,
  ) {}

  @Post('organizations/:organization/workspaces')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @Headers(TOOL_VERSION) running: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { attributes, relationships } = parseBody(createBody, body, checkAttributes).data;
    const requested = collectRefusals(
      () => toNewWorkspace(attributes, relationships),
      () => checkAttributes(attributes),
      () => toRequestedTags(relationships),
    );
    const data = { ...requested, ...buildVersionCheck(attributes, this.releases, running) };
    return this.render(
      await this.bus.execute(new ChangeWorkspace('CreateWorkspace', { organization, data, actor })),
      actor,
    );
  }

  @Get('organizations/:organization/workspaces')
  @ConfigureRoute({ document: WORKSPACE_LIST_DOCUMENT, filters: WORKSPACE_FILTERS })
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseWorkspaceIncludes(query);
    const page = parsePage(query);
    const filter = parseWorkspaceFilter(query);
    const past = await this.history.pointInTime(query, { organization });
    const { rows, total } = await listWorkspaces(this.database, actor, organization, page, filter, past);
    const [first] = rows;
    if (first && !includes && !past) recordDocumentScope(actor, { organization: first.organization, workspace: null });
    const data = rows.map((row) => renderWorkspace(row, actor, includes));
    const included = includes ? await this.included(rows, includes, actor, past) : undefined;
    return renderPage(data, page, total, request.publicUrl, included);
  }

  @Get('workspaces/:id')
  @ConfigureRoute({ document: WORKSPACE_DOCUMENT })
  showById(@Param('id') id: string, @Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Document> {
    return this.show({ id }, query, actor);
  }

  @Get('organizations/:organization/workspaces/:name')
  @ConfigureRoute({ document: WORKSPACE_DOCUMENT })
  showByName(
    @Param('organization') organization: string,
    @Param('name') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.show({ organization, name }, query, actor);
  }

  @Patch('workspaces/:id')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  updateById(
    @Param('id') id: string,
    @Body() body: unknown,
    @Headers(TOOL_VERSION) running: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update({ id }, body, running, actor);
  }

  @Patch('organizations/:organization/workspaces/:name')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  updateByName(
    @Param('organization') organization: string,
    @Param('name') name: string,
    @Body() body: unknown,
    @Headers(TOOL_VERSION) running: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.update({ organization, name }, body, running, actor);
  }

  @Post('workspaces/:id/actions/safe-delete')
  @HttpCode(204)
  safeDeleteById(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.remove({ id }, false, actor);
  }

  @Post('organizations/:organization/workspaces/:name/actions/safe-delete')
  @HttpCode(204)
  safeDeleteByName(
    @Param('organization') organization: string,
    @Param('name') name: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.remove({ organization, name }, false, actor);
  }

  @Delete('workspaces/:id')
  @HttpCode(204)
  destroyById(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.remove({ id }, true, actor);
  }

  @Delete('organizations/:organization/workspaces/:name')
  @HttpCode(204)
  destroyByName(
    @Param('organization') organization: string,
    @Param('name') name: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.remove({ organization, name }, true, actor);
  }

  /** Moves all of them or none. */
  @Post('projects/:project/relationships/workspaces')
  @ConfigureRoute({ bodyLimit: LIST_BODY_BYTES })
  @HttpCode(204)
  async moveInto(
    @Param('project') project: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const input = { project, workspaces: parseMovedWorkspaces(body), actor };
    await this.bus.execute(new ChangeWorkspace('MoveWorkspaces', input));
  }

  @Post('workspaces/:id/actions/lock')
  @HttpCode(200)
  async lock(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { data, ...lockInput } = parseBody(lockBody, body);
    const reason = lockInput.reason ?? data?.attributes?.reason ?? '';
    const seconds = lockInput['expires-in'] ?? data?.attributes?.['expires-in'] ?? null;
    const expiresAt = seconds === null ? null : this.computeEnd(seconds);
    const input = { target: { id }, data: { holder: toActingPrincipal(actor), reason, expiresAt }, actor };
    return this.render(await this.bus.execute(new ChangeWorkspace('LockWorkspace', input)), actor);
  }

  @Post('workspaces/:id/actions/renew-lock')
  @HttpCode(200)
  async renewLock(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const expiresAt = this.computeEnd(parseBody(lockRenewalBody, body)['expires-in']);
    const input = { target: { id }, data: { holder: toActingPrincipal(actor), expiresAt }, actor };
    return this.render(await this.bus.execute(new ChangeWorkspace('RenewLock', input)), actor);
  }

  @Post('workspaces/:id/actions/unlock')
  @HttpCode(200)
  async unlock(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const input = { target: { id }, data: { holder: toActingPrincipal(actor) }, actor };
    return this.render(await this.bus.execute(new ChangeWorkspace('UnlockWorkspace', input)), actor);
  }

  @Post('workspaces/:id/actions/force-unlock')
  @HttpCode(200)
  async forceUnlock(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const input = { target: { id }, data: {}, actor };
    return this.render(await this.bus.execute(new ChangeWorkspace('ForceUnlockWorkspace', input)), actor);
  }

  @Patch('workspaces/:id/relationships/ssh-key')
  async assignSshKey(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const key = parseBody(sshKeyBody, body).data.attributes.id || null;
    const input = { target: { id }, data: { key }, actor };
    return this.render(await this.bus.execute(new ChangeWorkspace('AssignSshKey', input)), actor);
  }

  private computeEnd(seconds: number): Timestamp {
    return formatTimestamp(this.clock.now().getTime() + seconds * 1000);
  }

  private async show(target: WorkspaceTarget, query: QueryOf, actor: Actor): Promise<Document> {
    const includes = parseWorkspaceIncludes(query);
    const subject = 'id' in target ? { workspace: target.id } : { organization: target.organization };
    const past = await this.history.pointInTime(query, subject);
    const permission = past === null ? 'read-workspace' : 'read-workspace-history';
    const row = await findWorkspace(this.database, actor, permission, target, past);
    const included = includes ? await this.included([row], includes, actor, past) : undefined;
    return renderDocument(renderWorkspace(row, actor, includes), included);
  }

  private included(
    rows: readonly WorkspaceRow[],
    includes: ReadonlySet<WorkspaceInclude>,
    actor: Actor,
    past: PointInTime | null,
  ): Promise<readonly Resource[]> {
    const { runs, states, variables } = this;
    const sources = { actor, now: this.clock.now(), runs, states, variables };
    return loadWorkspaceIncluded(this.database, rows, includes, sources, past);
  }

  private async update(
    target: WorkspaceTarget,
    body: unknown,
    running: string | undefined,
    actor: Actor,
  ): Promise<Document> {
    const { attributes, relationships } = parseBody(updateBody, body, checkAttributes).data;
    const requested = collectRefusals(
      () => ({
        settings: toSettingsInput(attributes, relationships),
        bindings: toBindings(relationships?.['tag-bindings']),
      }),
      () => checkAttributes(attributes),
      () => toBindings(relationships?.['tag-bindings']),
    );
    const { name } = attributes;
    const data = {
      changes: { ...requested.settings, ...(name === undefined ? {} : { name }) },
      project: relationships?.project?.data?.id ?? undefined,
      bindings: requested.bindings,
      ...buildVersionCheck(attributes, this.releases, running),
    };
    const row = await this.bus.execute(new ChangeWorkspace('UpdateWorkspace', { target, data, actor }));
    return this.render(row, actor);
  }

  private async remove(target: WorkspaceTarget, forced: boolean, actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeWorkspace('DeleteWorkspace', { target, data: { forced }, actor }));
  }

  private render(row: WorkspaceRow | null, actor: Actor): Document {
    if (!row) throw notFound();
    return renderDocument(renderWorkspace(row, actor));
  }
}
