import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
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
import type { Actor } from '#api/access';
import { listPublisherArchives } from './publisher-archives.js';
import { findDefaultArchive } from './tool-archives.js';
import { listReleases, ToolReleases, type ToolRelease } from './tool-releases.catalogue.js';
import type { ToolProgram } from './tool-version.js';
import {
  opaVersionBodies,
  terraformVersionBodies,
  toNewVersion,
  toVersionChanges,
  type ToolVersionType,
} from './tool-versions.body.js';
import { ChangeToolVersions } from './tool-versions.handler.js';
import { loadSiteReleases, type SiteReleases } from './tool-versions.view.js';

export const TOOL_VERSION_FILTERS = ['filter[version]', 'search[version]'] as const;

const TYPES: Readonly<Record<ToolProgram, ToolVersionType>> = { terraform: 'terraform-versions', opa: 'opa-versions' };
const BODIES = { terraform: terraformVersionBodies, opa: opaVersionBodies };

/** A version without archives of the site has those of the publisher, if it is a release of the publisher. */
const listArchives = (program: ToolProgram, { version, settings, isListed }: ToolRelease) =>
  program === 'terraform' && settings.archs.length === 0 && settings.official && isListed
    ? listPublisherArchives(version)
    : settings.archs;

const renderToolVersion = (program: ToolProgram, release: ToolRelease, { releases, uses }: SiteReleases): Resource => {
  const { id, version, settings } = release;
  const archs = listArchives(program, release);
  const archive = findDefaultArchive<(typeof archs)[number]>(archs);
  return {
    id,
    type: TYPES[program],
    attributes: {
      version,
      url: archive?.url ?? null,
      sha: archive?.sha ?? null,
      archs,
      official: settings.official,
      enabled: settings.enabled,
      beta: settings.beta,
      deprecated: settings.deprecated,
      'deprecated-reason': settings.deprecatedReason,
      usage: uses[version] ?? 0,
      'created-at': releases.find((one) => one.id === id)?.createdAt ?? null,
    },
    links: { self: `/api/v2/admin/${TYPES[program]}/${id}` },
  };
};

/** The releases of a program, for site administrators. */
@Injectable()
export class ToolVersions {
  constructor(
    private readonly bus: CommandBus,
    private readonly database: Database,
    private readonly releases: ToolReleases,
  ) {}

  async list(program: ToolProgram, query: QueryOf, publicUrl: string, actor: Actor): Promise<Document> {
    const site = await loadSiteReleases(this.database, program, actor);
    const page = parsePage(query);
    const exact = getParameter(query, 'filter[version]');
    const search = getParameter(query, 'search[version]') ?? '';
    const matches = listReleases(this.releases, program, site.releases).filter(({ version }) =>
      exact ? version === exact : version.includes(search),
    );
    const data = slicePage(matches, page).map((release) => renderToolVersion(program, release, site));
    return renderPage(data, page, matches.length, publicUrl);
  }

  async show(program: ToolProgram, id: string, actor: Actor): Promise<Document> {
    const site = await loadSiteReleases(this.database, program, actor);
    const release = listReleases(this.releases, program, site.releases).find((one) => one.id === id);
    if (!release) throw notFound();
    return renderDocument(renderToolVersion(program, release, site));
  }

  async create(program: ToolProgram, body: unknown, actor: Actor): Promise<Document> {
    const added = toNewVersion(parseBody(BODIES[program].create, body).data.attributes);
    const id = await this.bus.execute(new ChangeToolVersions('AddToolVersion', { program, ...added, actor }));
    return this.show(program, id, actor);
  }

  async update(program: ToolProgram, id: string, body: unknown, actor: Actor): Promise<Document> {
    const changes = toVersionChanges(parseBody(BODIES[program].update, body).data.attributes);
    await this.bus.execute(new ChangeToolVersions('ChangeToolVersion', { program, id, changes, actor }));
    return this.show(program, id, actor);
  }

  async destroy(program: ToolProgram, id: string, actor: Actor): Promise<void> {
    await this.bus.execute(new ChangeToolVersions('DeleteToolVersion', { program, id, actor }));
  }
}
