import { describe, expect, it } from '@jest/globals';
import { HandlerFailure, toHandlerFailure } from './handler-failure.js';
import { AbortedTransactionError, LostConnectionError } from './transactions.js';

const withState = (code: string): Error => Object.assign(new Error(`SQLSTATE ${code}`), { code });

describe('the failure of a record', () => {
  it.each(['40001', '40P01', '53100', '53200', '53300', '08006', '57P01', '57P03', '25006'])(
    'does not count if Postgres reported %s to the handler',
    (code) => {
      expect(toHandlerFailure(new HandlerFailure(withState(code)))).toBeNull();
      const wrapped = new Error('cannot store the lock', { cause: withState(code) });
      expect(toHandlerFailure(new HandlerFailure(wrapped))).toBeNull();
    },
  );

  it.each(['23505', '22012', '42P01', '55P03', '57014', '25P02', 'ECONNREFUSED'])(
    'counts if the handler throws %s',
    (code) => {
      const failure = new HandlerFailure(withState(code));
      expect(toHandlerFailure(failure)).toBe(failure);
    },
  );

  it('counts if the handler throws something that is not an error', () => {
    expect(toHandlerFailure(new HandlerFailure(undefined))?.message).toBe('undefined');
  });

  it('counts if the handler ignored an error of Postgres', () => {
    const message = expect.stringContaining('the handler ignored the error');
    expect(toHandlerFailure(new AbortedTransactionError())).toMatchObject({ message });
    expect(toHandlerFailure(withState('25P02'))).toMatchObject({ message });
  });

  it('does not count if a statement of this package failed, or the connection broke', () => {
    expect(toHandlerFailure(withState('55P03'))).toBeNull();
    expect(toHandlerFailure(new LostConnectionError('the connection broke'))).toBeNull();
  });
});
