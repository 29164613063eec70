import { expect } from '@jest/globals';
import { decide, fold, type Decider } from './events/decider.js';
import type { Message } from './events/message.js';
import { Refusal, type RefusalKind } from './errors/refusal.js';

/**
 * Rules told as given / when / yields. It is `yields` and not `then`: an object with `then` is a thenable, and a stray
 * `await` would call it.
 */
export const specify = <S, C extends Message, E extends Message>(decider: Decider<S, C, E>) => {
  const given = (...history: readonly E[]) => {
    const state = fold(decider, decider.initial, history);
    const attempt = (command: C): readonly E[] => decide(decider, command, state);
    return {
      when: (command: C) => ({
        yields: (...events: readonly E[]): void => {
          expect(attempt(command)).toEqual(events);
        },
        /** `pointers`: where the request is wrong, problem by problem. */
        refuses: (kind: RefusalKind, detail: string | RegExp, ...pointers: readonly string[]): void => {
          let thrown: unknown;
          try {
            attempt(command);
          } catch (error) {
            thrown = error;
          }
          expect(thrown).toBeInstanceOf(Refusal);
          const refused = thrown as Refusal;
          expect(refused.kind).toBe(kind);
          expect(refused.message).toMatch(detail);
          if (pointers.length > 0) expect(refused.problems.map(({ pointer }) => pointer)).toEqual(pointers);
        },
      }),
      state,
    };
  };
  return { given };
};
