import { describe, expect, it } from '@jest/globals';
import { compileStatement, type Sql } from '#platform/kernel';
import type { EventRow } from './log-queries.js';
import { SharedContexts } from './shared-contexts.js';
import { context } from './spec.js';

const REQUEST = '0190f3a0-0000-7000-8000-000000000001';

const createRow = (values: Partial<EventRow>): EventRow => ({
  type: 'LampSeen',
  data: {},
  id: '0190f3a0-0000-7000-8000-000000000002',
  stream: 'lamp-hall',
  version: 1,
  schemaVersion: 1,
  organization: null,
  time: '2026-11-21T12:00:00.000Z',
  transaction: '1',
  position: 1,
  context: null,
  sharedContext: null,
  request: null,
  traceparent: null,
  ...values,
});

const { correlation: _, causation: __, ...shared } = context;

const openContexts = () => {
  const requestedIds: unknown[] = [];
  const contexts = new SharedContexts();
  const complete = (...rows: readonly EventRow[]) =>
    contexts.complete(rows, (statement: Sql) => {
      const [ids] = compileStatement(statement).values as [number[]];
      requestedIds.push(ids);
      return Promise.resolve(ids.filter((id) => id < 10).map((id) => ({ id, context: shared })));
    });
  return { requestedIds, complete };
};

describe('SharedContexts', () => {
  it('adds the request of the event to its shared context', async () => {
    const { complete } = openContexts();
    const [event] = await complete(createRow({ sharedContext: 1, request: REQUEST }));
    expect(event?.context).toEqual({
      ...context,
      correlation: REQUEST,
      request: { ...context.request, id: REQUEST },
    });
    expect(event).not.toHaveProperty('sharedContext');
  });

  it('reads each context once, and none for an event with a context of its own', async () => {
    const { complete, requestedIds } = openContexts();
    const [own] = await complete(createRow({ context }));
    expect(own?.context).toBe(context);
    await complete(
      createRow({ sharedContext: 1, request: REQUEST }),
      createRow({ sharedContext: 2, request: REQUEST }),
    );
    await complete(
      createRow({ sharedContext: 2, request: REQUEST }),
      createRow({ sharedContext: 3, request: REQUEST }),
    );
    expect(requestedIds).toEqual([[1, 2], [3]]);
  });

  it('gives each event a copy, so that a reader may replace texts in it', async () => {
    const { complete } = openContexts();
    const row = createRow({ sharedContext: 1, request: REQUEST });
    const [first, second] = await complete(row, row);
    expect(first?.context.accessor).not.toBe(second?.context.accessor);
    expect(first?.context.request).not.toBe(second?.context.request);
  });

  it('refuses an event whose context is missing', async () => {
    const { complete } = openContexts();
    await expect(complete(createRow({ sharedContext: 99, request: REQUEST }))).rejects.toThrow(
      'the log has no context for the event 0190f3a0-0000-7000-8000-000000000002',
    );
  });
});
