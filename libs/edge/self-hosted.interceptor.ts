import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { changesWithout, isObject, withEachResource, type Values } from './resources.js';

/** Health assessments belong to the other editions: this one neither accepts nor returns them (contract §2.3). */
const MISSING: ReadonlySet<string> = new Set(['assessments-enabled', 'assessments-enforced']);

/** Readers of trails look here whether there is one (clients.md §6): not in this edition (contract §5). */
const TRAIL = 'audit-logging';

const shown = (name: string, value: unknown): unknown => {
  if (name === TRAIL) return false;
  return name === 'changes' ? changesWithout(MISSING, value) : value;
};

const withoutAttributes = (resource: Values): Values => {
  if (!isObject(resource['attributes'])) return resource;
  const attributes = Object.entries(resource['attributes'])
    .filter(([name]) => !MISSING.has(name))
    .map(([name, value]) => [name, shown(name, value)]);
  return { ...resource, attributes: Object.fromEntries(attributes) };
};

const reduced = (document: unknown): unknown => withEachResource(document, withoutAttributes);

/** What documents and requests lack in the self-hosted edition, whichever endpoint they are of. */
@Injectable()
export class SelfHostedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.body = reduced(request.body);
    return next.handle().pipe(map(reduced));
  }
}
