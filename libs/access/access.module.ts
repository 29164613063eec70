import { Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { AuthenticateGuard } from './authenticate.guard.js';
import { AuthenticationFailureLog } from './refused-authentication.js';
import { TokenUsageRecorder } from './authentication-tokens.uses.js';
import { Authenticator } from './authenticator.js';
import { INVALID_TOKENS_PER_MINUTE, InvalidTokenLimiter } from './wrong-tokens.js';

@Module({
  providers: [
    Authenticator,
    TokenUsageRecorder,
    InvalidTokenLimiter,
    AuthenticationFailureLog,
    { provide: APP_GUARD, useClass: AuthenticateGuard },
  ],
  exports: [Authenticator],
})
export class AccessModule {
  /** Null: any number of wrong tokens may come from one address. */
  static with({ wrongTokens }: { readonly wrongTokens: number | null }): DynamicModule {
    return {
      module: AccessModule,
      providers: [{ provide: INVALID_TOKENS_PER_MINUTE, useValue: wrongTokens }],
    };
  }
}
