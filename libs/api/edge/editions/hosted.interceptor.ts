import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { removeChanges, isObject, mapResources, type JsonObject } from './resources.js';

const POLICY = 'data-retention-policy';

const MISSING_ATTRIBUTES: ReadonlySet<string> = new Set([POLICY]);

/**
 * Removes a data retention policy from a resource. A site may have policies from before it chose this edition; they
 * have no effect.
 */
export const withoutPolicy = (resource: JsonObject): JsonObject => {
  const { attributes, relationships } = resource;
  const related = isObject(relationships) && POLICY in relationships;
  const hasChanges = isObject(attributes) && 'changes' in attributes;
  return {
    ...resource,
    ...(hasChanges && {
      attributes: { ...attributes, changes: removeChanges(MISSING_ATTRIBUTES, attributes['changes']) },
    }),
    ...(related && { relationships: { ...relationships, [POLICY]: { data: null } } }),
  };
};

/** Removes data retention from all documents, which the hosted edition does not have. */
@Injectable()
export class HostedInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((document) => mapResources(document, withoutPolicy)));
  }
}
