import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Clock } from '#platform/kernel';
import { RecoveryPeriod } from './commands/recovery-period.service.js';
import { AuthenticateGuard } from './authentication/authenticate.guard.js';
import { AuthenticationFailureLog } from './authentication/authentication-failures.log.js';
import { TokenUsageRecorder } from './authentication/token-usage.recorder.js';
import { Authenticator, SESSION_RULES, type SessionRules } from './authentication/authenticator.js';
import { TwoFactorRule } from './authentication/two-factor.rule.js';
import { INVALID_TOKENS_PER_MINUTE, InvalidTokenLimiter } from './authentication/invalid-tokens.limiter.js';

type AccessOptions = {
  readonly wrongTokens: number | null;
  readonly sessions: SessionRules;
  /** Whether the site requires a second factor of everybody. */
  readonly requiresTwoFactor: boolean;
  /** Days for which deleted resources can be recovered; 0 if deletions are final. */
  readonly recoverableDays: number;
};

@Global()
@Module({
  providers: [
    Authenticator,
    TokenUsageRecorder,
    InvalidTokenLimiter,
    AuthenticationFailureLog,
    { provide: APP_GUARD, useClass: AuthenticateGuard },
  ],
  exports: [Authenticator, RecoveryPeriod, TwoFactorRule],
})
export class AccessModule {
  /** `wrongTokens`: requests with a wrong token that each address may send per minute; null for no limit. */
  static with({ wrongTokens, sessions, requiresTwoFactor, recoverableDays }: AccessOptions): DynamicModule {
    return {
      module: AccessModule,
      // Modules with responses that outlive their request identify callers again.
      global: true,
      providers: [
        { provide: INVALID_TOKENS_PER_MINUTE, useValue: wrongTokens },
        { provide: TwoFactorRule, useValue: new TwoFactorRule(requiresTwoFactor) },
        { provide: SESSION_RULES, useValue: sessions },
        {
          provide: RecoveryPeriod,
          useFactory: (clock: Clock) => new RecoveryPeriod(clock, recoverableDays),
          inject: [Clock],
        },
      ],
    };
  }
}
