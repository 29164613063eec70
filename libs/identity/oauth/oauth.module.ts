import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import type { ModuleDefinition } from '#storage/event-store';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { AuthorizationCodeGrant } from './grants/authorization-code.grant.js';
import { TokenExchangeGrant } from './grants/token-exchange.grant.js';
import { TOKEN_GRANTS, type TokenGrant } from './grants/token.grant.js';
import { OauthMetadataController } from './oauth-metadata.controller.js';
import { OauthRevocationController } from './oauth-revocation.controller.js';
import { OauthTokenController } from './oauth-token.controller.js';
import { OAUTH_OPTIONS, type OauthOptions } from './oauth.options.js';

/** The module has no events of its own: people records the tokens. */
export const oauthDefinition: ModuleDefinition = {
  name: 'oauth',
  kinds: {},
  aggregates: [],
  projections: [],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [{ table: 'oauth.authorization_codes', backup: 'empty', because: 'codes end after a minute' }],
};

/** The grants that `POST /oauth/token` accepts. */
const TOKEN_GRANT_CLASSES: readonly Type<TokenGrant>[] = [AuthorizationCodeGrant, TokenExchangeGrant];

@Module({
  imports: [CqrsModule],
  controllers: [AuthorizeController, OauthTokenController, OauthRevocationController, OauthMetadataController],
  providers: [
    ...TOKEN_GRANT_CLASSES,
    {
      provide: TOKEN_GRANTS,
      useFactory: (...grants: readonly TokenGrant[]) => grants,
      inject: [...TOKEN_GRANT_CLASSES],
    },
  ],
})
export class OauthModule {
  static with(options: OauthOptions): DynamicModule {
    return { module: OauthModule, providers: [{ provide: OAUTH_OPTIONS, useValue: options }] };
  }
}
