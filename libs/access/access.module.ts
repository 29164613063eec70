import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { AccessInterceptor } from './access.interceptor.js';
import { AuthenticateGuard } from './authenticate.guard.js';
import { TokenUses } from './authentication-tokens.uses.js';
import { Authenticator } from './authenticator.js';

@Module({
  providers: [
    Authenticator,
    TokenUses,
    { provide: APP_GUARD, useClass: AuthenticateGuard },
    { provide: APP_INTERCEPTOR, useClass: AccessInterceptor },
  ],
  exports: [Authenticator],
})
export class AccessModule {}
