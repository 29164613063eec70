import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';

/** Health assessments belong to the other editions: this one neither accepts nor returns them (contract §2.3). */
const MISSING: ReadonlySet<string> = new Set(['assessments-enabled', 'assessments-enforced']);

type Values = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

const withoutAttributes = (resource: unknown): unknown => {
  if (!isObject(resource) || !isObject(resource['attributes'])) return resource;
  const attributes = Object.entries(resource['attributes']).filter(([name]) => !MISSING.has(name));
  return { ...resource, attributes: Object.fromEntries(attributes) };
};

const ofAll = (resources: unknown): unknown =>
  Array.isArray(resources) ? resources.map(withoutAttributes) : withoutAttributes(resources);

const reduced = (document: unknown): unknown => {
  if (!isObject(document) || !('data' in document)) return document;
  const { data, included } = document;
  return { ...document, data: ofAll(data), ...(included === undefined ? {} : { included: ofAll(included) }) };
};

/** What documents and requests lack in the self-hosted edition, whichever endpoint they are of. */
@Injectable()
export class SelfHostedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.body = reduced(request.body);
    return next.handle().pipe(map(reduced));
  }
}
