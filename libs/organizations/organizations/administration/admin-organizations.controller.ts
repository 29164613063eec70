import { z } from 'zod';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { sql, unprocessable } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  identifiersBody,
  toMany,
  toOne,
  type Resource,
  omitUndefined,
  resourceBody,
  storedOnly,
  unsupportedMember,
  getParameter,
  getSlowReadCaller,
  parseBody,
  parseInclude,
  parsePage,
  readRelated,
  renderDocument,
  renderPage,
  type Document,
  type QueryParameters as QueryOf,
} from '#api/json-api';
import { CurrentActor, type Actor } from '#api/access';
import { selectRelatedUsers } from '#identity/people';
import { readTimeLimits, timeLimitMember } from '#organizations/general-settings';
import { deriveSubscriptionId } from '../entitlements/subscriptions.controller.js';
import {
  type AdministeredOrganizationRow,
  findAdministeredOrganization,
  listAdministeredOrganizations,
} from '../organizations/organizations.queries.js';
import type { OrganizationChanges } from '../organizations/organization.js';
import { ORGANIZATION_SETTINGS } from '../organizations/organization-settings.js';
import { ChangeOrganization } from '../organizations/organizations.handler.js';

/** Renders an organization with the members that only site administrators see. */
const renderAdministeredOrganization = (row: AdministeredOrganizationRow): Resource => ({
  id: row.name,
  type: 'organizations',
  attributes: {
    name: row.name,
    'external-id': row.id,
    'notification-email': row.email,
    'access-beta-tools': row.settings.accessBetaTools,
    'global-module-sharing': row.settings.globalModuleSharing,
    'global-provider-sharing': false,
    'is-disabled': false,
    'sso-enabled': row.settings.collaboratorAuthPolicy === 'sso_mandatory',
    'workspace-limit': null,
    'plan-timeout': row.settings.planTimeout,
    'apply-timeout': row.settings.applyTimeout,
    // go-tfe reads the limits by these names too.
    'terraform-build-worker-plan-timeout': row.settings.planTimeout,
    'terraform-build-worker-apply-timeout': row.settings.applyTimeout,
    'terraform-worker-sudo-enabled': false,
  },
  relationships: {
    owners: toMany('users', row.owners),
    subscription: toOne(
      'subscriptions',
      deriveSubscriptionId(row.id),
      `/api/v2/organizations/${row.name}/subscription`,
    ),
    'feature-set': toOne('feature-sets', `fs-${row.featureSet}`),
    'module-consumers': {
      links: { related: `/api/v2/admin/organizations/${row.name}/relationships/module-consumers` },
    },
  },
  links: { self: `/api/v2/admin/organizations/${row.name}` },
});

export const adminUpdateBody = resourceBody(
  'organizations',
  z
    .object({
      'access-beta-tools': storedOnly(ORGANIZATION_SETTINGS.shape.accessBetaTools.optional()),
      'global-module-sharing': ORGANIZATION_SETTINGS.body['global-module-sharing'],
      'apply-timeout': timeLimitMember,
      'global-provider-sharing': unsupportedMember('providers belong to one organization'),
      'is-disabled': unsupportedMember('organizations cannot be disabled; users can be suspended'),
      'plan-timeout': timeLimitMember,
      'terraform-build-worker-apply-timeout': timeLimitMember,
      'terraform-build-worker-plan-timeout': timeLimitMember,
      'terraform-worker-sudo-enabled': unsupportedMember('executors never use sudo'),
      'workspace-limit': unsupportedMember('organizations can have any number of workspaces'),
    })
    .default({}),
);

type AdminUpdateData = z.infer<typeof adminUpdateBody>['data'];

const toAdminChanges = ({ attributes }: AdminUpdateData): OrganizationChanges => ({
  ...ORGANIZATION_SETTINGS.read({ 'global-module-sharing': attributes['global-module-sharing'] }),
  ...omitUndefined({ accessBetaTools: attributes['access-beta-tools'], ...readTimeLimits(attributes) }),
});

/** Only the empty list is accepted. */
export const moduleConsumersBody = identifiersBody('organizations', 1_000);

export const ADMIN_ORGANIZATION_INCLUDES = ['owners'] as const;
type Includes = ReadonlySet<(typeof ADMIN_ORGANIZATION_INCLUDES)[number]> | null;

/** All organizations of the site, for its administrators. */
@Controller('api/v2/admin/organizations')
export class AdminOrganizationsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
  ) {}

  @Get()
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const includes = parseInclude(query, ADMIN_ORGANIZATION_INCLUDES);
    const page = parsePage(query);
    const search = getParameter(query, 'q');
    const { rows, total } = await listAdministeredOrganizations(this.database, actor, page, search);
    const included = await this.loadIncluded(rows, includes, actor);
    return renderPage(rows.map(renderAdministeredOrganization), page, total, request.publicUrl, included);
  }

  @Get(':organization')
  async show(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const row = await findAdministeredOrganization(this.database, actor, name);
    const includes = parseInclude(query, ADMIN_ORGANIZATION_INCLUDES);
    return renderDocument(renderAdministeredOrganization(row), await this.loadIncluded([row], includes, actor));
  }

  @Patch(':organization')
  async update(
    @Param('organization') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const changes = toAdminChanges(parseBody(adminUpdateBody, body).data);
    await this.bus.execute(new ChangeOrganization('UpdateAsSiteAdmin', { name, changes, actor }));
    return renderDocument(
      renderAdministeredOrganization(await findAdministeredOrganization(this.database, actor, name)),
    );
  }

  @Delete(':organization')
  @HttpCode(204)
  async destroy(@Param('organization') name: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeOrganization('DeleteAsSiteAdmin', { name, actor }));
  }

  /** Always empty: the registry has no modules, so no organization can use those of another. */
  @Get(':organization/relationships/module-consumers')
  async listModuleConsumers(
    @Param('organization') name: string,
    @Query() query: QueryOf,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    await findAdministeredOrganization(this.database, actor, name);
    return renderPage([], parsePage(query), 0, request.publicUrl);
  }

  @Patch(':organization/relationships/module-consumers')
  @HttpCode(204)
  async replaceModuleConsumers(
    @Param('organization') name: string,
    @Body() body: unknown,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    const { data } = parseBody(moduleConsumersBody, body);
    await findAdministeredOrganization(this.database, actor, name);
    if (data.length > 0)
      throw unprocessable('Module consumers are not supported: the registry has no modules', '/data');
  }

  private async loadIncluded(
    rows: readonly AdministeredOrganizationRow[],
    includes: Includes,
    actor: Actor,
  ): Promise<Resource[] | undefined> {
    if (!includes) return undefined;
    if (!includes.has('owners')) return [];
    const owners = selectRelatedUsers(sql`${rows.flatMap((row) => row.owners)}::text[]`, actor);
    return readRelated(this.database, [owners], getSlowReadCaller(actor, rows));
  }
}
