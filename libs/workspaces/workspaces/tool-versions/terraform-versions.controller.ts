import { createHash } from 'node:crypto';
import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  can,
  ConfigureRoute,
  CurrentActor,
  requirePermission,
  SITE_SCOPE,
  verifyCurrentAccess,
  type Actor,
} from '#api/access';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parsePage,
  renderDocument,
  renderPage,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import { ToolReleases, type ToolRelease } from './tool-releases.catalogue.js';
import { countUses } from './terraform-versions.queries.js';

const PATH = 'api/v2/admin/terraform-versions';
const FILTERS = ['filter[version]', 'search[version]'] as const;

const deriveVersionId = (version: string): string =>
  `tool-${createHash('sha256').update(version).digest('hex').slice(0, 16)}`;

/** The server downloads no release, so it knows neither archives nor their checksums. */
const renderTerraformVersion = (
  { version, isPreview, isBuiltIn }: ToolRelease,
  uses: ReadonlyMap<string, number>,
): Resource => {
  const id = deriveVersionId(version);
  return {
    id,
    type: 'terraform-versions',
    attributes: {
      version,
      url: null,
      sha: null,
      archs: [],
      official: isBuiltIn,
      enabled: true,
      beta: isPreview,
      deprecated: false,
      'deprecated-reason': null,
      usage: uses.get(version) ?? 0,
      'created-at': null,
    },
    links: { self: `/${PATH}/${id}` },
  };
};

/** The releases that workspaces may choose, for site administrators. */
@Controller(PATH)
export class TerraformVersionsController {
  constructor(
    private readonly database: Database,
    private readonly releases: ToolReleases,
  ) {}

  @Get()
  @ConfigureRoute({ filters: FILTERS })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    await this.requireSiteAdmin(actor);
    const page = parsePage(query);
    const exact = getParameter(query, 'filter[version]');
    const search = getParameter(query, 'search[version]') ?? '';
    const matches = this.releases.list.filter(({ version }) => (exact ? version === exact : version.includes(search)));
    const releases = slicePage(matches, page);
    const uses = await countUses(this.database, actor, releases);
    const data = releases.map((release) => renderTerraformVersion(release, uses));
    return renderPage(data, page, matches.length, request.publicUrl);
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    await this.requireSiteAdmin(actor);
    const release = this.releases.list.find(({ version }) => deriveVersionId(version) === id);
    if (!release) throw notFound();
    const uses = await countUses(this.database, actor, [release]);
    return renderDocument(renderTerraformVersion(release, uses));
  }

  private async requireSiteAdmin(actor: Actor): Promise<void> {
    // The statement that counts the workspaces checks the access of site administrators.
    if (!can(actor, 'manage-site', SITE_SCOPE)) await verifyCurrentAccess(this.database, actor);
    requirePermission(actor, 'manage-site', SITE_SCOPE);
  }
}
