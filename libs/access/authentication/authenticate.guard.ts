import { isIP } from 'node:net';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { EventContext } from '#kernel';
import { withSpan } from '#tracing';
import type { Actor } from './actor.js';
import { Authenticator } from './authenticator.js';
import type { RouteOptions } from '../routes/route-options.js';

/** A request with the caller that `identifyCaller` has set. */
export type AuthenticatedRequest = FastifyRequest & { actor?: Actor | undefined; secret?: string };

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Requires a token on every route that is not marked `@Public()`. The server has already identified the caller of a
 * request with a body. The guard identifies all other callers, also in requests that OutdatedAccessFilter repeats.
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

export const getBearerToken = ({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined =>
  BEARER.exec(headers.authorization ?? '')?.[1];

/** Returns the client's address, or null if its connection has ended. */
export const getClientAddress = ({ ip, socket }: FastifyRequest): string | null =>
  // A proxy may pass on any text that its client wrote into X-Forwarded-For.
  isIP(ip) === 0 ? (socket.remoteAddress ?? null) : ip;

/** Sets the caller of the request, or throws `unauthorized`. */
export const identifyCaller = async (request: AuthenticatedRequest, authenticator: Authenticator): Promise<void> => {
  const secret = getBearerToken(request);
  const identity = await withSpan(
    'authenticate',
    () => ({}),
    () => authenticator.identify(secret, getClientAddress(request) ?? ''),
  );
  if (secret !== undefined) request.secret = secret;
  request.actor = { ...identity, request: describeRequest(request) };
};

/** User agents contain a name and a version. Longer ones are cut, because they are stored with each event. */
const USER_AGENT_MAX = 512;

/** Returns the fields of a request that an event stores. */
export const describeRequest = (request: FastifyRequest): EventContext['request'] => ({
  id: request.id,
  address: getClientAddress(request),
  userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
});

/** Injects the caller of the request into a parameter of a handler. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const { actor } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!actor) throw new Error('a public route asked for its caller');
  return actor;
});
