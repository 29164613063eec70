import { Controller, Get, Header, Param, UseFilters } from '@nestjs/common';
import { notFound } from '#kernel';
import { ConfigureRoutes, CurrentActor, requirePermission, SITE_SCOPE, verifyCurrentAccess, type Actor } from '#access';
import { Database } from '#postgres';
import { renderScimList, type ScimResource } from './scim-list.js';
import { ScimRefusalFilter } from './scim-refusal.filter.js';
import { RESOURCE_TYPES, SCHEMAS, SCIM_JSON, SERVICE_PROVIDER_CONFIG } from './scim-schemas.js';

/** The features of the server (RFC 7644 §4). */
@Controller('scim/v2')
@UseFilters(ScimRefusalFilter)
@ConfigureRoutes({ isScim: true })
export class ScimProtocolController {
  constructor(private readonly database: Database) {}

  @Get('ServiceProviderConfig')
  @Header('content-type', SCIM_JSON)
  showConfiguration(@CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.answer(actor, SERVICE_PROVIDER_CONFIG);
  }

  @Get('ResourceTypes')
  @Header('content-type', SCIM_JSON)
  listResourceTypes(@CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.answer(actor, renderScimList(RESOURCE_TYPES, RESOURCE_TYPES.length));
  }

  @Get('ResourceTypes/:id')
  @Header('content-type', SCIM_JSON)
  showResourceType(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.answer(
      actor,
      RESOURCE_TYPES.find((one) => one.id === id),
    );
  }

  @Get('Schemas')
  @Header('content-type', SCIM_JSON)
  listSchemas(@CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.answer(actor, renderScimList(SCHEMAS, SCHEMAS.length));
  }

  @Get('Schemas/:id')
  @Header('content-type', SCIM_JSON)
  showSchema(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.answer(
      actor,
      SCHEMAS.find((one) => one.id === id),
    );
  }

  private async answer(actor: Actor, resource: ScimResource | undefined): Promise<ScimResource> {
    await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'provision-users', SITE_SCOPE);
    if (!resource) throw notFound();
    return resource;
  }
}
