import { describe, expect, it } from 'vitest';
import type { ExecutionContext } from '@nestjs/common';
import { defer, firstValueFrom, of, throwError } from 'rxjs';
import { Database } from '#event-store';
import { StandingClock } from '../../test/support/clocks.js';
import { AccessInterceptor } from './access.interceptor.js';
import { TokenUses } from './authentication-tokens.uses.js';
import { Authenticator } from './authenticator.js';

/** A database that knows one caller, and says each time that it is asked. */
class OneCaller extends Database {
  asked = 0;
  constructor() {
    super({ url: '', connections: 0, applicationName: 'test' });
  }
  override async row<T>(): Promise<T | undefined> {
    this.asked += 1;
    const nothing = { teams: [], memberOf: [], closedTo: [] };
    return { kind: 'user', owner: 'user-1', name: 'ada', organization: null, epoch: this.asked, ...nothing } as T;
  }
}

const outdated = Object.assign(new Error('access has changed'), { code: 'CA401' });

const setUp = () => {
  const database = new OneCaller();
  const request = { id: 'r', ip: '', headers: { authorization: 'Bearer a-secret' }, secret: 'a-secret' };
  const context = { switchToHttp: () => ({ getRequest: () => request }) } as unknown as ExecutionContext;
  const interceptor = new AccessInterceptor(new Authenticator(database, new StandingClock(), new TokenUses(database)));
  /** A request whose first statements fail, this many times. */
  const run = (failures: number, error: Error = outdated): Promise<unknown> => {
    let left = failures;
    const handle = () => defer(() => (left-- > 0 ? throwError(() => error) : of('done')));
    return firstValueFrom(interceptor.intercept(context, { handle }));
  };
  return { database, request, run };
};

describe('a request that finds that access has changed', () => {
  it('is run again with the caller as they are now', async () => {
    const { database, request, run } = setUp();
    expect(await run(2)).toBe('done');
    expect(database.asked).toBe(2);
    expect(request).toMatchObject({ actor: { id: 'user-1', epoch: 2 } });
  });

  it('is put off, not broken, where access never stops changing', async () => {
    const { run } = setUp();
    await expect(run(1_000)).rejects.toMatchObject({ kind: 'unavailable', retryAfter: 1 });
  });

  it('is not run again for any other reason', async () => {
    const { database, run } = setUp();
    await expect(run(1, new Error('something else'))).rejects.toThrow('something else');
    expect(database.asked).toBe(0);
  });
});
