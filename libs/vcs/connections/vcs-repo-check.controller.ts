import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { renderDocument, requireParameter, type Document, type QueryParameters } from '#api/json-api';
import { Connections } from './connections.service.js';
import { findOauthToken } from './oauth-clients.view.js';

/** Whether a repository of a Git host exists. */
@Controller('api/v2')
export class VcsRepoCheckController {
  constructor(
    private readonly database: Database,
    private readonly connections: Connections,
  ) {}

  @Get('organizations/:organization/vcs/repo')
  async show(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const token = requireParameter(query, 'oauth_token_id');
    const identifier = requireParameter(query, 'identifier');
    const client = await findOauthToken(this.database, actor, token, organization);
    const repository = await this.connections.use(client, (host) => host.findRepository(identifier));
    return renderDocument({
      id: identifier,
      type: 'vcs-repo-check',
      attributes: { exists: repository !== null, identifier: repository?.identifier ?? identifier },
    });
  }
}
