import { Controller, Get, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Public } from '#api/access';
import { createLogger, NestLoggerAdapter } from '#platform/host';
import type { ErrorFormat } from '#api/json-api';
import { notFound } from '#platform/kernel';
import { createHttpServer } from './http.server.js';

/** Errors are texts in an object, and their status is 418 unless they are faults. */
const tea: ErrorFormat = {
  prefix: '/tea/',
  mediaType: 'application/tea+json',
  render: ({ status, detail, refused }) => ({ status: refused ? 418 : status, body: { sorry: detail } }),
};

@Controller('tea')
@Public()
class TeaController {
  @Get('fault')
  fail(): never {
    throw new Error('a secret reason');
  }

  @Get('refusal')
  refuse(): never {
    throw notFound('No tea');
  }
}

@Module({ controllers: [TeaController] })
class TeaModule {}

let app: NestFastifyApplication;
let url: string;

beforeAll(async () => {
  const logger = new NestLoggerAdapter(createLogger('silent'));
  app = await createHttpServer(TeaModule, { tls: null, logger, errorFormats: [tea] });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});

afterAll(() => app.close());

const read = async (path: string): Promise<readonly [number, string | null, unknown]> => {
  const response = await fetch(`${url}${path}`);
  return [response.status, response.headers.get('content-type'), await response.json()];
};

it.each([
  ['a refusal', '/tea/refusal', 418, 'No tea'],
  ['an unknown address', '/tea/unknown', 418, 'Not found'],
  ['a broken address', '/tea/%zz', 418, 'The address is not well-formed'],
  ['a fault', '/tea/fault', 500, expect.stringMatching(/^Something went wrong on our side. Request id: [\w-]{36}$/)],
])('sends %s in the format of the address', async (_, path, status, sorry) => {
  expect(await read(path)).toEqual([status, expect.stringMatching(/^application\/tea\+json/), { sorry }]);
});

it('sends errors at other addresses as JSON:API', async () => {
  const [status, type, body] = await read('/coffee');
  expect([status, type, body]).toEqual([
    404,
    expect.stringMatching(/^application\/vnd\.api\+json/),
    { errors: [{ status: '404', title: 'not found', detail: 'Not found' }] },
  ]);
});
