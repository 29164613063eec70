import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Global, Module, Post, type ArgumentsHost } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { Clock, Refusal } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { FixedClock } from '../../../../test/support/clocks.js';
import { OutdatedAccessFilter } from './outdated-access.filter.js';
import { AccessModule } from '../access.module.js';
import type { Actor } from '../callers/actor.js';
import { CurrentActor } from './authenticate.guard.js';
import { Authenticator } from './authenticator.js';

/** A database with one caller, which counts its queries. */
class OneCaller extends Database {
  requestCount = 0;
  constructor() {
    super({ url: '', connections: 0, applicationName: 'test' });
  }
  override async row<T>(): Promise<T | undefined> {
    this.requestCount += 1;
    const nothing = { teams: [], memberOf: [], closedTo: [], allowlists: [], expiredAt: null };
    const identity = { kind: 'user', id: 'user-1', owner: 'user-1', name: 'ada', organization: null, ...nothing };
    return { ...identity, epoch: this.requestCount, token: 'at-1' } as T;
  }
  override async rows<T>(): Promise<T[]> {
    return [];
  }
}

const sendError = (error: Error, host: ArgumentsHost): void => {
  const text = error instanceof Refusal ? error.kind : error.message;
  void host.switchToHttp().getResponse<FastifyReply>().status(500).send({ text });
};

const outdated = Object.assign(new Error('access has changed'), { code: 'CA401' });

let app: NestFastifyApplication;

afterEach(() => app.close());

/** Starts a server whose first `failures` requests fail with the error. */
const setUp = async (failures: number, error: Error = outdated) => {
  let remaining = failures;
  @Controller()
  class Work {
    @Get('work')
    read(@CurrentActor() { id, epoch }: Actor): unknown {
      if (remaining-- > 0) throw error;
      return { id, epoch };
    }
    @Post('work')
    async write(@CurrentActor() { id, epoch }: Actor): Promise<unknown> {
      await Promise.resolve();
      return this.read({ id, epoch } as Actor);
    }
  }
  const database = new OneCaller();
  const clock = new FixedClock();
  @Global()
  @Module({
    imports: [
      AccessModule.with({
        wrongTokens: null,
        requiresTwoFactor: false,
        recoverableDays: 30,
        sessions: { idleMs: 60_000, siteOrigin: 'https://cadastre.test' },
      }),
    ],
    controllers: [Work],
    providers: [
      { provide: Database, useValue: database },
      { provide: Clock, useValue: clock },
    ],
    exports: [Database, Clock],
  })
  class Root {}
  app = await NestFactory.create<NestFastifyApplication>(Root, new FastifyAdapter(), { logger: false });
  app.useGlobalFilters(new OutdatedAccessFilter(() => app.get(Authenticator, { strict: false }), sendError));
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  const run = async (method: 'GET' | 'POST' = 'GET') => {
    const answer = await app.inject({ method, url: '/work', headers: { authorization: 'Bearer a-secret' } });
    return { status: answer.statusCode, body: answer.json<unknown>() };
  };
  return { database, run };
};

describe('a request after a change of access', () => {
  it.each([
    ['GET', 200],
    ['POST', 201],
  ] as const)('is repeated with the current caller: %s', async (method, status) => {
    const { database, run } = await setUp(2);
    expect(await run(method)).toEqual({ status, body: { id: 'user-1', epoch: 3 } });
    expect(database.requestCount).toBe(3);
  });

  it('is refused as unavailable if access keeps changing', async () => {
    const { run } = await setUp(1_000);
    expect(await run()).toEqual({ status: 500, body: { text: 'unavailable' } });
  });

  it('is not repeated after any other error', async () => {
    const { database, run } = await setUp(1, new Error('something else'));
    expect(await run()).toEqual({ status: 500, body: { text: 'something else' } });
    expect(database.requestCount).toBe(1);
  });
});
