import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock, Ids } from '#platform/kernel';
import { defineAggregate, EventStore, toProjection, type ModuleDefinition } from '#storage/event-store';
import { Vault } from '#storage/vault';
import { GitHosts } from '#vcs/git-hosts';
import { AuthorizedReposController } from './authorized-repos.controller.js';
import { ConnectionTokens } from './connection-tokens.service.js';
import { Connections } from './connections.service.js';
import { HostAuthorizationsController } from './host-authorizations.controller.js';
import { oauthClient, oauthClientEvents } from './oauth-client.js';
import { oauthTokenReads } from './oauth-token-reads.js';
import { OauthClientsController } from './oauth-clients.controller.js';
import { OauthClientsHandler } from './oauth-clients.handler.js';
import { oauthClients, oauthTokenSecrets } from './oauth-clients.view.js';
import { OauthTokensController } from './oauth-tokens.controller.js';
import { PendingAuthorizations } from './pending-authorizations.service.js';
import { VcsRepoCheckController } from './vcs-repo-check.controller.js';
import { VcsTreeController } from './vcs-tree.controller.js';

export const connectionsDefinition: ModuleDefinition = {
  name: 'connections',
  kinds: { ...oauthClientEvents, ...oauthTokenReads },
  aggregates: [defineAggregate('oc', oauthClient)],
  projections: [toProjection(oauthClients), toProjection(oauthTokenSecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'connections.token_renewals',
      backup: 'rows',
      organizationExport: { without: 'two sites cannot renew one token: people authorize the connection again' },
    },
  ],
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
      global: true,
      imports: [CqrsModule],
      controllers: [
        AuthorizedReposController,
        HostAuthorizationsController,
        OauthClientsController,
        OauthTokensController,
        VcsRepoCheckController,
        VcsTreeController,
      ],
      providers: [
        OauthClientsHandler,
        PendingAuthorizations,
        { provide: GitHosts, useFactory: () => new GitHosts(outboundPrivateHosts) },
        {
          provide: ConnectionTokens,
          useFactory: (store: EventStore, vault: Vault, { authorization }: GitHosts, ids: Ids, clock: Clock) =>
            new ConnectionTokens({ store, vault, authorization, ids, clock }),
          inject: [EventStore, Vault, GitHosts, Ids, Clock],
        },
        {
          provide: Connections,
          useFactory: (hosts: GitHosts, tokens: ConnectionTokens, vault: Vault) =>
            new Connections(hosts, tokens, vault),
          inject: [GitHosts, ConnectionTokens, Vault],
        },
      ],
      exports: [Connections],
    };
  }
}
