import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import { ConfigureRoute, CurrentActor, type Actor } from '#api/access';
import { notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import {
  getParameter,
  parseBody,
  parsePage,
  renderDocument,
  renderPage,
  slicePage,
  type Document,
  type QueryParameters as QueryOf,
  type Resource,
} from '#api/json-api';
import {
  createBody,
  findDefaultArchive,
  toNewVersion,
  toVersionChanges,
  updateBody,
} from './terraform-versions.body.js';
import { ToolReleases, type ToolRelease } from './tool-releases.catalogue.js';
import { ChangeToolVersions } from './tool-versions.handler.js';
import { loadSiteReleases, type SiteReleases } from './tool-versions.view.js';

const PATH = 'api/v2/admin/terraform-versions';
const FILTERS = ['filter[version]', 'search[version]'] as const;

const renderTerraformVersion = ({ id, version, settings }: ToolRelease, { releases, uses }: SiteReleases): Resource => {
  const archive = findDefaultArchive(settings.archs);
  return {
    id,
    type: 'terraform-versions',
    attributes: {
      version,
      url: archive?.url ?? null,
      sha: archive?.sha ?? null,
      archs: settings.archs,
      official: settings.official,
      enabled: settings.enabled,
      beta: settings.beta,
      deprecated: settings.deprecated,
      'deprecated-reason': settings.deprecatedReason,
      usage: uses[version] ?? 0,
      'created-at': releases.find((release) => release.id === id)?.createdAt ?? null,
    },
    links: { self: `/${PATH}/${id}` },
  };
};

/** The releases that workspaces may choose, for site administrators. */
@Controller(PATH)
export class TerraformVersionsController {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly releases: ToolReleases,
  ) {}

  @Get()
  @ConfigureRoute({ filters: FILTERS })
  async list(@Query() query: QueryOf, @Req() request: FastifyRequest, @CurrentActor() actor: Actor): Promise<Document> {
    const site = await loadSiteReleases(this.database, actor);
    const page = parsePage(query);
    const exact = getParameter(query, 'filter[version]');
    const search = getParameter(query, 'search[version]') ?? '';
    const matches = this.releases
      .with(site.releases)
      .list.filter(({ version }) => (exact ? version === exact : version.includes(search)));
    const data = slicePage(matches, page).map((release) => renderTerraformVersion(release, site));
    return renderPage(data, page, matches.length, request.publicUrl);
  }

  @Post()
  async create(@Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const { version, settings } = toNewVersion(parseBody(createBody, body).data.attributes);
    const id = await this.bus.execute(new ChangeToolVersions('AddToolVersion', { version, settings, actor }));
    return this.show(id, actor);
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<Document> {
    const site = await loadSiteReleases(this.database, actor);
    const release = this.releases.with(site.releases).find(id);
    if (!release) throw notFound();
    return renderDocument(renderTerraformVersion(release, site));
  }

  @Patch(':id')
  async update(@Param('id') id: string, @Body() body: unknown, @CurrentActor() actor: Actor): Promise<Document> {
    const changes = toVersionChanges(parseBody(updateBody, body).data.attributes);
    await this.bus.execute(new ChangeToolVersions('ChangeToolVersion', { id, changes, actor }));
    return this.show(id, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  async destroy(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeToolVersions('DeleteToolVersion', { id, actor }));
  }
}
