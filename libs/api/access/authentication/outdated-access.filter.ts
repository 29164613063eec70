import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { unavailable, type Refusal } from '#platform/kernel';
import type { AuthenticatedRequest } from './authenticate.guard.js';
import type { Authenticator } from './authenticator.js';
import { isOutdatedAccessError } from '../permissions/access-epochs.queries.js';

/** Number of repetitions of a request because access changed meanwhile. */
const MAX_RETRIES = 20;
const MAX_CONCURRENT_RETRIES = 3;
const PAUSE_MAX_MS = 40;

const createAccessChangingRefusal = (): Refusal => unavailable('Access is being changed. Please try again.', 1);

/**
 * Waits before later repetitions, so that requests that change access at the same time do not block one another for
 * ever.
 */
const pauseBefore = (repeat: number): Promise<void> =>
  repeat <= MAX_CONCURRENT_RETRIES
    ? Promise.resolve()
    : new Promise((resolve) => setTimeout(resolve, Math.random() * PAUSE_MAX_MS));

/**
 * Repeats work that reads its caller itself, while statements find that access has changed since then. For requests
 * without a caller, which OutdatedAccessFilter does not repeat.
 */
export const repeatWhileAccessChanges = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let repeat = 0; repeat <= MAX_RETRIES; repeat += 1) {
    if (repeat > 0) await pauseBefore(repeat);
    try {
      return await work();
    } catch (error) {
      if (!isOutdatedAccessError(error)) throw error;
    }
  }
  throw createAccessChangingRefusal();
};

/**
 * Repeats a request if a statement found that access has changed since the caller was read; the guard then reads the
 * caller again. All other errors are passed on.
 *
 * This is not an interceptor: with any interceptor, Nest sends every response through RxJS, which was a third of the
 * allocations of a simple read (71 KB).
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
    if (!isOutdatedAccessError(error) || request.credential === undefined) {
      this.sendRefusal(error, host);
      return;
    }
    const repeat = (this.repeats.get(request) ?? 0) + 1;
    if (repeat > MAX_RETRIES) {
      this.sendRefusal(createAccessChangingRefusal(), host);
      return;
    }
    this.repeats.set(request, repeat);
    this.authenticator().forget(request.credential);
    request.actor = undefined;
    void this.repeatRequest(request, repeat, host);
  }

  private async repeatRequest(request: AuthenticatedRequest, repeat: number, host: ArgumentsHost): Promise<void> {
    await pauseBefore(repeat);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    // Every repetition adds a listener for the end of the response. Node would report that number as a leak.
    reply.raw.setMaxListeners(Infinity);
    // Nest's handler catches all errors itself, and passes them to this filter again.
    await request.routeOptions.handler.call(request.server, request, reply);
  }
}
