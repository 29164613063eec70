import { SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';

/** A kind of document that a gateway keeps in memory. */
export type DocumentKind = {
  readonly name: string;
  /** Every table that its statement reads, besides those that `requireCurrentAccess` reads. Projections write them. */
  readonly tables: readonly string[];
};

export type PageOptions = {
  readonly needsSession: boolean;
  /** Whether the browser opens the address of a form with GET after a person without a session has signed in. */
  readonly reopens: boolean;
};

/** What a route does, other than its method says: a POST that only reads, or a GET that reads an audit trail. */
export type RouteEffect = 'reads' | 'reads-audit-trail';

/** Options of a route that the HTTP server needs before it reads the body of a request. */
export type RouteOptions = {
  readonly isPublic?: boolean;
  /**
   * Passes the body as a stream: a file of any media type, or JSON, which needs its media type. A handler keeps JSON in
   * memory, so its bytes count as memory of unfinished bodies.
   */
  readonly rawBody?: 'file' | 'json';
  /** Set for pages, which a person reads in a browser. Only sessions authenticate, never tokens. */
  readonly page?: PageOptions;
  /**
   * Whether the body is a form (`application/x-www-form-urlencoded`) of at most 64 KiB. The handler gets an object of
   * strings.
   */
  readonly formBody?: boolean;
  /**
   * Whether the route belongs to SCIM. It accepts bodies of SCIM, and only tokens for SCIM. No other route accepts such
   * tokens.
   */
  readonly isScim?: boolean;
  /** Bytes of the largest JSON body, if the route needs more than the default of the server. */
  readonly bodyLimit?: number;
  /**
   * Whether a session needs a recent sign-in, because the route creates something with which the caller has access after
   * the session has ended. Restricted tokens are refused; other tokens are not affected.
   */
  readonly needsRecentSignIn?: boolean;
  /** What the route does, for tokens with restricted access. By default, GET reads, and other methods change something. */
  readonly effect?: RouteEffect;
  /**
   * Whether the route admits people without a second factor at a site that requires one: it shows the account, or adds a
   * factor.
   */
  readonly admitsOneFactor?: boolean;
  /** Whether the route changes access: each caller may call such routes only a few times per second. */
  readonly changesAccess?: boolean;
  /**
   * Whether no rate limit applies. Orchestrators call the route, and behind a proxy they may share an address with
   * attackers.
   */
  readonly isUnlimited?: boolean;
  /**
   * Whether the server accepts the request under overload too. The route costs little, and clients do not retry it, or an
   * orchestrator would restart the server.
   */
  readonly isEssential?: boolean;
  /**
   * The kind of document that a GET responds with, if a gateway may keep responses in memory. The handler records the
   * scope of each response that may be kept: `recordDocumentScope` of libs/api/document-cache.
   */
  readonly document?: DocumentKind;
  /**
   * Whether the response lasts until the client or the server ends it. Metrics and traces then measure the time until it
   * begins, and it is no request in flight afterwards.
   */
  readonly isEndless?: boolean;
  /**
   * Whether pages send the request again and again without their person. With a session it does not count as a use, so
   * that the session of an absent person ends.
   */
  readonly isBackground?: boolean;
  /**
   * Names of the query parameters `filter[…]` and `search[…]` that a GET accepts, with the index 0 for every index. Others
   * are refused: a list that ignored a filter would have resources that the caller did not ask for.
   */
  readonly filters?: readonly string[];
  /** Whether the response contains the number of requests per second that a token may send. */
  readonly announcesRateLimit?: boolean;
};

const ROUTE_OPTIONS = 'cadastre:route-options';

export const getRouteOptions = (method: object): RouteOptions =>
  (Reflect.getMetadata(ROUTE_OPTIONS, method) as RouteOptions | undefined) ?? {};

/** Sets options of a route. Several decorators on one method add up. */
export const ConfigureRoute =
  (options: RouteOptions): MethodDecorator =>
  (target, name, descriptor) => {
    const merged = { ...getRouteOptions(descriptor.value as object), ...options };
    SetMetadata(ROUTE_OPTIONS, merged)(target, name, descriptor);
    RouteConfig(merged)(target, name, descriptor);
  };

/**
 * Marks a route as a page that needs a session, or with `isPublic` as a page for everyone. Bodies are forms. `reopens`:
 * see PageOptions.
 */
export const Page = ({
  isPublic = false,
  reopens = false,
}: { readonly isPublic?: boolean; readonly reopens?: boolean } = {}): MethodDecorator =>
  ConfigureRoute({ page: { needsSession: !isPublic, reopens }, formBody: true });

const makeRoutePublic = ConfigureRoute({ isPublic: true });

const decorateAll = (decorate: MethodDecorator, { prototype }: { readonly prototype: object }): void => {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name !== 'constructor' && typeof descriptor.value === 'function') decorate(prototype, name, descriptor);
  }
};

/** Sets options of every route of a controller. */
export const ConfigureRoutes =
  (options: RouteOptions): ClassDecorator =>
  (target) =>
    decorateAll(ConfigureRoute(options), target as unknown as { readonly prototype: object });

/** Marks a route, or every route of a controller, as callable without a token: discovery, health, signed links. */
export const Public =
  (): MethodDecorator & ClassDecorator =>
  (target: object, name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (name !== undefined && descriptor) makeRoutePublic(target, name, descriptor);
    else decorateAll(makeRoutePublic, target as { readonly prototype: object });
  };
