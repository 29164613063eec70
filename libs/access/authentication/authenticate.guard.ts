import { isIP } from 'node:net';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { EventContext } from '#kernel';
import type { Actor } from './actor.js';
import { Authenticator } from './authenticator.js';
import type { RouteOptions } from '../routes/route-options.js';

/** A request with the caller that `identifyCaller` found. */
export type AuthenticatedRequest = FastifyRequest & { actor?: Actor | undefined; secret?: string };

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Requires a token on every route that is not marked `@Public()`. The server has identified the caller of a request with
 * a body already; the guard identifies all others, and those that OutdatedAccessFilter runs again.
 */
@Injectable()
export class AuthenticateGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (request.actor || (request.routeOptions.config as RouteOptions).isPublic) return true;
    return identifyCaller(request, this.authenticator).then(() => true);
  }
}

/** The token that a request carries. */
export const getBearerToken = ({ headers }: FastifyRequest): string | undefined =>
  BEARER.exec(headers.authorization ?? '')?.[1];

/** The client's address, or null if its connection has none any more. */
export const getClientAddress = ({ ip, socket }: FastifyRequest): string | null =>
  // A proxy may pass on whatever its client wrote into X-Forwarded-For.
  isIP(ip) === 0 ? (socket.remoteAddress ?? null) : ip;

/** Sets the caller of the request, or throws `unauthorized`. */
export const identifyCaller = async (request: AuthenticatedRequest, authenticator: Authenticator): Promise<void> => {
  const secret = getBearerToken(request);
  const identity = await authenticator.identify(secret, getClientAddress(request) ?? '');
  if (secret !== undefined) request.secret = secret;
  request.actor = { ...identity, request: describeRequest(request) };
};

/** Programs say their name and version; what is longer is cut, for it is kept with each event. */
const USER_AGENT_MAX = 512;

/** What an event keeps of the request that led to it. */
export const describeRequest = (request: FastifyRequest): EventContext['request'] => ({
  id: request.id,
  address: getClientAddress(request),
  userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
});

/** The caller of the request, as a handler's parameter. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const { actor } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!actor) throw new Error('a public route asked for its caller');
  return actor;
});
