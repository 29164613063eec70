import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { removeChanges, isObject, mapResources, type JsonObject } from './resources.js';

const POLICY = 'data-retention-policy';

const MISSING_ATTRIBUTES: ReadonlySet<string> = new Set([POLICY]);

/** A policy of the time before this edition was chosen is neither shown, nor told of, nor kept to. */
const withoutPolicy = (resource: JsonObject): JsonObject => {
  const { attributes, relationships } = resource;
  const related = isObject(relationships) && POLICY in relationships;
  const told = isObject(attributes) && 'changes' in attributes;
  return {
    ...resource,
    ...(told && { attributes: { ...attributes, changes: removeChanges(MISSING_ATTRIBUTES, attributes['changes']) } }),
    ...(related && { relationships: { ...relationships, [POLICY]: { data: null } } }),
  };
};

/** What documents lack in the hosted edition, whichever endpoint they are of: data retention (contract §4.3). */
@Injectable()
export class HostedInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((document) => mapResources(document, withoutPolicy)));
  }
}
