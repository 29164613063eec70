import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentActor, type Actor } from '#api/access';
import { Database } from '#platform/postgres';
import { notFound } from '#platform/kernel';
import { getParameter, renderDocument, requireParameter, type Document, type QueryParameters } from '#api/json-api';
import type { GitHost } from '#vcs/git-hosts';
import { Connections } from './connections.service.js';
import { findOauthToken } from './oauth-clients.view.js';

const listFolders = async (
  host: GitHost,
  identifier: string,
  branch: string | undefined,
): Promise<readonly string[] | null> => {
  const name = branch || (await host.findRepository(identifier))?.defaultBranch;
  return name ? host.listFolders(identifier, name) : null;
};

/** The folders of a branch, of which one can be the working directory of a workspace. */
@Controller('api/v2')
export class VcsTreeController {
  constructor(
    private readonly database: Database,
    private readonly connections: Connections,
  ) {}

  @Get('organizations/:organization/vcs/tree')
  async show(
    @Param('organization') organization: string,
    @Query() query: QueryParameters,
    @CurrentActor() actor: Actor,
  ): Promise<Document> {
    const token = requireParameter(query, 'oauth_token_id');
    const identifier = requireParameter(query, 'identifier');
    const branch = getParameter(query, 'branch');
    const client = await findOauthToken(this.database, actor, token, organization);
    const folders = await this.connections.use(client, (host) => listFolders(host, identifier, branch));
    if (folders === null) throw notFound('The repository or the branch does not exist');
    return renderDocument({ id: identifier, type: 'vcs-tree', attributes: { folders } });
  }
}
