import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { oidcKeyEvents, oidcKeys } from './keys/oidc-keys.js';
import { OidcKeysHandler } from './keys/oidc-keys.handler.js';
import { oidcKeySecrets, publishedOidcKeys } from './keys/oidc-keys.view.js';
import { OidcIssuerController } from './oidc-issuer.controller.js';
import { OidcSettingsController } from './oidc-settings.controller.js';
import { IdentityTokens } from './tokens/identity-tokens.service.js';
import { OIDC_ISSUER } from './tokens/oidc-issuer.token.js';

export const oidcIssuerDefinition: ModuleDefinition = {
  name: 'oidc-issuer',
  kinds: oidcKeyEvents,
  aggregates: [defineAggregate('oidc', oidcKeys)],
  projections: [toProjection(publishedOidcKeys), toProjection(oidcKeySecrets)],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};

/** Runs prove who they are with tokens that the server signs. */
@Module({
  imports: [CqrsModule],
  controllers: [OidcIssuerController, OidcSettingsController],
  providers: [OidcKeysHandler, IdentityTokens],
  exports: [IdentityTokens],
})
export class OidcIssuerModule {
  static with({ publicUrl }: { readonly publicUrl: string }): DynamicModule {
    return {
      module: OidcIssuerModule,
      // Runs request tokens.
      global: true,
      providers: [{ provide: OIDC_ISSUER, useValue: publicUrl }],
    };
  }
}
