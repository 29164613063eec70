import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { notFound, unprocessable } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { CurrentActor, type Actor } from '#api/access';
import {
  CONTINUES_NAME,
  omitNullish,
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  resourceBody,
  text,
  toManyInput,
  ignoredMember,
  type Document,
  type QueryParameters,
} from '#api/json-api';
import { ENFORCEMENT_LEVELS } from '#runs/run-tasks/rules';
import { renderPolicy } from './policies.document.js';
import { ChangePolicy } from './policies.handler.js';
import { findPolicy, findPolicyForCommand, listPolicies } from './policies.view.js';

/** The vendor's default of the kind is Sentinel. */
export const policyKind = z
  .string()
  .refine((kind) => kind === 'opa', {
    error: 'must be opa: policies of Sentinel need a runtime that only their vendor has',
    params: { [CONTINUES_NAME]: true },
  })
  .meta({ enum: ['opa'] });

const enforce = ignoredMember('the attribute of earlier clients; `enforcement-level` replaces it');

const changeable = {
  description: text(10_000).nullish(),
  query: text(10_000),
  'enforcement-level': z.enum(ENFORCEMENT_LEVELS),
  enforce,
};

export const createPolicyBody = resourceBody(
  'policies',
  z.object({
    ...changeable,
    name: z.string(),
    kind: policyKind,
    'enforcement-level': changeable['enforcement-level'].nullish(),
  }),
  z
    .object({
      'policy-sets': ignoredMember('attach policies with the relationships of policy sets', toManyInput('policy-sets')),
    })
    .nullish(),
);

export const updatePolicyBody = resourceBody(
  'policies',
  z
    .object({
      ...changeable,
      name: z.string().nullish(),
      kind: policyKind.nullish(),
      query: changeable.query.nullish(),
      'enforcement-level': changeable['enforcement-level'].nullish(),
    })
    .default({}),
);

@Controller('api/v2')
export class PoliciesController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get('organizations/:organization/policies')
  async list(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const { rows, total } = await listPolicies(this.database, actor, organization, page);
    return renderPage(rows.map(renderPolicy), page, total, request.publicUrl);
  }

  @Post('organizations/:organization/policies')
  async create(
    @Param('organization') organization: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const { name, description, query, 'enforcement-level': level } = parseBody(createPolicyBody, body).data.attributes;
    const attributes = { name, description: description ?? '', query, enforcementLevel: level ?? 'advisory' };
    const row = await this.bus.execute(new ChangePolicy('CreatePolicy', { organization, attributes, actor }));
    return renderDocument(renderPolicy(row));
  }

  @Get('policies/:id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    return renderDocument(renderPolicy(await findPolicy(this.database, actor, id)));
  }

  @Patch('policies/:id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { name, description, query, 'enforcement-level': level } = parseBody(updatePolicyBody, body).data.attributes;
    if (name !== undefined && name !== null) await this.requireName(id, name, actor);
    const changes = omitNullish({ description, query, enforcementLevel: level });
    const row = await this.bus.execute(new ChangePolicy('UpdatePolicy', { id, changes, actor }));
    if (!row) throw notFound();
    return renderDocument(renderPolicy(row));
  }

  @Delete('policies/:id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangePolicy('DeletePolicy', { id, actor }));
  }

  /** Clients send back what they have read. */
  private async requireName(id: string, name: string, actor: Actor): Promise<void> {
    const policy = await findPolicyForCommand(this.database, actor, id);
    if (policy.name !== name) throw unprocessable(`Name cannot be changed: it is ${policy.name}`, 'name');
  }
}
