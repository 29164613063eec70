import { SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';

/** What the HTTP server must know about a route before it reads the body of a request. */
export type RouteOptions = {
  /** Anyone may call the route, without a token. */
  readonly isPublic?: boolean;
  /**
   * The handler receives the body as a stream: a file of whatever media type, or JSON, which must say that it is. A handler
   * keeps JSON in memory, so that its bytes count in the memory of unfinished bodies.
   */
  readonly rawBody?: 'file' | 'json';
  /** Size of the largest JSON body in bytes, for routes that need more than the server's own limit. */
  readonly bodyLimit?: number;
  /** The route gives or takes access: each caller may use such routes only a few times per second. */
  readonly changesAccess?: boolean;
  /** No rate limit applies: orchestrators call the route, and behind a proxy they may share an address with attackers. */
  readonly isUnlimited?: boolean;
  /** The response says how many requests per second a token may send. */
  readonly announcesRateLimit?: boolean;
};

const ROUTE_OPTIONS = 'cadastre:route-options';

/** Returns the options that decorators have set on a controller's method. */
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

const isPublic = ConfigureRoute({ isPublic: true });

const makeClassPublic = ({ prototype }: { readonly prototype: object }): void => {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name !== 'constructor' && typeof descriptor.value === 'function') isPublic(prototype, name, descriptor);
  }
};

/** Marks a route, or every route of a controller, as callable without a token: discovery, health, signed links. */
export const Public =
  (): MethodDecorator & ClassDecorator =>
  (target: object, name?: string | symbol, descriptor?: PropertyDescriptor): void => {
    if (name !== undefined && descriptor) isPublic(target, name, descriptor);
    else makeClassPublic(target as { readonly prototype: object });
  };
