import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { unavailable, type Refusal } from '#kernel';
import type { AuthenticatedRequest } from '../authentication/authenticate.guard.js';
import type { Authenticator } from '../authentication/authenticator.js';
import { isOutdatedAccessError } from './access-epochs.queries.js';

/** How often a request is run again because access changed in the meantime. */
const MAX_RETRIES = 20;
const MAX_CONCURRENT_RETRIES = 3;
const PAUSE_MAX_MS = 40;

const createAccessChangingRefusal = (): Refusal => unavailable('Access is being changed. Please try again.', 1);

/** Where many give and take access at the same time, they must not keep one another from it for ever. */
const pauseBefore = (repeat: number): Promise<void> =>
  repeat <= MAX_CONCURRENT_RETRIES
    ? Promise.resolve()
    : new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MAX_MS));

/**
 * Runs a request once more when a statement of it found that access has changed since the caller was read; the guard,
 * which comes first, then reads them anew. All else that goes wrong is told.
 *
 * No interceptor: as soon as there is one, Nest sends every answer through RxJS, which made a third of what a simple read
 * allocates (71 KB).
 */
@Catch()
export class OutdatedAccessFilter implements ExceptionFilter {
  private readonly repeats = new WeakMap<AuthenticatedRequest, number>();

  constructor(
    private readonly authenticator: () => Authenticator,
    private readonly sendRefusal: ExceptionFilter['catch'],
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<AuthenticatedRequest>();
    if (!isOutdatedAccessError(error) || request.secret === undefined) {
      this.sendRefusal(error, host);
      return;
    }
    const repeat = (this.repeats.get(request) ?? 0) + 1;
    if (repeat > MAX_RETRIES) {
      this.sendRefusal(createAccessChangingRefusal(), host);
      return;
    }
    this.repeats.set(request, repeat);
    this.authenticator().forget(request.secret);
    request.actor = undefined;
    void this.repeatRequest(request, repeat, host);
  }

  private async repeatRequest(request: AuthenticatedRequest, repeat: number, host: ArgumentsHost): Promise<void> {
    await pauseBefore(repeat);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    // Every run listens for the end of the answer; Node would take that many for a leak.
    reply.raw.setMaxListeners(Infinity);
    // Nest's handler catches all by itself, and what it catches comes here again.
    await request.routeOptions.handler.call(request.server, request, reply);
  }
}
