import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { GitHosts } from '#vcs/git-hosts';
import { AuthorizedReposController } from './authorized-repos.controller.js';
import { Connections } from './connections.service.js';
import { oauthClient, oauthClientEvents, oauthTokenReads } from './oauth-client.js';
import { OauthClientsController } from './oauth-clients.controller.js';
import { OauthClientsHandler } from './oauth-clients.handler.js';
import { oauthClients, oauthTokenSecrets } from './oauth-clients.view.js';
import { OauthTokensController } from './oauth-tokens.controller.js';
import { VcsRepoCheckController } from './vcs-repo-check.controller.js';
import { VcsTreeController } from './vcs-tree.controller.js';

export const connectionsDefinition: ModuleDefinition = {
  name: 'connections',
  kinds: { ...oauthClientEvents, ...oauthTokenReads },
  aggregates: [defineAggregate('oc', oauthClient)],
  projections: [toProjection(oauthClients), toProjection(oauthTokenSecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

type ConnectionsOptions = {
  /** Hosts with private addresses that Git hosts may have. */
  readonly outboundPrivateHosts: readonly string[];
};

@Module({})
export class ConnectionsModule {
  static with({ outboundPrivateHosts }: ConnectionsOptions): DynamicModule {
    return {
      module: ConnectionsModule,
      imports: [CqrsModule],
      controllers: [
        AuthorizedReposController,
        OauthClientsController,
        OauthTokensController,
        VcsRepoCheckController,
        VcsTreeController,
      ],
      providers: [
        OauthClientsHandler,
        {
          provide: Connections,
          useFactory: (vault: Vault) => new Connections(new GitHosts(outboundPrivateHosts), vault),
          inject: [Vault],
        },
      ],
    };
  }
}
