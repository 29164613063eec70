import { setTimeout as delay } from 'node:timers/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Readiness } from '#api/edge';

/**
 * Fails /readyz at once and still serves requests for `delayMs`, in which load balancers take this process out of
 * rotation. Then refuses new connections, and resolves when all requests have their responses.
 */
export const stopServing = async (app: NestFastifyApplication, delayMs: number): Promise<void> => {
  app.get(Readiness, { strict: false }).startStopping();
  if (delayMs > 0) await delay(delayMs);
  await app.close();
};
