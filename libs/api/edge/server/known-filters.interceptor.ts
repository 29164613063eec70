import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import type { RouteOptions } from '#api/access';
import { badRequest } from '#platform/kernel';

const FILTER = /^(?:filter|search)\[/;

/** `filter[tagged][3][key]` is described as `filter[tagged][0][key]`. */
const toIndexZero = (name: string): string => name.replaceAll(/\[\d+\]/g, '[0]');

/** The name is part of the refusal, and a query can be as long as the headers. */
const MAX_QUOTED = 100;

/** Throws 400 for a filter that the route does not accept. */
export const checkFilters = (query: object, accepted: readonly string[]): void => {
  const unknown = Object.keys(query).find((name) => FILTER.test(name) && !accepted.includes(toIndexZero(name)));
  if (unknown === undefined) return;
  const name = unknown.slice(0, MAX_QUOTED);
  const remedy = accepted.length === 0 ? 'no filters are accepted here' : `accepted are ${accepted.join(', ')}`;
  throw badRequest(`${name}: is not supported, ${remedy}`, name);
};

/** Refuses filters that a route does not know. Other unknown parameters are ignored. */
@Injectable()
export class KnownFiltersInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { method, query, routeOptions } = context.switchToHttp().getRequest<FastifyRequest>();
    if (method === 'GET') checkFilters(query as object, (routeOptions.config as RouteOptions).filters ?? []);
    return next.handle();
  }
}
