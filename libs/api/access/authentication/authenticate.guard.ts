import { isIPv4 } from 'node:net';
import { createParamDecorator, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock, Refusal, type EventContext } from '#platform/kernel';
import { withSpan } from '#platform/tracing';
import type { Actor, Identity } from '../callers/actor.js';
import { formatClientAddress } from './address-ranges.js';
import { Authenticator, createInvalidTokenRefusal } from './authenticator.js';
import { getBearerToken, getCredential, getSessionCredential } from './credentials.js';
import { findImportedOrigin } from './imported-origin.js';
import { createRecentSignInRefusal, hasRecentSignIn } from './recent-sign-in.js';
import { SecondFactorRequired, SignInRequired } from './sign-in-required.filter.js';
import { requireUnrestrictedRoute } from './restricted-routes.js';
import { createTwoFactorRefusal, TwoFactorRule } from './two-factor.rule.js';
import type { PageOptions, RouteOptions } from '../routes/route-options.js';

/** A request with the caller that `identifyCaller` has set. */
export type AuthenticatedRequest = FastifyRequest & { actor?: Actor | undefined; credential?: string };

/**
 * Requires a token or a session on every route that is not marked `@Public()`, and a session on pages. The server has
 * already identified the caller of a request with a body. The guard identifies all other callers, also in requests that
 * OutdatedAccessFilter repeats.
 */
@Injectable()
export class AuthenticateGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
    private readonly twoFactor: TwoFactorRule,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { page, isPublic } = request.routeOptions.config as RouteOptions;
    if (page) return admitToPage(request, this.authenticator, page).then(() => this.admit(request));
    if (request.actor || isPublic) return this.admit(request);
    return identifyCaller(request, this.authenticator).then(() => this.admit(request));
  }

  /**
   * Returns true, or refuses a caller whose sign-in is too weak for the site or too old for the route, or whose token is
   * too restricted for it.
   */
  private admit(request: AuthenticatedRequest): true {
    const options = request.routeOptions.config as RouteOptions;
    const { isPublic = false, page } = options;
    if (isPublic || page?.needsSession === false || !request.actor) return true;
    requireUnrestrictedRoute(request.actor.restriction, request.method, options);
    this.requireTwoFactor(request, request.actor);
    this.requireRecentSignIn(request, request.actor);
    return true;
  }

  private requireTwoFactor(request: AuthenticatedRequest, actor: Actor): void {
    const { admitsOneFactor = false, page } = request.routeOptions.config as RouteOptions;
    if (admitsOneFactor || this.twoFactor.admits(actor)) return;
    throw page ? new SecondFactorRequired() : createTwoFactorRefusal(actor);
  }

  private requireRecentSignIn(request: AuthenticatedRequest, actor: Actor): void {
    const { needsRecentSignIn = false, page } = request.routeOptions.config as RouteOptions;
    if (!needsRecentSignIn || actor.credential !== 'session' || hasRecentSignIn(actor, this.clock.now())) return;
    throw page ? new SignInRequired(getReturnPath(request, page), true) : createRecentSignInRefusal();
  }
}

/**
 * Sets the caller of a request for a page, if the request has a valid session. Throws `SignInRequired` if the page needs
 * one. Tokens do not count. Every change needs the origin of the site, even without a session: otherwise another site
 * could sign a person in to a foreign account.
 */
export const admitToPage = async (
  request: AuthenticatedRequest,
  authenticator: Authenticator,
  { needsSession, reopens }: PageOptions,
): Promise<void> => {
  authenticator.requireOwnOrigin(request, { needsHeader: false });
  const credential = getSessionCredential(request);
  try {
    if (credential !== undefined) await identifyBy(credential, request, authenticator);
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind !== 'unauthorized') throw error;
  }
  if (!needsSession || request.actor) return;
  throw new SignInRequired(getReturnPath(request, { reopens }));
};

const getReturnPath = ({ method, url }: FastifyRequest, { reopens }: Pick<PageOptions, 'reopens'>): string =>
  method === 'GET' || reopens ? url : '/account';

/**
 * Returns the client's address; null if it is unknown, because the connection has ended or a trusted proxy passes on a text
 * that is not an address. The address of the proxy would then be wrong: IP allowlists may contain it.
 */
export const getClientAddress = ({ ip }: { readonly ip: string | undefined }): string | null =>
  ip === undefined || isIPv4(ip) ? (ip ?? null) : formatClientAddress(ip);

/** Sets the caller of the request, or throws `unauthorized`. */
export const identifyCaller = async (request: AuthenticatedRequest, authenticator: Authenticator): Promise<void> => {
  const credential = getCredential(request);
  if (getBearerToken(request) === undefined && credential !== undefined) {
    authenticator.requireOwnOrigin(request, { needsHeader: true });
  }
  await identifyBy(credential, request, authenticator);
};

const identifyBy = async (
  credential: string | undefined,
  request: AuthenticatedRequest,
  authenticator: Authenticator,
): Promise<void> => {
  const { isBackground = false } = request.routeOptions.config as RouteOptions;
  const isUse = !isBackground || getBearerToken(request) !== undefined;
  const identity = await withSpan(
    'authenticate',
    () => ({}),
    () => authenticator.identify(credential, getClientAddress(request) ?? '', isUse),
  );
  requireKindOfRoute(request, identity);
  if (credential !== undefined) request.credential = credential;
  const origin = findImportedOrigin(request.headers);
  request.actor = { ...identity, request: describeRequest(request), host: request.host, ...(origin && { origin }) };
};

/** Refuses tokens for SCIM on other routes, and other tokens on routes of SCIM, like unknown tokens. */
const requireKindOfRoute = (request: FastifyRequest, { kind }: Identity): void => {
  const { isScim = false } = request.routeOptions.config as RouteOptions;
  if ((kind === 'scim') !== isScim) throw createInvalidTokenRefusal();
};

/** User agents contain a name and a version. Longer ones are cut, because they are stored with each event. */
const USER_AGENT_MAX = 512;

/** Returns the fields of a request that an event stores. */
export const describeRequest = (request: FastifyRequest): EventContext['request'] => ({
  id: request.id,
  address: getClientAddress(request),
  userAgent: request.headers['user-agent']?.slice(0, USER_AGENT_MAX) ?? null,
});

/** Injects the person with a session into a parameter of a public page's handler; null without a session. */
export const OptionalActor = createParamDecorator(
  (_: unknown, context: ExecutionContext): Actor | null =>
    context.switchToHttp().getRequest<AuthenticatedRequest>().actor ?? null,
);

/** Injects the caller of the request into a parameter of a handler. */
export const CurrentActor = createParamDecorator((_: unknown, context: ExecutionContext): Actor => {
  const { actor } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (!actor) throw new Error('a public route asked for its caller');
  return actor;
});
