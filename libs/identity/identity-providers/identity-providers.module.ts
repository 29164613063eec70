import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock, Ids, Quotas } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { defineAggregate, toProjection, type ModuleDefinition, EventStore } from '#storage/event-store';
import { GroupStatements } from '#identity/scim';
import { SignInFlow, SignInOptions, SignInTokens } from '#identity/sign-in';
import { Vault } from '#storage/vault';
import { identityProvider, identityProviderEvents } from './providers/identity-provider.js';
import { identityProviders, providerSecrets } from './providers/identity-providers.view.js';
import { statedGroups } from './sign-in/stated-groups.view.js';
import { IdentityLinksController } from './linking/identity-links.controller.js';
import { BackChannelLogoutController } from './logout/back-channel-logout.controller.js';
import { BackChannelLogout } from './logout/back-channel-logout.service.js';
import { OidcFlow } from './sign-in/oidc-flow.service.js';
import { ProviderConnections } from './protocol/provider-connections.service.js';
import { IdentityProvidersController } from './providers/identity-providers.controller.js';
import { PUBLIC_URL } from './providers/identity-providers.document.js';
import { IdentityProvidersHandler } from './providers/identity-providers.handler.js';
import { ProviderDirectory, toSettingsProvider } from './providers/provider-directory.service.js';
import { ProviderScimTokensController } from './providers/provider-scim-tokens.controller.js';
import { ProviderOptions } from './providers/provider-options.service.js';
import { GroupMapping } from './sign-in/group-mapping.service.js';
import { IdentitySignIn } from './sign-in/identity-sign-in.service.js';
import { OidcSignInController } from './sign-in/oidc-sign-in.controller.js';
import { FinishedSignIns } from './sign-in/finished-sign-ins.service.js';
import { SamlFlow } from './sign-in/saml-flow.service.js';
import { SamlSessions } from './sign-in/saml-sessions.service.js';
import { SamlSignInController } from './sign-in/saml-sign-in.controller.js';
import { SignInStart } from './sign-in/sign-in-start.service.js';
import { PendingSignIns } from './sign-in/pending-sign-ins.service.js';
import { ProvisionedUsers } from './sign-in/provisioned-users.port.js';
import { SignInGroups } from './sign-in/sign-in-groups.service.js';
import { ScimUsers } from './sign-in/scim-users.service.js';

export const identityProvidersDefinition: ModuleDefinition = {
  name: 'identity-providers',
  kinds: identityProviderEvents,
  aggregates: [defineAggregate('idp', identityProvider)],
  projections: [toProjection(identityProviders), toProjection(providerSecrets), toProjection(statedGroups)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'identity_providers.stated_groups',
      backup: 'rows',
      organizationExport: { without: 'people keep their accounts at identity providers at the site' },
    },
  ],
};

export type IdentityProvidersOptions = {
  readonly publicUrl: string;
  /** The provider that the settings of the server describe; null for none. */
  readonly oidc: Parameters<typeof toSettingsProvider>[0] | null;
  readonly quotas: Quotas;
};

/** People sign in with identity providers, by OpenID Connect or SAML 2.0. */
@Module({
  imports: [CqrsModule],
  controllers: [
    IdentityProvidersController,
    ProviderScimTokensController,
    OidcSignInController,
    SamlSignInController,
    IdentityLinksController,
    BackChannelLogoutController,
  ],
  providers: [
    IdentityProvidersHandler,
    GroupMapping,
    BackChannelLogout,
    FinishedSignIns,
    SignInStart,
    { provide: SignInOptions, useClass: ProviderOptions },
    { provide: ProvisionedUsers, useClass: ScimUsers },
    { provide: GroupStatements, useClass: SignInGroups },
    {
      provide: ProviderConnections,
      useFactory: (clock: Clock) => new ProviderConnections(clock),
      inject: [Clock],
    },
    {
      provide: SamlSessions,
      useFactory: (tokens: SignInTokens) => new SamlSessions(tokens),
      inject: [SignInTokens],
    },
    {
      provide: PendingSignIns,
      useFactory: (database: Database, tokens: SignInTokens) => new PendingSignIns(database, tokens),
      inject: [Database, SignInTokens],
    },
  ],
  exports: [GroupStatements, SignInOptions],
})
export class IdentityProvidersModule {
  static with({ publicUrl, oidc, quotas }: IdentityProvidersOptions): DynamicModule {
    return {
      module: IdentityProvidersModule,
      // The pages of sign-in list the providers.
      global: true,
      providers: [
        { provide: PUBLIC_URL, useValue: publicUrl },
        {
          provide: ProviderDirectory,
          useFactory: (database: Database, vault: Vault) =>
            new ProviderDirectory(database, vault, oidc && toSettingsProvider(oidc)),
          inject: [Database, Vault],
        },
        {
          provide: OidcFlow,
          useFactory: (directory: ProviderDirectory, connections: ProviderConnections, clock: Clock) =>
            new OidcFlow(directory, connections, clock, publicUrl),
          inject: [ProviderDirectory, ProviderConnections, Clock],
        },
        {
          provide: SamlFlow,
          useFactory: (directory: ProviderDirectory, clock: Clock) => new SamlFlow(directory, clock, publicUrl),
          inject: [ProviderDirectory, Clock],
        },
        {
          provide: IdentitySignIn,
          useFactory: (
            store: EventStore,
            ids: Ids,
            flow: SignInFlow,
            mapping: GroupMapping,
            provisioned: ProvisionedUsers,
            directory: ProviderDirectory,
          ) => new IdentitySignIn({ store, ids, quotas, flow, mapping, provisioned, directory }),
          inject: [EventStore, Ids, SignInFlow, GroupMapping, ProvisionedUsers, ProviderDirectory],
        },
      ],
    };
  }
}
