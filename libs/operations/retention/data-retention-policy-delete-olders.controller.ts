import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { unprocessable } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { parseBody, resourceBody, type Resource, renderDocument, type Document } from '#api/json-api';
import { DELETE_OLDERS, DONT_DELETES } from '#organizations/data-retention-policies';
import { CurrentActor, type Actor } from '#api/access';
import { type PolicyRow, findEffectivePolicy, type PolicyOwner } from './data-retention-policies.queries.js';
import { ChangeDataRetentionPolicy } from './data-retention-policies.handler.js';

/** Name of the only type that go-tfe had at first. Its methods from that time can read no other type. */
export const FIRST_TYPE = 'data-retention-policies';

const DAYS = 'delete-older-than-n-days';
const SHORT_DAYS = 'deleteOlderThanNDays';

const days = z.number().nullish();

export const policyBody = resourceBody(
  [DELETE_OLDERS, DONT_DELETES, FIRST_TYPE],
  z.object({ [DAYS]: days, [SHORT_DAYS]: days }).nullish(),
);

/** Rejects days for the type that deletes nothing. Ignoring them would keep data that the caller wants to delete. */
const refuseDays = (attributes: Readonly<Record<string, number | null | undefined>>): void => {
  const sent = [DAYS, SHORT_DAYS].find((name) => (attributes[name] ?? null) !== null);
  if (sent) throw unprocessable(`Delete older than n days must not be specified for ${DONT_DELETES}`, sent);
};

/** Returns the type and the days of a request. The days are null for the type that deletes nothing. */
const parsePolicy = (request: unknown): { readonly type: string | null | undefined; readonly days: number | null } => {
  const { type, attributes } = parseBody(policyBody, request).data;
  if (type === DONT_DELETES) {
    refuseDays(attributes ?? {});
    return { type, days: null };
  }
  const days = attributes?.[DAYS] ?? attributes?.[SHORT_DAYS];
  if (days === undefined || days === null) throw unprocessable("Delete older than n days can't be blank", DAYS);
  return { type, days };
};

/**
 * Renders a policy with its type. `target` is the owner; the effective policy of a workspace may belong to its
 * organization.
 */
const renderPolicy = ({ id, deleteOlderThanDays: days, workspace, organizationName }: PolicyRow): Resource => ({
  id,
  type: days === null ? DONT_DELETES : DELETE_OLDERS,
  attributes: days === null ? {} : { 'delete-older-than-n-days': days },
  relationships: {
    target: {
      data:
        workspace === null ? { type: 'organizations', id: organizationName } : { type: 'workspaces', id: workspace },
    },
  },
});

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
