import { Controller, Get, Param, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { getParameter, parsePage, renderPage, type Document, type QueryParameters, type Resource } from '#api/json-api';
import type { HostRepository } from '#vcs/git-hosts';
import { Connections } from './connections.service.js';
import { findOauthToken } from './oauth-clients.view.js';

const renderRepository = ({ identifier }: HostRepository): Resource => ({
  id: identifier,
  type: 'authorized-repos',
  attributes: { name: identifier.replace(/^.*\//, ''), 'display-identifier': identifier },
});

/** The repositories of a Git host that the account of a connection can read. */
@Controller('api/v2')
export class AuthorizedReposController {
  constructor(
    private readonly database: Database,
    private readonly connections: Connections,
  ) {}

  @Get('oauth-tokens/:id/authorized-repos')
  async list(
    @Param('id') id: string,
    @Query() query: QueryParameters,
    @Req() request: FastifyRequest,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const page = parsePage(query);
    const search = getParameter(query, 'q');
    const client = await findOauthToken(this.database, actor, id);
    const listed = await this.connections.use(client, (host) => host.listRepositories({ search, ...page }));
    return renderPage(listed.repositories.map(renderRepository), page, listed.total, request.publicUrl);
  }
}
