import { Body, Controller, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigureRoute } from '#api/access';
import { quiet } from '../../../../test/support/silent-logger.js';
import { createHttpServer } from '../server/http.server.js';

@Controller()
class FormController {
  @Post('form')
  @ConfigureRoute({ formBody: true, isPublic: true })
  receive(@Body() fields: unknown): unknown {
    return { fields };
  }
}

@Module({ controllers: [FormController] })
class FormModule {}

let app: NestFastifyApplication;

beforeAll(async () => {
  app = await createHttpServer(FormModule, { tls: null, logger: { ...quiet, log: quiet.info } });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
});

afterAll(() => app.close());

const FORM = 'application/x-www-form-urlencoded';

const send = async (payload: string, contentType = FORM) => {
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/form',
    headers: { 'content-type': contentType },
    payload,
  });
  const parsed = body === '' ? {} : (JSON.parse(body) as { fields?: unknown; errors?: { detail: string }[] });
  return { status: statusCode, fields: parsed.fields, detail: parsed.errors?.[0]?.detail };
};

describe('a form', () => {
  it('becomes an object of strings', async () => {
    expect(await send('grant_type=code&code=a%20b+c&empty=')).toEqual({
      status: 201,
      fields: { grant_type: 'code', code: 'a b c', empty: '' },
    });
  });

  it('has only own fields, whatever their names are', async () => {
    const { fields } = await send('__proto__=a&constructor=b');
    expect(Object.entries(fields as object)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });

  it('is refused with a field that is repeated', async () => {
    expect(await send('code=a&code=b')).toMatchObject({
      status: 400,
      detail: 'The form contains the field code more than once',
    });
  });

  it('is refused with a NUL character', async () => {
    expect(await send('code=a%00b')).toMatchObject({ status: 400, detail: 'The form contains a NUL character' });
  });

  it('is refused if it is larger than 64 KiB', async () => {
    expect(await send(`code=${'a'.repeat(64 * 1024)}`)).toMatchObject({
      status: 413,
      detail: 'The body is too large. This request accepts at most 64 KiB.',
    });
  });

  it('is refused with another media type', async () => {
    expect(await send('{}', 'application/json')).toMatchObject({
      status: 415,
      detail: `The media type "application/json" is not supported. Send ${FORM}.`,
    });
  });
});
