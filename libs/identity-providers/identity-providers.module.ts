import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { Clock } from '#kernel';
import { Database } from '#postgres';
import { Vault } from '#vault';
import { ProviderConnections } from './protocol/provider-connections.service.js';
import { IdentityProvidersController, PUBLIC_URL } from './providers/identity-providers.controller.js';
import { IdentityProvidersHandler } from './providers/identity-providers.handler.js';
import { ProviderDirectory, toSettingsProvider } from './providers/provider-directory.service.js';

export type IdentityProvidersOptions = {
  readonly publicUrl: string;
  /** The provider that the settings of the server describe; null for none. */
  readonly oidc: Parameters<typeof toSettingsProvider>[0] | null;
};

/** People sign in with identity providers by OpenID Connect. */
@Module({
  imports: [CqrsModule],
  controllers: [IdentityProvidersController],
  providers: [
    IdentityProvidersHandler,
    {
      provide: ProviderConnections,
      useFactory: (clock: Clock) => new ProviderConnections(clock),
      inject: [Clock],
    },
  ],
})
export class IdentityProvidersModule {
  static with({ publicUrl, oidc }: IdentityProvidersOptions): DynamicModule {
    return {
      module: IdentityProvidersModule,
      providers: [
        { provide: PUBLIC_URL, useValue: publicUrl },
        {
          provide: ProviderDirectory,
          useFactory: (database: Database, vault: Vault) =>
            new ProviderDirectory(database, vault, oidc && toSettingsProvider(oidc)),
          inject: [Database, Vault],
        },
      ],
    };
  }
}
