import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { catchError, from, switchMap, throwError, type Observable } from 'rxjs';
import { unavailable } from '#kernel';
import { identifyCaller, type AuthenticatedRequest } from './authenticate.guard.js';
import { Authenticator } from './authenticator.js';
import { isOutdated } from './fresh.js';

const REPEATS = 20;
const AT_ONCE = 3;
const PAUSE_MAX_MS = 40;

/** Where many give and take access at the same time, they must not keep one another from it for ever. */
const pauseBefore = (repeat: number): Promise<void> =>
  repeat <= AT_ONCE ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MAX_MS));

/** Runs a request once more when a statement of it found that access has changed since the caller was read. */
@Injectable()
export class AccessInterceptor implements NestInterceptor {
  constructor(private readonly authenticator: Authenticator) {}

  intercept(context: ExecutionContext, next: CallHandler, repeat = 1): Observable<unknown> {
    return next.handle().pipe(
      catchError((error: unknown) => {
        const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
        if (!isOutdated(error) || request.secret === undefined) return throwError(() => error);
        if (repeat > REPEATS) return throwError(() => unavailable('Access is being changed. Please try again.', 1));
        this.authenticator.forget(request.secret);
        const again = pauseBefore(repeat).then(() => identifyCaller(request, this.authenticator));
        return from(again).pipe(switchMap(() => this.intercept(context, next, repeat + 1)));
      }),
    );
  }
}
