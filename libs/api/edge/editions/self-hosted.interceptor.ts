import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { removeChanges, isObject, mapResources, type JsonObject } from './resources.js';

/** Health assessments belong to the other editions: this one neither accepts nor returns them. */
const MISSING_ATTRIBUTES: ReadonlySet<string> = new Set(['assessments-enabled', 'assessments-enforced']);

/**
 * Clients check this entitlement before they read the audit trail. This edition has no audit trail.
 */
const AUDIT_ENTITLEMENT = 'audit-logging';

const hideAuditEntitlement = (name: string, value: unknown): unknown => {
  if (name === AUDIT_ENTITLEMENT) return false;
  return name === 'changes' ? removeChanges(MISSING_ATTRIBUTES, value) : value;
};

export const withoutAttributes = (resource: JsonObject): JsonObject => {
  if (!isObject(resource['attributes'])) return resource;
  const attributes = Object.entries(resource['attributes'])
    .filter(([name]) => !MISSING_ATTRIBUTES.has(name))
    .map(([name, value]) => [name, hideAuditEntitlement(name, value)]);
  return { ...resource, attributes: Object.fromEntries(attributes) };
};

const removeAttributes = (document: unknown): unknown => mapResources(document, withoutAttributes);

/** Removes attributes that the self-hosted edition does not have from all documents and requests. */
@Injectable()
export class SelfHostedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.body = removeAttributes(request.body);
    return next.handle().pipe(map(removeAttributes));
  }
}
