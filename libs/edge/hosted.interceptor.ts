import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { changesWithout, isObject, withEachResource, type Values } from './resources.js';

const POLICY = 'data-retention-policy';

const MISSING: ReadonlySet<string> = new Set([POLICY]);

/** A policy of the time before this edition was chosen is neither shown, nor told of, nor kept to. */
const withoutPolicy = (resource: Values): Values => {
  const { attributes, relationships } = resource;
  const related = isObject(relationships) && POLICY in relationships;
  const told = isObject(attributes) && 'changes' in attributes;
  return {
    ...resource,
    ...(told && { attributes: { ...attributes, changes: changesWithout(MISSING, attributes['changes']) } }),
    ...(related && { relationships: { ...relationships, [POLICY]: { data: null } } }),
  };
};

/** What documents lack in the hosted edition, whichever endpoint they are of: data retention (contract §4.3). */
@Injectable()
export class HostedInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((document) => withEachResource(document, withoutPolicy)));
  }
}
