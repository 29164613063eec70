import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, type Document } from '#api/json-api';
import { FIRST_TYPE, parsePolicy } from './data-retention-policies.body.js';
import { ChangeDataRetentionPolicy } from './data-retention-policies.handler.js';
import { renderPolicy } from './data-retention-policies.document.js';
import { findEffectivePolicy, type PolicyOwner } from './data-retention-policies.queries.js';

const OF_WORKSPACE = 'workspaces/:id/relationships/data-retention-policy';
const OF_ORGANIZATION = 'organizations/:organization/relationships/data-retention-policy';

/** Serves both types of policy. POST and PATCH do the same, so clients need not know whether a policy exists. */
@Controller('api/v2')
export class DataRetentionPolicyDeleteOldersController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get(OF_WORKSPACE)
  showOfWorkspace(@Param('id') workspace: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.show({ workspace }, actor);
  }

  @Get(OF_ORGANIZATION)
  showOfOrganization(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<Document> {
    return this.show({ organization }, actor);
  }

  @Post(OF_WORKSPACE)
  @HttpCode(200)
  setOfWorkspace(
    @Param('id') workspace: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.set({ workspace }, body, actor);
  }

  @Post(OF_ORGANIZATION)
  @HttpCode(200)
  setOfOrganization(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.set({ organization }, body, actor);
  }

  @Patch(OF_WORKSPACE)
  updateOfWorkspace(
    @Param('id') workspace: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.set({ workspace }, body, actor);
  }

  @Patch(OF_ORGANIZATION)
  updateOfOrganization(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    return this.set({ organization }, body, actor);
  }

  @Delete(OF_WORKSPACE)
  @HttpCode(204)
  destroyOfWorkspace(@Param('id') workspace: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.remove({ workspace }, actor);
  }

  @Delete(OF_ORGANIZATION)
  @HttpCode(204)
  destroyOfOrganization(@Param('organization') organization: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.remove({ organization }, actor);
  }

  private async show(of: PolicyOwner, actor: Actor): Promise<Document> {
    return renderDocument(renderPolicy(await findEffectivePolicy(this.database, actor, of)));
  }

  private async set(owner: PolicyOwner, body: unknown, actor: Actor): Promise<Document> {
    const { type, days } = parsePolicy(body);
    const input = { owner, deleteOlderThanDays: days, actor };
    const row = await this.bus.execute(new ChangeDataRetentionPolicy('SetDataRetentionPolicy', input));
    const policy = renderPolicy(row);
    return renderDocument(type === FIRST_TYPE ? { ...policy, type } : policy);
  }

  private remove(owner: PolicyOwner, actor: Actor): Promise<void> {
    return this.bus.execute(new ChangeDataRetentionPolicy('RemoveDataRetentionPolicy', { owner, actor }));
  }
}
