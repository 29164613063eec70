import { describe, expect, it } from '@jest/globals';
import { createRequestLogger } from './request-logger.js';

describe('the request logger', () => {
  it('writes one JSON line with a fixed message and the fields of the request', () => {
    const lines: string[] = [];
    const fields = {
      requestId: '0190f3a0-1111-4222-8333-444455556666',
      method: 'GET',
      route: '/api/v2/organizations/:organization',
      status: 200,
      caller: 'user-1',
      durationMs: 1.5,
      bytesSent: 300,
    };
    createRequestLogger({ write: (line) => void lines.push(line) }).log(fields);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({ ...fields, level: 30, msg: 'request', time: expect.stringMatching(/Z$/) }),
    ]);
  });
});
