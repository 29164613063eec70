import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, from, switchMap, throwError, type Observable } from 'rxjs';
import { unavailable } from '#kernel';
import { identifyCaller, type AuthenticatedRequest } from './authenticate.guard.js';
import { Authenticator } from './authenticator.js';
import { isOutdated } from './fresh.js';

const REPEATS = 5;

/** Runs a request once more when its first statement found that access has changed since the caller was read. */
@Injectable()
export class AccessInterceptor implements NestInterceptor {
  constructor(private readonly authenticator: Authenticator) {}

  intercept(context: ExecutionContext, next: CallHandler, repeats = REPEATS): Observable<unknown> {
    return next.handle().pipe(
      catchError((error: unknown) => {
        const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
        if (!isOutdated(error) || request.secret === undefined) return throwError(() => error);
        if (repeats === 0) return throwError(() => unavailable('Access is being changed. Please try again.', 1));
        this.authenticator.forget(request.secret);
        return from(identifyCaller(request, this.authenticator)).pipe(
          switchMap(() => this.intercept(context, next, repeats - 1)),
        );
      }),
    );
  }
}
