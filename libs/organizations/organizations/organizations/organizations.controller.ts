import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { Database } from '#platform/postgres';
import { notFound, sql } from '#platform/kernel';
import {
  omitUndefined,
  ignoredMember,
  unsupportedMember,
  resourceBody,
  text,
  toOneInput,
  parseToOne,
  renderDocument,
  parseInclude,
  renderPage,
  parsePage,
  getParameter,
  parseBody,
  readRelated,
  getSlowReadCaller,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { can, CurrentActor, type Actor } from '#api/access';
import { selectRelatedEntitlementSets } from '../entitlements/entitlements.related.js';
import { renderSubscription } from '../entitlements/subscriptions.controller.js';
import { selectRelatedProjects } from '../organizations.related.js';
import type { OrganizationChanges, FeatureSet } from './organization.js';
import { ORGANIZATION_SETTINGS } from './organization-settings.js';
import { ChangeOrganization } from './organizations.handler.js';
import { renderOrganization } from './organizations.document.js';
import { listOrganizations, findOrganization, type OrganizationRow } from './organizations.queries.js';

const NO_STACKS = 'stacks are not built, so nothing would run on the pool';
const READ_ONLY = 'is read-only: clients send back what they have read';
const RETENTION_ELSEWHERE = 'has its own endpoint, `/organizations/:organization/relationships/data-retention-policy`';

const settings = {
  ...ORGANIZATION_SETTINGS.body,
  'data-retention-policy': ignoredMember(RETENTION_ELSEWHERE),
  'data-retention-policy-choice': ignoredMember(RETENTION_ELSEWHERE),
  'default-agent-pool': ignoredMember('use `default-agent-pool-id`, or the relationship of this name'),
  'default-project': ignoredMember(READ_ONLY),
  'external-id': ignoredMember(READ_ONLY),
  'is-unified': ignoredMember(READ_ONLY),
  permissions: ignoredMember(READ_ONLY),
  'remaining-testable-count': ignoredMember(READ_ONLY),
  'saml-enabled': ignoredMember(READ_ONLY),
  'two-factor-conformant': ignoredMember(READ_ONLY),
  'enforce-hyok': unsupportedMember('encryption with a key of yours is not built'),
  'global-provider-sharing': unsupportedMember('providers belong to one organization'),
  'recoverable-items-enabled': unsupportedMember('deleted resources cannot be restored'),
};
const email = text(255);

const relationships = z
  .object({ 'default-agent-pool': toOneInput, 'stacks-default-agent-pool': unsupportedMember(NO_STACKS) })
  .optional();

export const createBody = resourceBody(
  'organizations',
  z.object({ name: z.string(), email, ...settings }),
  relationships,
);
export const updateBody = resourceBody(
  'organizations',
  z.object({ name: z.string().optional(), email: email.optional(), ...settings }).default({}),
  relationships,
);

type OrganizationUpdateData = z.infer<typeof updateBody>['data'];

const toOrganizationChanges = ({ attributes, relationships: related }: OrganizationUpdateData): OrganizationChanges => {
  const { name, email: address, 'default-agent-pool-id': id } = attributes;
  const defaultAgentPool = parseToOne(related?.['default-agent-pool'], id);
  return {
    ...omitUndefined({ name, email: address }),
    ...ORGANIZATION_SETTINGS.read(attributes),
    ...omitUndefined({ defaultAgentPool }),
  };
};

/** Injection token of a setting: the feature set of new organizations. */
export const INITIAL_FEATURE_SET = 'cadastre:initial-feature-set';

export const ORGANIZATION_INCLUDES = ['entitlement_set', 'default_project', 'subscription'] as const;

@Controller('api/v2')
export class OrganizationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    @Inject(INITIAL_FEATURE_SET) private readonly featureSet: FeatureSet,
  ) {}

  @Get('organizations')
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ORGANIZATION_INCLUDES);
    const page = parsePage(query);
    const { rows, total } = await listOrganizations(this.database, actor, page, {
      search: getParameter(query, 'q'),
      name: getParameter(query, 'q[name]'),
      email: getParameter(query, 'q[email]'),
    });
    const data = rows.map((row) => renderOrganization(row, actor));
    return renderPage(data, page, total, request.publicUrl, await this.loadIncluded(rows, includes, actor));
  }

  @Post('organizations')
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const {
      attributes: { name, email, ...attributes },
      relationships,
    } = parseBody(createBody, body).data;
    const settings = toOrganizationChanges({ attributes, relationships });
    const input = { name, email, featureSet: this.featureSet, settings, actor };
    return this.render(await this.bus.execute(new ChangeOrganization('CreateOrganization', input)), actor);
  }

  @Get('organizations/:organization')
  async show(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const includes = parseInclude(query, ORGANIZATION_INCLUDES);
    const row = await findOrganization(this.database, actor, 'read-organization', name);
    return renderDocument(renderOrganization(row, actor), await this.loadIncluded([row], includes, actor));
  }

  @Patch('organizations/:organization')
  async update(
    @Param('organization') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const changes = toOrganizationChanges(parseBody(updateBody, body).data);
    const row = await this.bus.execute(new ChangeOrganization('UpdateOrganization', { name, changes, actor }));
    return this.render(row, actor);
  }

  @Delete('organizations/:organization')
  @HttpCode(204)
  async destroy(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOrganization('DeleteOrganization', { name, actor }));
  }

  /** Returns the included resources, with at most one more statement. */
  private async loadIncluded(
    rows: readonly OrganizationRow[],
    includes: ReadonlySet<(typeof ORGANIZATION_INCLUDES)[number]> | null,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    const readable = rows.filter(({ id }) => can(actor, 'read-entitlements', { organization: id }));
    const ids = rows.map(({ id }) => id);
    const projects = rows.map(({ defaultProject }) => defaultProject);
    const related = [
      ...(includes.has('entitlement_set') ? [selectRelatedEntitlementSets(sql`${ids}::text[]`)] : []),
      ...(includes.has('default_project') ? [selectRelatedProjects(sql`${projects}::text[]`, actor)] : []),
    ];
    return [
      ...(includes.has('subscription') ? readable.map(renderSubscription) : []),
      ...(await readRelated(this.database, related, getSlowReadCaller(actor, rows))),
    ];
  }

  private render(row: OrganizationRow | null, actor: Actor): Document {
    if (!row) throw notFound();
    return renderDocument(renderOrganization(row, actor));
  }
}
