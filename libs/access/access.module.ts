import { Module } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { AccessInterceptor } from './access.interceptor.js';
import { AuthenticateGuard } from './authenticate.guard.js';
import { AuthenticationTokensController } from './authentication-tokens.controller.js';
import { DestroyTokenHandler, IssueTokenHandler } from './authentication-tokens.handler.js';
import { Authenticator } from './authenticator.js';
import { TeamsController } from './teams.controller.js';
import { UsersController } from './users.controller.js';

@Module({
  imports: [CqrsModule],
  controllers: [AuthenticationTokensController, TeamsController, UsersController],
  providers: [
    Authenticator,
    IssueTokenHandler,
    DestroyTokenHandler,
    { provide: APP_GUARD, useClass: AuthenticateGuard },
    { provide: APP_INTERCEPTOR, useClass: AccessInterceptor },
  ],
  exports: [Authenticator],
})
export class AccessModule {}
