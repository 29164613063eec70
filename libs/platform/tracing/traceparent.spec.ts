import { describe, expect, it } from '@jest/globals';
import { formatTraceparent, parseTraceparent } from './traceparent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is parsed and formatted', () => {
    const position = { traceId: TRACE, spanId: SPAN, traceFlags: 1 };
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual(position);
    expect(formatTraceparent(position)).toBe(`00-${TRACE}-${SPAN}-01`);
    expect(formatTraceparent({ ...position, traceFlags: 0 })).toBe(`00-${TRACE}-${SPAN}-00`);
  });

  it('keeps only the flag for recorded traces', () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-03`)?.traceFlags).toBe(1);
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)?.traceFlags).toBe(0);
  });

  it('may have more fields in later versions', () => {
    expect(parseTraceparent(`01-${TRACE}-${SPAN}-01-more`)?.traceId).toBe(TRACE);
  });

  it.each([
    undefined,
    '',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\r\n`,
  ])('is ignored if it is %j', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});
