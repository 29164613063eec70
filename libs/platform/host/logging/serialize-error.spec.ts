import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { serializeError } from './serialize-error.js';

/** Nothing listens on this port. `localhost` can have two addresses, and the error then has no message. */
const refuse = (host: string): Promise<Error> =>
  new Promise((resolve) => void connect({ host, port: 1 }).once('error', resolve));

describe('an error in a log line', () => {
  it.each(['127.0.0.1', 'localhost'])('has no stack trace if no server listens at %s', async (host) => {
    expect(serializeError(await refuse(host))).toEqual({
      type: expect.any(String),
      message: expect.stringContaining('ECONNREFUSED'),
      code: 'ECONNREFUSED',
    });
  });

  it('has no stack trace if its cause is an outage, and contains both messages', () => {
    const cause = Object.assign(new Error('the database system is starting up'), { code: '57P03' });
    expect(serializeError(new Error('the events were not read', { cause }))).toEqual({
      type: 'Error',
      message: 'the events were not read: the database system is starting up',
      code: '57P03',
    });
  });

  it('has no stack trace if a new broker is not ready, unless kafkajs cannot retry', () => {
    const answer = (retriable: boolean) =>
      Object.assign(new Error('There is no leader for this partition'), { name: 'KafkaJSProtocolError', retriable });
    expect(serializeError(answer(true))).not.toHaveProperty('stack');
    expect(serializeError(answer(false))).toHaveProperty('stack');
  });

  it('has the stack trace of a fault of the program', () => {
    expect(serializeError(new TypeError('x is not a function'))).toMatchObject({
      type: 'TypeError',
      message: 'x is not a function',
      stack: expect.stringContaining('serialize-error.spec'),
    });
  });
});
