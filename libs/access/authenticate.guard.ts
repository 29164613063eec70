import { isIP } from 'node:net';
import { createParamDecorator, Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import type { EventContext } from '#kernel';
import type { Actor } from './actor.js';
import { Authenticator } from './authenticator.js';

/** What the guard leaves on the request. */
export type AuthenticatedRequest = FastifyRequest & { actor?: Actor; secret?: string };

/** Under what name `@Public()` marks a route. */
export const PUBLIC = 'cadastre:public';

/** For routes that need no token: discovery, health, signed links. */
export const Public = (): MethodDecorator & ClassDecorator => SetMetadata(PUBLIC, true);

const BEARER = /^Bearer +(\S+)$/i;

/** Every route needs a token unless it says otherwise: a route that forgets to say anything is closed. */
@Injectable()
export class AuthenticateGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    await identifyCaller(request, this.authenticator);
    return true;
  }
}

export const identifyCaller = async (request: AuthenticatedRequest, authenticator: Authenticator): Promise<void> => {
  const secret = BEARER.exec(request.headers.authorization ?? '')?.[1];
  const identity = await authenticator.identify(secret);
  if (secret !== undefined) request.secret = secret;
  request.actor = { ...identity, request: requestOf(request) };
};

/** Programs say their name and version; what is longer is cut, for it is kept with each event. */
const USER_AGENT_MAX = 512;

/** What an event keeps of the request that led to it. */
export const requestOf = ({ id, ip, socket, headers }: FastifyRequest): EventContext['request'] => ({
  id,
  // A proxy may pass on whatever its client said of itself.
  address: isIP(ip) === 0 ? (socket.remoteAddress ?? null) : ip,
  userAgent: headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
});

/** The caller of the request, as a handler's parameter. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const { actor } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!actor) throw new Error('a public route asked for its caller');
  return actor;
});
