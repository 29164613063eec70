import { Controller, Get, Header, Inject, Param } from '@nestjs/common';
import { notFound } from '#platform/kernel';
import {
  ConfigureRoutes,
  CurrentActor,
  requirePermission,
  SITE_SCOPE,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import { Database } from '#platform/postgres';
import { renderScimList, type ScimResource } from './scim-list.js';
import {
  describeServiceProvider,
  listResourceTypes,
  listSchemas,
  SCIM_JSON,
  type ScimDescription,
} from './scim-schemas.js';

/** Injection token: the address of SCIM, `https://HOST/scim/v2`. */
export const SCIM_BASE_URL = 'cadastre:scim-base-url';

/** The features of the server (RFC 7644 §4). */
@Controller('scim/v2')
@ConfigureRoutes({ isScim: true })
export class ScimProtocolController {
  constructor(
    private readonly database: Database,
    @Inject(SCIM_BASE_URL) private readonly baseUrl: string,
  ) {}

  @Get('ServiceProviderConfig')
  @Header('content-type', SCIM_JSON)
  async showConfiguration(@CurrentActor() actor: Actor): Promise<ScimResource> {
    await this.requireAccess(actor);
    return describeServiceProvider(this.baseUrl);
  }

  @Get('ResourceTypes')
  @Header('content-type', SCIM_JSON)
  listResourceTypes(@CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.list(actor, listResourceTypes(this.baseUrl));
  }

  @Get('ResourceTypes/:id')
  @Header('content-type', SCIM_JSON)
  showResourceType(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.show(actor, listResourceTypes(this.baseUrl), id);
  }

  @Get('Schemas')
  @Header('content-type', SCIM_JSON)
  listSchemas(@CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.list(actor, listSchemas(this.baseUrl));
  }

  @Get('Schemas/:id')
  @Header('content-type', SCIM_JSON)
  showSchema(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<ScimResource> {
    return this.show(actor, listSchemas(this.baseUrl), id);
  }

  private async list(actor: Actor, descriptions: readonly ScimDescription[]): Promise<ScimResource> {
    await this.requireAccess(actor);
    return renderScimList(descriptions, descriptions.length);
  }

  private async show(actor: Actor, descriptions: readonly ScimDescription[], id: string): Promise<ScimResource> {
    await this.requireAccess(actor);
    const description = descriptions.find((one) => one.id === id);
    if (!description) throw notFound();
    return description;
  }

  private async requireAccess(actor: Actor): Promise<void> {
    await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'provision-users', SITE_SCOPE);
  }
}
