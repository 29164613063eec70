import { Controller, Get, Header, HttpCode, Param, Query, Req, Res, UseFilters } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { badRequest, notFound } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { getParameter, requireParameter, type QueryParameters as QueryOf } from '#api/json-api';
import { CurrentActor, type Actor } from '#api/access';
import { ProtocolErrorsFilter, renderWithEtag } from '#registry/registry';
import { formatArchiveName, ModuleLinks } from './module.links.js';
import {
  findInstallableModule,
  listInstallableModules,
  type InstallableModuleVersion,
  type ListedModule,
  type ModuleAddressPath,
} from './module-protocol.queries.js';

type VersionAddressPath = ModuleAddressPath & { readonly version: string };

const DEFAULT_LIMIT = 15;
const MAX_LIMIT = 100;
const MAX_OFFSET = 100_000;

const parseNumber = (query: QueryOf, name: string, byDefault: number, most: number): number => {
  const text = getParameter(query, name);
  if (text === undefined || text === '') return byDefault;
  if (!/^\d{1,9}$/.test(text) || Number(text) > most)
    throw badRequest(`${name}: must be a whole number from 0 to ${most}, got ${JSON.stringify(text)}`, name);
  return Number(text);
};

/** `downloads` and `verified` are members of the protocol. The server counts no downloads and verifies no publishers. */
const renderSummary = ({ namespace, name, provider, version, publishedAt }: ListedModule) => ({
  id: `${namespace}/${name}/${provider}/${version}`,
  owner: '',
  namespace,
  name,
  version,
  provider,
  description: '',
  source: '',
  tag: '',
  published_at: publishedAt,
  downloads: 0,
  verified: false,
});

const requireVersion = (
  versions: readonly InstallableModuleVersion[],
  requestedVersion: string | undefined,
): InstallableModuleVersion => {
  const match =
    requestedVersion === undefined ? versions[0] : versions.find(({ version }) => version === requestedVersion);
  if (!match)
    throw notFound(
      requestedVersion === undefined ? 'The module has no version' : `There is no version ${requestedVersion}`,
    );
  return match;
};

/**
 * Serves Terraform's module registry protocol as plain JSON; clients use it to install modules.
 *
 * @see https://developer.hashicorp.com/terraform/internals/module-registry-protocol
 */
@Controller('api/registry/v1/modules')
@UseFilters(ProtocolErrorsFilter)
export class ModuleProtocolController {
  constructor(
    private readonly database: Database,
    private readonly links: ModuleLinks,
  ) {}

  @Get()
  @Header('content-type', 'application/json')
  list(@Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.renderList(actor, query, null, getParameter(query, 'q'));
  }

  @Get('search')
  @Header('content-type', 'application/json')
  search(@Query() query: QueryOf, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.renderList(actor, query, getParameter(query, 'namespace') || null, requireParameter(query, 'q'));
  }

  @Get(':namespace')
  @Header('content-type', 'application/json')
  listNamespace(
    @Param('namespace') namespace: string,
    @Query() query: QueryOf,
    @CurrentActor() actor: Actor,
  ): Promise<Buffer> {
    return this.renderList(actor, query, namespace, getParameter(query, 'q'));
  }

  @Get(':namespace/:name/:provider/versions')
  @Header('content-type', 'application/json')
  async versions(
    @Param() path: ModuleAddressPath,
    @CurrentActor() actor: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer | undefined> {
    const { namespace, name, provider, versions } = await findInstallableModule(this.database, actor, path);
    const source = `${namespace}/${name}/${provider}`;
    const answer = { modules: [{ source, versions: versions.map(({ version }) => ({ version })) }] };
    return renderWithEtag(answer, request, reply);
  }

  /** Clients download from the address in the header. They send no token there, so the link is signed. */
  @Get(':namespace/:name/:provider/:version/download')
  @HttpCode(204)
  async download(
    @Param() path: VersionAddressPath,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    const { name, provider, versions } = await findInstallableModule(this.database, actor, path);
    const { id, version } = requireVersion(versions, path.version);
    const link = this.links.download(id, formatArchiveName({ name, provider, version }), actor);
    void reply.header('x-terraform-get', link).header('cache-control', 'no-store');
  }

  @Get(':namespace/:name/:provider')
  @Header('content-type', 'application/json')
  showNewest(@Param() path: ModuleAddressPath, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.renderDetails(path, undefined, actor);
  }

  @Get(':namespace/:name/:provider/:version')
  @Header('content-type', 'application/json')
  show(@Param() { version, ...path }: VersionAddressPath, @CurrentActor() actor: Actor): Promise<Buffer> {
    return this.renderDetails(path, version, actor);
  }

  private async renderDetails(
    path: ModuleAddressPath,
    requestedVersion: string | undefined,
    actor: Actor,
  ): Promise<Buffer> {
    const { versions, ...module } = await findInstallableModule(this.database, actor, path);
    const { version, publishedAt } = requireVersion(versions, requestedVersion);
    const answer = {
      ...renderSummary({ ...module, version, publishedAt }),
      versions: versions.map((each) => each.version),
    };
    return Buffer.from(JSON.stringify(answer));
  }

  private async renderList(
    actor: Actor,
    query: QueryOf,
    namespace: string | null,
    search: string | undefined,
  ): Promise<Buffer> {
    const limit = Math.max(1, parseNumber(query, 'limit', DEFAULT_LIMIT, MAX_LIMIT));
    const offset = parseNumber(query, 'offset', 0, MAX_OFFSET);
    const filter = { namespace, search, provider: getParameter(query, 'provider'), offset, limit: limit + 1 };
    const rows = await listInstallableModules(this.database, actor, filter);
    const hasMore = rows.length > limit;
    const meta = { limit, current_offset: offset, ...(hasMore ? { next_offset: offset + limit } : {}) };
    return Buffer.from(JSON.stringify({ meta, modules: rows.slice(0, limit).map(renderSummary) }));
  }
}
