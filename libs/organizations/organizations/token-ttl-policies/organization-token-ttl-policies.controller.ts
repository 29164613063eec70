import { Body, Controller, Get, Param, Patch, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import {
  renderDocument,
  renderPage,
  parsePage,
  parseBody,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { notFound } from '#platform/kernel';
import { ChangeOrganization } from '../organizations/organizations.handler.js';
import { findOrganization, type OrganizationWithTtlPolicies } from '../organizations/organizations.queries.js';
import { policiesBody, toMaxTtls } from './token-ttl-policies.body.js';
import { LIMITED_TOKENS } from '../organizations/token-ttl-policy.js';

const PATH = 'organizations/:organization/token-ttl-policies';

/** Renders all four policies, with defaults for unchanged policies. */
const renderPolicies = ({ id, createdAt, tokenTtlPolicies }: OrganizationWithTtlPolicies): Resource[] =>
  LIMITED_TOKENS.map((type) => {
    const { maxTtlMs, updatedAt } = tokenTtlPolicies[type];
    return {
      id: `ttlp-${id.slice('org-'.length)}-${type}`,
      type: 'organization-token-ttl-policies',
      attributes: {
        'token-type': type,
        'max-ttl-ms': maxTtlMs,
        'created-at': createdAt,
        'updated-at': updatedAt ?? createdAt,
      },
    };
  });

/** Limits for the lifetime of an organization's tokens. They apply while its setting `max-ttl-enabled` is on. */
@Controller('api/v2')
export class OrganizationTokenTtlPoliciesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get(PATH)
  async list(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const policies = renderPolicies(await findOrganization(this.database, actor, 'update-organization', name));
    return renderPage(slicePage(policies, page), page, policies.length, request.publicUrl);
  }

  @Patch(PATH)
  async update(
    @Param('organization') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const maxTtls = toMaxTtls(parseBody(policiesBody, body).data);
    const row = await this.bus.execute(new ChangeOrganization('ChangeTokenTtlPolicies', { name, maxTtls, actor }));
    if (!row) throw notFound();
    return renderDocument(renderPolicies(row));
  }
}
